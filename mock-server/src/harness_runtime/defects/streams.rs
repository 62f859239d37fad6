//! Streams that lose events, repeat them, or end at the wrong time.

use super::{
    DefectKind::{Race, Rule},
    Entry, defect, milliseconds, wrap,
};
use crate::harness_runtime::model::event;
use crate::harness_runtime::rules::replay::Reader;
use std::sync::Arc;

/// How many events a reader may be behind where readers have a buffer.
const BUFFER: usize = 64;

/// How many of the newest events come again where the seam repeats.
const REPEATED: u64 = 3;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(Rule, "stream-is-backlog", "A stream ends when it has brought what was there.", &["HR-STREAM-3"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.streaming.ends, applied, |reference, applied| {
                Arc::new(move |progress| {
                    applied.instead_of(&reference(progress), reference(progress) || progress.position >= progress.length)
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "stream-without-backlog",
            "A stream brings only what happens after it was opened.",
            &["HR-REPLAY-3", "HR-STREAM-2", "HR-STREAM-3", "HR-STREAM-11", "HR-STREAM-16"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.streaming.batch, applied, |reference, applied| {
                Arc::new(move |progress, limit| {
                    if progress.live {
                        return reference(progress, limit);
                    }
                    applied.count_if(progress.length > progress.position);
                    progress.length..progress.length
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "stream-outlives-failure", "Only run.completed and run.cancelled end a stream.", &["HR-STREAM-3"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.streaming.ends, applied, |reference, applied| {
                Arc::new(move |progress| {
                    let failed = progress.newest.as_ref().is_some_and(|newest| newest.kind == event::FAILED);
                    applied.instead_of(&reference(progress), reference(progress) && !failed)
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "stream-without-terminal-event",
            "A stream closes when the run ends, before the terminal event is written to it.",
            &["HR-STREAM-3"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.streaming.batch, applied, |reference, applied| {
                Arc::new(move |progress, limit| {
                    let right = reference(progress, limit);
                    let ended = progress.newest.as_ref().is_some_and(|newest| event::is_terminal(&newest.kind));
                    let last = progress.length.saturating_sub(1);
                    let short = ended && right.end == progress.length && right.start <= last;
                    applied.instead_of(&right, if short { right.start..last } else { right.clone() })
                })
            });
            wrap(&mut blueprint.rules.streaming.ends, applied, |reference, _| {
                Arc::new(move |progress| {
                    let ended = progress.newest.as_ref().is_some_and(|newest| event::is_terminal(&newest.kind));
                    reference(progress) || ended && progress.position + 1 >= progress.length
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "readers-have-a-buffer",
            "A reader that is more than 64 events behind loses the oldest.",
            &["HR-REPLAY-3", "HR-STREAM-2", "HR-STREAM-11"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.streaming.batch, applied, |reference, applied| {
                Arc::new(move |progress, limit| {
                    let right = reference(progress, limit);
                    let start = right.start.max(progress.length.saturating_sub(BUFFER));
                    applied.instead_of(&right, start..start.saturating_add(limit).min(progress.length))
                })
            });
        },
    },
    Entry {
        defect: defect(
            Race,
            "seam-loses",
            "What is recorded between the end of the backlog and the subscription is lost.",
            &["HR-REPLAY-3", "HR-STREAM-11"],
        ),
        install: |blueprint, applied| {
            blueprint.seams.live = Arc::new(|_| Some(milliseconds(40)));
            wrap(&mut blueprint.rules.streaming.live_from, applied, |reference, applied| {
                Arc::new(move |progress| {
                    let terminal = progress.newest.as_ref().is_some_and(|newest| event::is_terminal(&newest.kind));
                    // The end itself is found by looking at the state.
                    let head = if terminal { progress.length.saturating_sub(1) } else { progress.length };
                    applied.instead_of(&reference(progress), head.max(progress.position))
                })
            });
        },
    },
    Entry {
        defect: defect(
            Race,
            "seam-repeats-below-cursor",
            "A reader that arrives while the run goes on gets the newest events once more, whatever its cursor.",
            &["HR-REPLAY-3"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.replay.follows, applied, |reference, _| {
                Arc::new(move |reader, after, sequence| {
                    reference(reader, after, sequence) || reader == Reader::Stream && sequence + REPEATED > after
                })
            });
            wrap(&mut blueprint.rules.streaming.batch, applied, |reference, _| {
                Arc::new(move |progress, limit| {
                    let right = reference(progress, limit);
                    let after = usize::try_from(progress.after).unwrap_or(usize::MAX);
                    let start = if progress.live { right.start } else { right.start.max(after).min(progress.length) };
                    start..right.end.max(start)
                })
            });
            wrap(&mut blueprint.rules.streaming.live_from, applied, |reference, applied| {
                Arc::new(move |progress| {
                    let back = usize::try_from(REPEATED).unwrap_or_default();
                    applied.instead_of(&reference(progress), progress.position.saturating_sub(back))
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "leaving-cancels", "A reader that goes away cancels the execution.", &["HR-STREAM-15"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.streaming.leaving_cancels, applied, |_reference, applied| {
                Arc::new(move || {
                    applied.count();
                    true
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "stream-in-bulk",
            "What is new comes when the run has ended, and a stream that has nothing to bring then stays open.",
            &["HR-STREAM-4", "HR-STREAM-12"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.streaming.batch, applied, |reference, applied| {
                Arc::new(move |progress, limit| {
                    let right = reference(progress, limit);
                    let kept_back = progress.live && !progress.ended;
                    applied.instead_of(&right, if kept_back { progress.position..progress.position } else { right.clone() })
                })
            });
            wrap(&mut blueprint.rules.streaming.ends, applied, |reference, _| {
                Arc::new(move |progress| {
                    let length = u64::try_from(progress.length).unwrap_or(u64::MAX);
                    reference(progress) && progress.after < length
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "head-with-the-first-event", "The head of a stream is sent with its first event.", &["HR-STREAM-10"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.seams.head, applied, |_reference, applied| {
                Arc::new(move |progress| {
                    let length = u64::try_from(progress.length).unwrap_or(u64::MAX);
                    !applied.count_if(!progress.ended && progress.after >= length)
                })
            });
        },
    },
];
