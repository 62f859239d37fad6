//! What holds for any event, any spelling, any byte.

mod arbitrary;
mod changes;
mod spelling;

use std::num::NonZeroUsize;

use proofmark_schema::agentsessions::{message, v1};
use proofmark_schema::canonical::{self, MessageType};
use proofmark_schema::chain::{self, Check, Expectations, Record, Report, Verdict};
use proofmark_schema::{journal, json};
use proptest::prelude::*;
use prost_reflect::{DynamicMessage, SerializeOptions};

fn event_type() -> MessageType {
    MessageType::named("Event").expect("a message")
}

fn verify(text: &[u8]) -> Report {
    journal::verify(text, Expectations::default(), NonZeroUsize::MIN, &mut |_| {}).expect("memory can be read")
}

/// The second opinion: descriptors by `prost-reflect`, printing by `serde_json_canonicalizer`.
fn oracle(event: &DynamicMessage) -> String {
    let options = SerializeOptions::new().use_proto_field_name(true).stringify_64_bit_integers(true);
    let value = event.serialize_with_options(serde_json::value::Serializer, &options).expect("an event has a value");
    serde_json_canonicalizer::to_string(&value).expect("a value has a canonical form")
}

fn records(events: Vec<v1::Event>) -> Vec<u8> {
    let mut prev = String::new();
    let mut text = Vec::new();
    for (seq, event) in (1..).zip(events) {
        let record = chain::seal(seq, &prev, 1, event).expect("the event has a canonical form");
        prev.clone_from(&record.content_hash);
        let record = canonical::to_dynamic("LogRecord", &record).expect("a record");
        text.extend(chain::line(&record).expect("the record has a spelling"));
        text.push(b'\n');
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Printing is what somebody else's printer gives, reading it gives the event back, and printing that changes nothing.
    #[test]
    fn any_event_survives_printing_and_reading(event in arbitrary::event()) {
        let dynamic = canonical::to_dynamic("Event", &event).expect("an event");
        let printed = canonical::canonical(&dynamic).expect("the event has a canonical form");
        let text = std::str::from_utf8(&printed).expect("JSON is UTF-8");
        prop_assert_eq!(text, oracle(&dynamic));
        prop_assert_eq!(&event_type().canonical(&printed).expect("canonical JSON is proto3-JSON"), &printed);
        let reread = DynamicMessage::deserialize(message("Event").expect("a message"), &mut serde_json::Deserializer::from_str(text));
        prop_assert_eq!(reread.expect("canonical JSON is proto3-JSON").transcode_to::<v1::Event>().expect("an event"), event);
    }

    /// However a record is legally spelled, its hash is the same.
    #[test]
    fn any_spelling_has_the_same_hash(event in arbitrary::event(), seed in any::<u64>()) {
        let record = canonical::to_dynamic("LogRecord", &chain::seal(1, "", 1, event).expect("a form")).expect("a record");
        let line = String::from_utf8(chain::line(&record).expect("a spelling")).expect("JSON is UTF-8");
        let respelled = spelling::respell(&line, seed);
        let read = Record::read(respelled.as_bytes(), &mut Vec::new());
        prop_assert_eq!(read.map(|record| record.check), Ok(Check::Holds), "{}", respelled);
    }

    #[test]
    fn any_journal_of_sealed_events_has_a_chain_that_holds(events in prop::collection::vec(arbitrary::event(), 1..6)) {
        let count = events.len() as u64;
        let report = verify(&records(events));
        prop_assert_eq!((report.records, report.recomputed, report.session_count), (count, count, 1));
        let about_the_chain = ["record", "known", "gap", "order", "first-link", "link", "content-hash", "canonical-form"];
        prop_assert!(report.findings.iter().all(|finding| !about_the_chain.contains(&finding.rule.name())), "{:?}", report.findings);
    }

    /// The strict reader takes nothing that `serde_json` refuses, reads it the same, and refuses only what it says it refuses.
    #[test]
    fn the_reader_agrees_with_another_reader(text in spelling::nearly_json()) {
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        match (json::value(text.as_bytes()), theirs) {
            (Ok(ours), theirs) => prop_assert_eq!(ours, theirs.expect("both take it")),
            (Err(error), Ok(_)) => {
                prop_assert!(matches!(error.problem, json::Problem::Duplicate(_) | json::Problem::TooDeep(_) | json::Problem::NumberRange(_)), "{}", error);
            }
            (Err(_), Err(_)) => {}
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = json::value(&bytes);
        let _ = event_type().canonical(&bytes);
        let _ = chain::spec_digest(&bytes);
        let _ = Record::read(&bytes, &mut Vec::new());
        prop_assert_ne!(verify(&bytes).verdict, Verdict::Held);
    }

    /// Closer to home: a good line with some bytes replaced, removed, doubled or moved.
    #[test]
    fn any_damaged_record_is_read_without_a_panic(events in prop::collection::vec(arbitrary::event(), 1..3), damage in spelling::damage()) {
        let text = records(events);
        let damaged = damage.iter().fold(text, |text, step| step.apply(text));
        for line in damaged.split(|byte| *byte == b'\n') {
            let _ = Record::read(line, &mut Vec::new());
        }
        verify(&damaged);
    }
}
