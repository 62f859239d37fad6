//! Rules that a defect breaks only when the clock has it so: which of two reads came first, which branch of a race won. They may break
//! besides the set that the catalogue states, and need not.

/// By defect.
const BY_TIMING: &[(&str, &[&str])] = &[
    // A kill loses whatever happened in the second before it, and how much that is depends on how long the steps took.
    (
        "answers-before-commit",
        &[
            "HR-ART-8",
            "HR-DURA-2",
            "HR-DURA-3",
            "HR-DURA-4",
            "HR-DURA-5",
            "HR-DURA-6",
            "HR-DURA-7",
            "HR-DURA-8",
            "HR-DURA-9",
            "HR-DURA-10",
            "HR-DURA-11",
            "HR-EVENT-8",
            "HR-EVENT-9",
            "HR-EVENT-10",
            "HR-EXEC-18",
            "HR-REPLAY-3",
            "MR-DUR-2",
            "MR-DUR-3",
            "MR-DUR-6",
            "MR-DUR-7",
            "MR-DUR-8",
            "MR-DUR-9",
            "MR-DUR-10",
            "MR-EVENT-34",
            "MR-EVENT-36",
            "MR-EXEC-16",
            "MR-EXEC-17",
            "MR-STREAM-7",
        ],
    ),
    // Two answers that meet may both be accepted. Whether the second is still recorded before the run has ended, or after it, and whether
    // a third meets the mark, is a matter of how long the provider works.
    ("answer-recorded-then-marked", &["HR-ACTION-37", "HR-EVENT-10", "HR-EXEC-18"]),
    // Two cancels that meet run two cleanups. The later one is forgotten only if the earlier one has ended before.
    ("cancel-checked-then-begun", &["HR-EVENT-9"]),
    // A second end may also be written after a reader was told the first, or meet the run's own.
    ("cancel-checked-then-written", &["MR-CANCEL-19", "MR-EVENT-35", "MR-EXEC-17"]),
    // Two ends are written one after the other. Whether anybody reads the record between them is chance.
    ("cleanup-checked-then-ended", &["HR-EXEC-18"]),
    // A stream that comes back skips the terminal event only if the cut came right before it.
    ("cursor-skips-one", &["HR-STREAM-3"]),
    // The cancel that came through is answered with its own end, and so is who reads before the other end is written over it.
    ("end-decided-then-written", &["HR-CANCEL-29"]),
    // An action is announced before it can be answered: whoever answers at once is told that it is unknown, whatever was to be tried.
    (
        "question-seen-before-kept",
        &[
            "HR-ACTION-1",
            "HR-ACTION-14",
            "HR-ACTION-26",
            "HR-ACTION-27",
            "HR-ACTION-28",
            "HR-ACTION-29",
            "HR-ACTION-30",
            "HR-ACTION-31",
            "HR-ACTION-36",
            "HR-ACTION-42",
        ],
    ),
    // Equal requests that meet are refused only while the first one runs.
    ("running-key-is-refused", &["MR-IDEM-34"]),
    // Whether the first run has ended when the second request comes is a matter of time.
    ("succeeded-key-is-free", &["MR-IDEM-34", "MR-IDEM-36"]),
    // What a reader misses is what happened before it came.
    ("stream-without-backlog", &["MR-CURSOR-1", "MR-STREAM-16", "MR-STREAM-23"]),
];

/// What `defect` may break besides its set.
pub fn may_break(defect: &str) -> &'static [&'static str] {
    BY_TIMING.iter().find(|(name, _)| *name == defect).map_or(&[], |(_, ids)| ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::defects;

    #[test]
    fn every_line_speaks_of_a_defect_and_adds_to_its_set() {
        for (name, ids) in BY_TIMING {
            let defect = defects().iter().find(|defect| defect.name == *name).unwrap_or_else(|| panic!("there is no defect {name}"));
            assert!(ids.iter().all(|id| !defect.breaks.contains(id)), "{name} breaks one of these always");
        }
    }
}
