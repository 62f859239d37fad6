//! How fast a journal is verified: `cargo bench -p proofmark-schema --bench journal [-- RECORDS]`.
//!
//! Makes a journal of 1,000,000 records of mixed kinds once, verifies it with one thread and with all, and prints records a
//! second, the ratio to `sha256sum` over the same file, and what each stage costs. The journal is hashed by
//! `serde_json_canonicalizer`, so that the figures are those of a verifier that agrees with somebody else.
//!
//! Each line has the time on the clock and, on Linux, the processor time of all threads together: on a machine that does
//! other things as well, only the second says what the work costs.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use proofmark_schema::chain::{Expectations, Hash, Record, Verdict};
use proofmark_schema::{canonical::MessageType, journal, json};
use serde_json::{Value, json};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --all-targets` runs this too, and only wants to know that it works.
    let default = if args.iter().any(|arg| arg == "--bench") { 1_000_000 } else { 2_000 };
    let records = args.iter().find_map(|arg| arg.parse().ok()).unwrap_or(default);
    let path = journal_of(records);
    let size = fs::metadata(&path).expect("the journal was written").len();
    println!("{records} records, {} MB, {} bytes a record on average", size / 1_000_000, size / records);

    let cores = journal::all_cores().get();
    let one = best(|| verify(&path, 1, records));
    print_rate("1 thread", &one, records, size);
    let all = best(|| verify(&path, cores, records));
    print_rate(&format!("{cores} threads"), &all, records, size);
    print_stages(&path, records);
    if let Some(sum) = sha256sum(&path) {
        print_rate("sha256sum", &sum, records, size);
        println!("verify / sha256sum: {:.1} on one thread, {:.1} on {cores}", one.clock / sum.clock, all.clock / sum.clock);
        println!("the same in processor time: {:.1} and {:.1}", one.cpu / sum.cpu, all.cpu / sum.cpu);
    }
}

/// Seconds.
#[derive(Clone, Copy)]
struct Cost {
    clock: f64,
    /// Of all threads and children; not a number where that is not known.
    cpu: f64,
}

fn cost(run: impl FnOnce()) -> Cost {
    let (start, before) = (Instant::now(), cpu());
    run();
    Cost { clock: start.elapsed().as_secs_f64(), cpu: cpu() - before }
}

/// Processor seconds of this process and its children so far, from `/proc`.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(4);
    let ticks: Vec<f64> = fields.filter_map(|field| field.parse().ok()).collect();
    if ticks.len() == 4 { ticks.iter().sum::<f64>() / 100.0 } else { f64::NAN }
}

fn best(mut run: impl FnMut() -> Cost) -> Cost {
    let runs = [run(), run(), run()];
    let least = |of: fn(&Cost) -> f64| runs.iter().map(of).fold(f64::INFINITY, f64::min);
    Cost { clock: least(|cost| cost.clock), cpu: least(|cost| cost.cpu) }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn print_rate(name: &str, cost: &Cost, records: u64, size: u64) {
    let (records, size) = (records as f64, size as f64);
    let Cost { clock, cpu } = cost;
    println!(
        "{name:<10} {clock:>7.3} s on the clock: {:>9.0} records/s, {:>5.0} MB/s; {cpu:>6.2} s of processor: {:>9.0} records/s a core",
        records / clock,
        size / clock / 1e6,
        records / cpu,
    );
}

fn verify(path: &Path, threads: usize, records: u64) -> Cost {
    let source = File::open(path).expect("the journal is there");
    let threads = NonZeroUsize::new(threads).expect("at least one");
    cost(|| {
        let report = journal::verify(source, Expectations::default(), threads, &mut |_| {}).expect("the journal can be read");
        assert_eq!((report.verdict, report.recomputed), (Verdict::Held, records), "{:#?}", report.findings);
    })
}

/// One thread, stage by stage: what is left to gain, and where.
fn print_stages(path: &Path, records: u64) {
    let text = fs::read(path).expect("the journal is there");
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let event = MessageType::named("Event").expect("a message");
    let mut scratch = Vec::new();
    let parse = time(&lines, |line| drop(json::parse(line).expect("JSON")));
    let print = time(&lines, |line| {
        let json = json::parse(line).expect("JSON");
        event.canonical_tree(json.get("event").expect("an event")).expect("an event");
    });
    let hash = time(&lines, |line| assert_ne!(Hash::of(line).0, [0; 32]));
    let whole = time(&lines, |line| drop(Record::read(line, &mut scratch).expect("a record")));
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    let each = |seconds: f64| (seconds * 1e9 / records as f64).max(0.0);
    println!(
        "one record takes {:.0} ns: parse {:.0}, canonical form {:.0}, hash {:.0}, the rest {:.0}",
        each(whole),
        each(parse),
        each(print - parse),
        each(hash),
        each(whole - print - hash),
    );
}

/// Seconds of processor, or on the clock where there are no others.
fn time(lines: &[&[u8]], mut run: impl FnMut(&[u8])) -> f64 {
    let best = best(|| {
        cost(|| {
            for line in lines {
                run(line);
            }
        })
    });
    if best.cpu.is_finite() { best.cpu } else { best.clock }
}

fn sha256sum(path: &Path) -> Option<Cost> {
    let run = || cost(|| drop(Command::new("sha256sum").arg(path).output()));
    Command::new("sha256sum").arg(path).output().ok()?; // warms the page cache, and tells whether there is one
    Some(best(run))
}

/// The journal of the bench: sessions of a thousand turns, one after the other.
fn journal_of(records: u64) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{records}.jsonl"));
    if path.exists() {
        return path;
    }
    let partial = path.with_extension("partial");
    let mut out = BufWriter::new(File::create(&partial).expect("the temporary folder is writable"));
    let mut dice = Dice(1);
    let (mut seq, mut prev, mut written) = (0, String::new(), 0);
    while written < records {
        if seq > 10_000 {
            (seq, prev) = (0, String::new());
        }
        for event in turn(&format!("{:016x}", dice.next()), &mut dice) {
            if written == records {
                break;
            }
            seq += 1;
            written += 1;
            let content = json!({ "event": event, "prev_hash": prev, "seq": seq.to_string() });
            let hash = Hash::of(serde_json_canonicalizer::to_string(&content).expect("canonical").as_bytes()).to_string();
            let record = json!({ "seq": seq.to_string(), "prev_hash": prev, "content_hash": hash, "fence": "1", "event": event });
            writeln!(out, "{record}").expect("the temporary folder is writable");
            prev = hash;
        }
    }
    out.flush().expect("the temporary folder is writable");
    fs::rename(&partial, &path).expect("the temporary folder is writable");
    path
}

/// A small generator of numbers that are the same every time.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 16
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// At least so many words, and up to five times as many.
    fn some_text(&mut self, least: u64) -> String {
        let words = least + self.below(4 * least);
        self.text(words)
    }

    fn text(&mut self, words: u64) -> String {
        const WORDS: [&str; 12] =
            ["the", "harness", "runs", "überall", "and \"says\"", "nothing", "<b>", "日本語", "line\nbreak", "session", "of", "proof"];
        (0..words).map(|_| WORDS[usize::try_from(self.below(12)).expect("a small number")]).collect::<Vec<_>>().join(" ")
    }
}

fn turn(id: &str, dice: &mut Dice) -> Vec<Value> {
    let message = |role: &str, text: String| json!({ "role": role, "parts": [{ "text": { "text": text } }] });
    let call = format!("call-{}", dice.below(1 << 30));
    let arguments = json!({ "path": dice.text(2), "limit": dice.below(1000), "ratio": 0.1, "flags": [true, null, { "deep": 1e-7 }] });
    let mut events = vec![
        json!({ "execution_id": id, "kind": "EVENT_EXECUTION_START", "execution_start": { "config": "eyJhIjoxfQo=", "input_count": "1", "harness": "echo", "harness_version": "1" } }),
        json!({ "execution_id": id, "kind": "EVENT_INPUT", "message": message("user", dice.some_text(5)) }),
        json!({ "execution_id": id, "kind": "EVENT_MODEL_CALL", "model": { "model": "m", "input_hash": Hash::of(id.as_bytes()).to_string(), "id": format!("{:016x}", dice.next()) } }),
        json!({ "execution_id": id, "kind": "EVENT_TOOL_CALL", "tool": { "id": call, "tool": "read", "args": arguments, "mediation": "MEDIATION_CONTROLLER_MEDIATED", "idempotency_key": format!("k-{call}") } }),
        json!({ "execution_id": id, "kind": "EVENT_TOOL_RESULT", "result": { "id": call, "output": { "lines": dice.below(5000), "text": dice.text(20) } } }),
        json!({ "execution_id": id, "kind": "EVENT_OUTPUT", "ts": "2026-11-14T22:13:20.120Z", "message": { "role": "assistant", "parts": [
            { "reasoning": { "provider": "p", "model_id": "m", "opaque_bytes": "cg==", "item_id": "rs_1", "ordinal": 1, "validity_scope": id } },
            { "text": { "text": dice.some_text(20) } } ] } }),
        json!({ "execution_id": id, "kind": "EVENT_USAGE", "usage": { "model": "m", "input_tokens": dice.below(9000).to_string(), "output_tokens": (1 + dice.below(900)).to_string() } }),
        json!({ "execution_id": id, "kind": "EVENT_END", "end": { "state": "COMPLETED" } }),
    ];
    if dice.below(8) == 0 {
        events.push(json!({ "kind": "EVENT_LIFECYCLE", "lifecycle": { "kind": "LIFECYCLE_RESUME" } }));
    }
    if let Some(usage) = events[6]["usage"].as_object_mut() {
        usage.retain(|_, value| value != "0");
    }
    events
}
