//! `proofmark journal` as people run it: exit codes, and the exact message for every journal of `fixtures/journals`.
//!
//! The messages stand beside the journals; `PROOFMARK_BLESS=1 cargo test -p proofmark --test journal` writes them.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    file: String,
    args: Vec<String>,
    exit: i32,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/journals")
}

fn cases() -> Vec<Case> {
    serde_json::from_slice(&fs::read(folder().join("cases.json")).unwrap()).unwrap()
}

/// Runs the program in the folder of the journals, so that paths in messages are the same everywhere.
fn proofmark(args: &[&str], input: Option<&[u8]>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proofmark"));
    command.current_dir(folder()).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let written = stdin.write_all(input.unwrap_or_default());
    assert!(written.is_ok() || input.is_none());
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn verify(case: &Case, more: &[&str]) -> Output {
    let args = case.args.iter().map(String::as_str);
    let args: Vec<&str> = ["journal", "verify", &case.file].into_iter().chain(args).chain(more.iter().copied()).collect();
    proofmark(&args, None)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn every_journal_has_its_exit_code_and_its_message() {
    let bless = std::env::var_os("PROOFMARK_BLESS").is_some_and(|value| !value.is_empty());
    let mut wrong = Vec::new();
    for case in cases() {
        let output = verify(&case, &[]);
        assert_eq!(output.status.code(), Some(case.exit), "{}: {}", case.file, text(&output.stdout));
        assert_eq!(text(&output.stderr), "", "{}", case.file);
        let golden = folder().join(&case.file).with_extension("txt");
        if bless {
            fs::write(&golden, &output.stdout).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        if text(&output.stdout) != expected {
            wrong.push(format!("{}\n--- expected\n{expected}--- got\n{}", golden.display(), text(&output.stdout)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A journal that is no longer made, or a message whose journal is gone, would be believed to be tested.
#[test]
fn every_file_belongs_to_a_case() {
    let known: BTreeSet<PathBuf> = cases().iter().map(|case| PathBuf::from(&case.file).with_extension("")).collect();
    for entry in ["held", "broken", "warned", "unverifiable", "not-a-journal", "parents"] {
        for file in fs::read_dir(folder().join(entry)).unwrap() {
            let path = Path::new(entry).join(file.unwrap().file_name()).with_extension("");
            assert!(known.contains(&path), "{}", path.display());
        }
    }
}

#[test]
fn json_is_what_its_schema_says() {
    for case in cases() {
        let output = verify(&case, &["--format", "json"]);
        assert_eq!(output.status.code(), Some(case.exit));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let violations = proofmark_schema::validate::check("journal-report.schema.json", &document).unwrap();
        assert!(violations.is_empty(), "{}: {violations:?}", case.file);
        let verdict = ["held", "broken", "not-a-journal", "unverifiable"][usize::try_from(case.exit).unwrap()];
        assert_eq!((&document["verdict"], &document["journal"]), (&verdict.into(), &case.file.as_str().into()));
    }
}

#[test]
fn standard_input_is_a_journal_too() {
    let journal = fs::read(folder().join("broken/gap.jsonl")).unwrap();
    let output = proofmark(&["journal", "verify", "-"], Some(&journal));
    assert_eq!(output.status.code(), Some(1));
    let expected = fs::read_to_string(folder().join("broken/gap.txt")).unwrap();
    assert_eq!(text(&output.stdout), expected.replace("broken/gap.jsonl", "standard input"));
}

#[test]
fn what_cannot_be_read_or_asked_is_usage() {
    for (args, message) in [
        (vec!["verify", "no-such-file.jsonl"], "error: no-such-file.jsonl cannot be read: "),
        (vec!["verify", "held"], "error: held cannot be read: "),
        (vec!["verify", "held/fork.jsonl", "--parent", "no-such-file.jsonl"], "error: no-such-file.jsonl cannot be read: "),
        (vec!["verify", "held/one-turn.jsonl", "--last-seq=-1"], "error: --last-seq -1: a last_seq counts records and is not negative"),
        (vec!["verify", "held/one-turn.jsonl", "--last-seq", "many"], "error: invalid value 'many'"),
        (vec!["digest", "held/one-turn.jsonl"], "error: held/one-turn.jsonl is no harness spec: more text follows the value at $, byte "),
        (vec!["digest", "cases.json"], "error: cases.json is no harness spec: an object was expected, an array found at $"),
        (vec!["digest", "no-such-file.json"], "error: no-such-file.json cannot be read: "),
    ] {
        let output = proofmark(&[&["journal"], args.as_slice()].concat(), None);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(text(&output.stdout), "", "{args:?}");
        assert!(text(&output.stderr).starts_with(message), "{}", text(&output.stderr));
    }
}

#[test]
fn specs_have_their_published_digests() {
    let digests: std::collections::BTreeMap<String, String> =
        serde_json::from_slice(&fs::read(folder().join("specs/digests.json")).unwrap()).unwrap();
    assert_eq!(digests.len(), 10);
    for (name, digest) in digests {
        let output = proofmark(&["journal", "digest", &format!("specs/{name}.json")], None);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), format!("{digest}\n").as_str()), "{name}");
    }
    let output = proofmark(&["journal", "digest", "-"], Some(br#"{"remote":{"address":"127.0.0.1:9000"},"descriptor":"x"}"#));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("error: standard input is no harness spec: the field \"descriptor\" is not known at $\n"));
}

/// The checked-in journals are what the script beside them writes, wherever there is a Python to run it.
#[test]
fn the_script_writes_the_same_journals_again() {
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("journals");
    let _ = fs::remove_dir_all(&fresh);
    let run = Command::new("python3").arg("-B").arg(folder().join("generate.py")).arg(&fresh).output();
    let Ok(output) = run else {
        eprintln!("skipped: there is no python3");
        return;
    };
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut files: Vec<PathBuf> = cases().iter().map(|case| case.file.clone().into()).collect();
    files.extend(["cases.json".into(), "specs/digests.json".into()]);
    for file in files {
        assert!(fs::read(folder().join(&file)).unwrap() == fs::read(fresh.join(&file)).unwrap(), "{}", file.display());
    }
}
