use prost_reflect::DynamicMessage;

use super::deviant::{explain, fits};
use super::form::Form;
use super::*;
use crate::agentsessions::message;
use crate::json::parse;

const TURN: &str = include_str!("../../../fixtures/journals/held/one-turn.jsonl");
const KINDS: &str = include_str!("../../../fixtures/journals/held/every-kind.jsonl");
const DIGESTS: &str = include_str!("../../../fixtures/journals/specs/digests.json");

fn read(line: &str) -> Record {
    Record::read(line.as_bytes(), &mut Vec::new()).unwrap()
}

/// Verifies records that are made on the spot.
fn verify(records: &[v1::LogRecord]) -> Report {
    let mut verifier = Verifier::new(Expectations::default());
    for (number, record) in (1..).zip(records) {
        let text = line(&canonical::to_dynamic("LogRecord", record).unwrap()).unwrap();
        verifier.record(Entry { line: number, record: &Record::read(&text, &mut Vec::new()).unwrap(), text: &text });
    }
    verifier.finish()
}

fn event(kind: v1::EventKind, execution_id: &str, body: v1::event::Body) -> v1::Event {
    v1::Event { execution_id: execution_id.into(), kind: kind as i32, body: Some(body), ..Default::default() }
}

fn lifecycle(kind: v1::lifecycle::Kind, detail: &str) -> v1::Event {
    let body = v1::Lifecycle { kind: kind as i32, detail: detail.into(), ..Default::default() };
    event(v1::EventKind::EventLifecycle, "", v1::event::Body::Lifecycle(body))
}

/// A session's next record.
fn append(session: &mut Vec<v1::LogRecord>, event: v1::Event) {
    let prev = session.last().map(|record| record.content_hash.clone()).unwrap_or_default();
    let seq = session.last().map_or(1, |record| record.seq + 1);
    session.push(seal(seq, &prev, 1, event).unwrap());
}

#[test]
fn a_sealed_record_is_the_one_that_an_independent_script_wrote() {
    for text in KINDS.lines() {
        let json = serde_json::from_str::<serde_json::Value>(text).unwrap();
        let dynamic = DynamicMessage::deserialize(message("LogRecord").unwrap(), &mut serde_json::Deserializer::from_str(text)).unwrap();
        let record: v1::LogRecord = dynamic.transcode_to().unwrap();
        let sealed = seal(record.seq, &record.prev_hash, record.fence, record.event.clone().unwrap()).unwrap();
        assert_eq!(sealed, record, "{json}");
        assert_eq!(read(std::str::from_utf8(&line(&dynamic).unwrap()).unwrap()), read(text));
    }
}

#[test]
fn a_field_from_a_newer_peer_makes_a_record_unverifiable() {
    // LogRecord.event (5) holding field 99 = 1; LogRecord field 88 = 1.
    for (bytes, place) in [(vec![0x2A, 3, 0x98, 0x06, 1], "$.event"), (vec![0x2A, 0, 0xC0, 0x05, 1], "$")] {
        let record = DynamicMessage::decode(message("LogRecord").unwrap(), bytes.as_slice()).unwrap();
        let text = line(&record).unwrap();
        let Check::Unverifiable(error) = read(std::str::from_utf8(&text).unwrap()).check else {
            panic!("{}", String::from_utf8_lossy(&text))
        };
        assert!(error.to_string().ends_with(&format!("is not known at {place}")), "{error}");
    }
}

#[test]
fn specs_have_their_published_digests() {
    let digests: std::collections::BTreeMap<String, String> = serde_json::from_str(DIGESTS).unwrap();
    assert_eq!(digests.len(), 10);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/journals/specs");
    for (name, digest) in digests {
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        assert_eq!(spec_digest(text.as_bytes()).unwrap(), digest, "{name}");
        let spec = DynamicMessage::deserialize(message("HarnessSpec").unwrap(), &mut serde_json::Deserializer::from_str(&text)).unwrap();
        assert_eq!(spec_digest_of(&spec.transcode_to().unwrap()).unwrap(), digest, "{name}");
    }
    assert!(spec_digest(br#"{"remote":{"address":"a","tls":true}}"#).unwrap_err().reason.is_ignorance());
}

#[test]
fn hashes_are_64_lower_case_hex_digits() {
    let text = "00ff".repeat(16);
    assert_eq!(Hash::parse(&text).unwrap().to_string(), text);
    for wrong in ["", "00", &text.to_uppercase(), &text.replace('f', "g"), &format!("{text}0"), &format!("é{}", &text[2..])] {
        assert_eq!(Hash::parse(wrong), None);
    }
    assert_eq!(Hash::of(b"").to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

/// The slow printer of other forms and the fast canonical one are two, and at the contract's form they agree.
#[test]
fn the_printer_of_deviations_knows_the_canonical_form_too() {
    for text in TURN.lines().chain(KINDS.lines()) {
        assert!(fits(text.as_bytes(), &Form::default()), "{text}");
        assert!(!fits(text.as_bytes(), &Form { spaced: true, ..Form::default() }), "{text}");
        assert_eq!(explain(text.replace("\"content_hash\":\"", "\"content_hash\":\"0").as_bytes(), &Form::default()), None);
    }
}

#[test]
fn every_deviation_is_recognised_alone() {
    let text = KINDS.lines().nth(1).unwrap();
    for form in Form::known().iter().filter(|form| form.size() == 1) {
        let json = parse(text.as_bytes()).unwrap();
        let hash = deviant::hash(&json, form).unwrap();
        let recorded = read(text).content_hash.to_string();
        if hash.to_string() == recorded {
            continue; // the first link of a second record, and the like
        }
        let found = explain(text.replace(&recorded, &hash.to_string()).as_bytes(), &Form::default());
        assert_eq!(found.map(|form| form.names()), Some(form.names()));
    }
}

/// The bound on sessions that are open at once accuses nobody.
#[test]
fn more_interleaved_sessions_than_are_remembered_break_nothing() {
    let mut sessions: Vec<Vec<v1::LogRecord>> = (0..4_200).map(|_| Vec::new()).collect();
    let mut records = Vec::new();
    for round in 0..2 {
        for (number, session) in sessions.iter_mut().enumerate() {
            append(session, lifecycle(v1::lifecycle::Kind::LifecycleResume, &format!("{number} {round}")));
            records.push(session[round].clone());
        }
    }
    let report = verify(&records);
    assert_eq!(report.verdict, Verdict::Unverifiable);
    assert_eq!((report.counts.broken, report.counts.unverifiable, report.session_count), (0, 104, 4_200));
    assert!(
        report
            .findings
            .iter()
            .all(|finding| finding.rule == Rule::Bound && finding.message.contains("continues none of the 4096 sessions"))
    );
    assert_eq!(verify(&records[..4_200]).verdict, Verdict::Held);
}

#[test]
fn findings_are_listed_up_to_a_number_and_counted_beyond() {
    let mut session = Vec::new();
    for _ in 0..3_000 {
        append(&mut session, lifecycle(v1::lifecycle::Kind::LifecycleResume, ""));
    }
    let even: Vec<_> = session.iter().filter(|record| record.seq % 2 == 0).cloned().collect();
    let report = verify(&even);
    assert_eq!((report.counts.broken, report.findings.len(), report.omitted), (1_500, LISTED, 500));
    assert_eq!(report.first_broken, Some(FirstBroken { line: 1, session: Some(1), seq: Some(2) }));
    assert!(report.findings.is_sorted_by_key(|finding| finding.line));
    let mut changed = session.clone();
    for record in changed.iter_mut().skip(1) {
        record.event = Some(lifecycle(v1::lifecycle::Kind::LifecycleSuspend, ""));
    }
    let report = verify(&changed);
    assert_eq!((report.counts.broken, report.recomputed), (2_999, 1));
    assert!(report.findings.len() <= 20 && report.omitted > 2_900);
}

#[test]
fn a_late_first_record_is_told_from_a_new_session() {
    let mut session = Vec::new();
    for detail in ["a", "b", "c"] {
        append(&mut session, lifecycle(v1::lifecycle::Kind::LifecycleResume, detail));
    }
    let swapped = [session[1].clone(), session[0].clone(), session[2].clone()];
    assert_eq!(verify(&swapped).session_count, 1);
    let mut other = Vec::new();
    append(&mut other, lifecycle(v1::lifecycle::Kind::LifecycleResume, "other"));
    let behind_a_cut_one = [session[1].clone(), other[0].clone(), session[2].clone()];
    let report = verify(&behind_a_cut_one);
    assert_eq!((report.session_count, report.counts.broken), (2, 1), "{:#?}", report.findings);
}

/// Children of one fork are the same, marker included, until each has a record of its own.
#[test]
fn twins_are_told_apart_once_they_differ() {
    let mut parent = Vec::new();
    append(&mut parent, lifecycle(v1::lifecycle::Kind::LifecycleResume, "p"));
    append(&mut parent, lifecycle(v1::lifecycle::Kind::LifecycleFork, "parent@1"));
    let child = |own: &str| {
        let mut child = parent.clone();
        append(&mut child, lifecycle(v1::lifecycle::Kind::LifecycleResume, own));
        append(&mut child, lifecycle(v1::lifecycle::Kind::LifecycleResume, "more"));
        child
    };
    let (one, two, three) = (child("1"), child("2"), child("3"));
    let prefixes = [&one[..2], &two[..2], &three[..2]].concat();
    for rest in [[&one, &two, &three], [&three, &one, &two]] {
        let round = |index: usize| rest.map(|child| child[index].clone());
        let report = verify(&[prefixes.as_slice(), &round(2), &round(3)].concat());
        assert_eq!((report.verdict, report.session_count), (Verdict::Held, 3), "{:#?}", report.findings);
        assert!(report.sessions.iter().all(|session| session.records == 4));
    }
}

/// A line beyond the kit's bounds may be right: what links to it is not wrong, whichever session it belongs to.
#[test]
fn a_line_beyond_the_kit_breaks_nothing_that_follows() {
    let session = |name: &str| {
        let mut session = Vec::new();
        for number in 0..5 {
            append(&mut session, lifecycle(v1::lifecycle::Kind::LifecycleResume, &format!("{name}{number}")));
        }
        session
    };
    let (a, b) = (session("a"), session("b"));
    let too_long = crate::canonical::CanonicalError::new(crate::canonical::Reason::TooLong(1), Vec::new());
    let judge = |records: &[&v1::LogRecord], unread_at: usize| {
        let mut verifier = Verifier::new(Expectations::default());
        for (number, record) in (1..).zip(records) {
            if number == unread_at {
                verifier.unread(number as u64, &too_long);
                continue;
            }
            let text = line(&canonical::to_dynamic("LogRecord", *record).unwrap()).unwrap();
            verifier.record(Entry { line: number as u64, record: &Record::read(&text, &mut Vec::new()).unwrap(), text: &text });
        }
        verifier.finish()
    };
    let interleaved: Vec<&v1::LogRecord> = a.iter().zip(&b).flat_map(|(a, b)| [a, b]).collect();
    let sequential: Vec<&v1::LogRecord> = a.iter().chain(&b).collect();
    for journal in [&interleaved, &sequential] {
        for unread_at in 3..=10 {
            let report = judge(journal, unread_at);
            assert_eq!((report.verdict, report.counts.broken), (Verdict::Unverifiable, 0), "{unread_at}: {:#?}", report.findings);
        }
    }
    // A line explains its successor and no more.
    let faulty = [&a[0], &a[1], &a[2], &a[4], &b[2], &b[4]];
    assert_eq!(judge(&faulty, 2).counts.broken, 2);
}
