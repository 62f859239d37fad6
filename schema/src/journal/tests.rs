use super::*;
use crate::chain::Verdict;

const TURN: &str = include_str!("../../../fixtures/journals/held/one-turn.jsonl");

fn run(source: impl Read + Send, threads: usize) -> io::Result<Report> {
    verify(source, Expectations::default(), NonZeroUsize::new(threads).unwrap(), &mut |_| {})
}

/// The same text, for ever.
struct Endless(&'static [u8], usize);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        for byte in buffer.iter_mut() {
            *byte = self.0[self.1 % self.0.len()];
            self.1 += 1;
        }
        Ok(buffer.len())
    }
}

#[test]
fn what_is_no_journal_is_given_up_even_when_it_never_ends() {
    let report = run(Endless(b"GET / HTTP/1.1\r\n", 0), 2).unwrap();
    assert_eq!((report.verdict, report.lines), (Verdict::NotAJournal, 100));
}

#[test]
fn a_source_that_fails_is_an_error_and_no_verdict() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let cut = TURN.as_bytes().chain(Broken);
    assert_eq!(run(cut, 2).unwrap_err().to_string(), "the disk is gone");
}

#[test]
fn batches_come_back_in_order_whoever_was_first() {
    // Many chunks, of sessions that all begin alike.
    let text = TURN.repeat(3_000);
    for threads in [1, 2, 7] {
        let mut bytes = 0;
        let threads = NonZeroUsize::new(threads).unwrap();
        let report = verify(text.as_bytes(), Expectations::default(), threads, &mut |done| bytes += done).unwrap();
        assert_eq!((report.verdict, report.records, report.session_count), (Verdict::Held, 15_000, 3_000));
        assert_eq!(bytes, text.len() as u64);
        assert_eq!(report.sessions.last().map(|session| (session.number, session.first_line)), Some((1_000, 4_996)));
    }
}

#[test]
fn lines_are_counted_with_the_blank_ones() {
    let text = format!("\n\n{}\n  \n{{\"seq\":\"1\"}}\n", TURN.trim_end());
    let report = run(text.as_bytes(), 1).unwrap();
    assert_eq!((report.lines, report.records), (9, 5));
    assert_eq!(report.first_broken.map(|first| first.line), Some(9));
}
