//! The report of a journal for people.

use proofmark_schema::chain::{Finding, Report, SessionReport, Verdict, Weight};
use std::fmt::Write as _;

/// Sessions and notes that are shown one by one.
const SHOWN: usize = 20;
/// Findings that are shown one by one.
const FINDINGS: usize = 100;

/// Verdict, sessions, findings.
pub(super) fn render(name: &str, report: &Report) -> String {
    let mut text = String::new();
    head(name, report, &mut text);
    sessions(report, &mut text);
    findings(report, &mut text);
    text
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    text.write_fmt(line).and_then(|()| text.write_char('\n')).expect("writing to a string");
}

fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn head(name: &str, report: &Report, text: &mut String) {
    let verdict = match report.verdict {
        Verdict::Held => "held",
        Verdict::Broken => "broken",
        Verdict::NotAJournal => "not a journal",
        Verdict::Unverifiable => "not all of it can be judged",
    };
    line(text, format_args!("{name}: {verdict}"));
    if report.records == 0 {
        return line(text, format_args!("{}, no record among them", count(report.lines, "line")));
    }
    let sessions = count(report.session_count as u64, "session");
    let recomputed = match report.recomputed {
        all if all == report.records => "every hash recomputed".to_owned(),
        some => format!("{some} of {} hashes recomputed", report.records),
    };
    let unread = match report.unread {
        0 => String::new(),
        some => format!("; {} could not be read", count(some, "line")),
    };
    line(text, format_args!("{} in {sessions}, {recomputed}{unread}", count(report.records, "record")));
    if let Some(first) = report.first_broken {
        let session = first.session.map(|number| format!(", session {number}")).unwrap_or_default();
        let seq = first.seq.map(|seq| format!(", seq {seq}")).unwrap_or_default();
        line(text, format_args!("the first that does not hold: line {}{session}{seq}", first.line));
    }
}

fn sessions(report: &Report, text: &mut String) {
    if report.sessions.is_empty() {
        return;
    }
    text.push('\n');
    for session in report.sessions.iter().take(SHOWN) {
        line(text, format_args!("{}", one_session(session)));
        for fork in report.forks.iter().filter(|fork| fork.child == session.number).take(SHOWN) {
            let parent = match fork.parent {
                Some(parent) => format!("session {parent} has the same record"),
                None => "no other session here has that record".to_owned(),
            };
            line(text, format_args!("  line {}: forked at seq {}; {parent}", fork.line, fork.at_seq));
        }
    }
    if report.session_count > SHOWN {
        line(text, format_args!("and {} more sessions", report.session_count - SHOWN));
    }
}

fn one_session(session: &SessionReport) -> String {
    let SessionReport { number, first_line, last_line, first_seq, last_seq, .. } = session;
    let head = session.head.as_deref().unwrap_or("(no hash)");
    format!("session {number}: lines {first_line} to {last_line}, seq {first_seq} to {last_seq}, head {head}")
}

fn findings(report: &Report, text: &mut String) {
    let mut shown = 0;
    let mut notes = 0;
    for finding in &report.findings {
        notes += usize::from(finding.weight == Weight::Note);
        if shown < FINDINGS && (finding.weight != Weight::Note || notes <= SHOWN) {
            text.push('\n');
            one_finding(finding, text);
            shown += 1;
        }
    }
    let more = report.findings.len() as u64 - shown as u64 + report.omitted;
    if more > 0 {
        line(text, format_args!("\nand {} more", count(more, "finding")));
    }
    let counts = report.counts;
    let kinds = [
        (counts.broken, "broken"),
        (counts.unverifiable, "that cannot be judged"),
        (counts.warnings, "warned of"),
        (counts.notes, "noted"),
    ];
    let totals: Vec<String> = kinds.iter().filter(|(number, _)| *number > 0).map(|(number, kind)| format!("{number} {kind}")).collect();
    if !totals.is_empty() {
        line(text, format_args!("\n{}", totals.join(", ")));
    }
}

fn one_finding(finding: &Finding, text: &mut String) {
    let weight = match finding.weight {
        Weight::Broken => "broken",
        Weight::Unverifiable => "unverifiable",
        Weight::Warning => "warning",
        Weight::Note => "note",
    };
    let session = finding.session.map(|number| format!(", session {number}")).unwrap_or_default();
    let seq = finding.seq.map(|seq| format!(", seq {seq}")).unwrap_or_default();
    line(text, format_args!("line {}{session}{seq}: {weight} {}", finding.line, finding.rule.name()));
    line(text, format_args!("  {}", finding.message));
    let width = finding.details.iter().map(|detail| detail.name.len()).max().unwrap_or_default();
    for detail in &finding.details {
        line(text, format_args!("  {:width$}  {}", detail.name, detail.value));
    }
}
