//! The journals of `fixtures/journals`: what an independent script says of each is what the verifier finds.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use proofmark_schema::chain::{self, Expectations, Report, Verdict, Weight};
use proofmark_schema::journal;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    file: String,
    args: Vec<String>,
    exit: u8,
    /// The rule that decides, and the line where it does.
    rule: Option<String>,
    line: Option<u64>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/journals")
}

fn cases() -> Vec<Case> {
    serde_json::from_slice(&fs::read(folder().join("cases.json")).unwrap()).unwrap()
}

fn expectations(args: &[String]) -> Expectations {
    let mut expectations = Expectations::default();
    for pair in args.chunks(2) {
        match pair[0].as_str() {
            "--last-seq" => expectations.last_seq = pair[1].split(',').map(|seq| seq.parse().unwrap()).collect(),
            "--parent" => {
                let path = folder().join(&pair[1]);
                expectations.parent = Some(Box::new(move || {
                    let lines = BufReader::new(File::open(&path).unwrap()).split(b'\n');
                    chain::parent(lines.map(Result::unwrap))
                }));
            }
            other => panic!("{other}"),
        }
    }
    expectations
}

fn verify(case: &Case, threads: usize) -> Report {
    let source = File::open(folder().join(&case.file)).unwrap();
    journal::verify(source, expectations(&case.args), NonZeroUsize::new(threads).unwrap(), &mut |_| {}).unwrap()
}

#[test]
fn every_journal_gets_the_verdict_of_its_author() {
    let cases = cases();
    assert!(cases.len() > 140);
    let mut wrong = Vec::new();
    for case in &cases {
        let report = verify(case, 2);
        let exit = match report.verdict {
            Verdict::Held => 0,
            Verdict::Broken => 1,
            Verdict::NotAJournal => 2,
            Verdict::Unverifiable => 3,
        };
        let deciding = report.findings.iter().find(|finding| finding.weight != Weight::Note);
        let found = deciding.map(|finding| (finding.rule.name().to_owned(), finding.line));
        let expected = case.rule.clone().zip(case.line);
        if exit != case.exit || found != expected {
            wrong.push(format!(
                "{}: expected {} {expected:?}, got {exit} {:#?}",
                case.file,
                case.exit,
                report
                    .findings
                    .iter()
                    .map(|f| format!("{:?} {} line {} seq {:?}: {}", f.weight, f.rule.name(), f.line, f.seq, f.message))
                    .collect::<Vec<_>>()
            ));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn threads_change_nothing() {
    for case in cases() {
        assert_eq!(verify(&case, 1), verify(&case, 3), "{}", case.file);
    }
}
