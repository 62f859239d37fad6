//! Streams that lose events, repeat them, end at the wrong time, or are spelled wrongly.

use super::{Entry, milliseconds, race, rule, spelling, wrap};
use crate::model_runtime::model::event;
use crate::model_runtime::wire::Frame;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) static DEFECTS: &[Entry] = &[
    rule("stream-is-backlog", "A stream ends when it has brought what was there.", &["MR-STREAM-7", "MR-STREAM-13"], |b, a| {
        wrap(&mut b.rules.streaming.ends, a, |reference, applied| {
            Arc::new(move |progress| applied.instead_of(&reference(progress), reference(progress) || progress.position >= progress.length))
        });
    }),
    rule(
        "stream-without-backlog",
        "A stream brings only what happens after it was opened.",
        &["MR-STREAM-7", "MR-STREAM-9", "MR-STREAM-13"],
        |b, a| {
            wrap(&mut b.rules.streaming.batch, a, |reference, applied| {
                Arc::new(move |progress, limit| {
                    if progress.live {
                        return reference(progress, limit);
                    }
                    applied.count_if(progress.length > progress.position);
                    progress.length..progress.length
                })
            });
        },
    ),
    race(
        "seam-loses",
        "What is recorded between the end of the backlog and the subscription is lost to the reader.",
        &["MR-CURSOR-1", "MR-STREAM-13", "MR-STREAM-16", "MR-STREAM-23"],
        |b, a| {
            // It takes one reader longer than the next.
            let readers = AtomicU64::new(0);
            b.seams.live = Arc::new(move |_| Some(milliseconds(40 + 60 * (readers.fetch_add(1, Ordering::Relaxed) % 2))));
            wrap(&mut b.rules.streaming.live_from, a, |reference, applied| {
                Arc::new(move |progress| {
                    let ended = progress.newest.as_ref().is_some_and(|newest| event::is_terminal(&newest.kind));
                    // The end itself is found by looking at the status.
                    let head = progress.length - usize::from(ended);
                    applied.instead_of(&reference(progress), head.max(progress.position))
                })
            });
        },
    ),
    rule("stream-outlives-failure", "Only execution.completed ends a stream.", &["MR-STREAM-7"], |b, a| {
        wrap(&mut b.rules.streaming.ends, a, |reference, applied| {
            Arc::new(move |progress| {
                let failed = progress.newest.as_ref().is_some_and(|newest| newest.kind == event::FAILED);
                applied.instead_of(&reference(progress), reference(progress) && !failed)
            })
        });
    }),
    rule(
        "stream-without-terminal-event",
        "A stream closes when the execution ends, before the terminal event is written to it.",
        &["MR-STREAM-7"],
        |b, a| {
            let last = |progress: &crate::model_runtime::rules::streaming::Progress| {
                let ended = progress.newest.as_ref().is_some_and(|newest| event::is_terminal(&newest.kind));
                progress.length - usize::from(ended)
            };
            wrap(&mut b.rules.streaming.batch, a, |reference, applied| {
                Arc::new(move |progress, limit| {
                    let right = reference(progress, limit);
                    let short = right.start.min(last(progress))..right.end.min(last(progress));
                    applied.instead_of(&right, short)
                })
            });
            wrap(&mut b.rules.streaming.ends, a, |reference, _| {
                Arc::new(move |progress| reference(progress) || last(progress) < progress.length && progress.position >= last(progress))
            });
        },
    ),
    rule("leaving-cancels", "A reader that goes away cancels the execution.", &["MR-STREAM-10", "MR-STREAM-11"], |b, a| {
        wrap(&mut b.rules.streaming.leaving_cancels, a, |_reference, applied| {
            Arc::new(move || {
                applied.count();
                true
            })
        });
    }),
    spelling("frames-named-message", "The event field of every frame is \"message\".", &["MR-STREAM-5"], |b, a| {
        wrap(&mut b.wire.frame, a, |reference, applied| {
            Arc::new(move |wire, frame| {
                applied.count();
                reference(wire, &Frame { kind: "message".to_owned(), ..frame.clone() })
            })
        });
    }),
    spelling("frame-ids-from-zero", "The id field of a frame counts from zero.", &["MR-STREAM-4"], |b, a| {
        wrap(&mut b.wire.frame, a, |reference, applied| {
            Arc::new(move |wire, frame| {
                applied.count();
                reference(wire, &Frame { sequence: frame.sequence.saturating_sub(1), ..frame.clone() })
            })
        });
    }),
    spelling("last-frame-torn", "The terminal frame lacks its empty line, so that no reader dispatches it.", &["MR-STREAM-7"], |b, a| {
        wrap(&mut b.wire.frame, a, |reference, applied| {
            Arc::new(move |wire, frame| {
                let mut bytes = reference(wire, frame);
                if applied.count_if(event::is_terminal(&frame.kind)) {
                    bytes.pop();
                }
                bytes
            })
        });
    }),
    spelling(
        "frame-cut-in-two",
        "A frame of a usage report is split into two by an empty line.",
        &["MR-STREAM-3", "MR-USAGE-12", "MR-USAGE-15"],
        |b, a| {
            wrap(&mut b.wire.frame, a, |reference, applied| {
                Arc::new(move |wire, frame| {
                    let bytes = reference(wire, frame);
                    if applied.count_if(frame.kind == event::USAGE) {
                        return String::from_utf8_lossy(&bytes).replacen(",\"", ",\n\n\"", 1).into_bytes();
                    }
                    bytes
                })
            });
        },
    ),
    rule(
        "late-stream-begins-with-output",
        "A stream that is opened after the first output of a run begins with that.",
        &["MR-CURSOR-1", "MR-STREAM-6"],
        |b, a| {
            wrap(&mut b.rules.streaming.batch, a, |reference, applied| {
                Arc::new(move |progress, limit| {
                    let right = reference(progress, limit);
                    let first = progress.length == 3 && progress.newest.as_ref().is_some_and(|newest| newest.kind == event::DELTA);
                    let late = first && progress.position == 0 && !progress.live;
                    applied.instead_of(&right, if late { 2..right.end } else { right.clone() })
                })
            });
        },
    ),
    spelling(
        "plain-text-unless-asked",
        "Who does not ask for an event stream gets it as plain text, with 203.",
        &["MR-STREAM-1", "MR-STREAM-2"],
        |b, a| {
            wrap(&mut b.wire.answer, a, |reference, applied| {
                Arc::new(move |asked, answer| {
                    let mut answer = reference(asked, answer);
                    let stream =
                        answer.headers.iter().any(|(name, value)| name == "content-type" && value.starts_with("text/event-stream"));
                    if applied.count_if(stream && !asked.header("accept").contains("event-stream")) {
                        answer.status = 203;
                        answer.set_header("content-type", "text/plain; charset=utf-8");
                    }
                    answer
                })
            });
        },
    ),
    spelling("refusal-is-a-stream", "Who asks for a stream gets a refusal as a stream without events.", &["MR-STREAM-14"], |b, a| {
        wrap(&mut b.wire.answer, a, |reference, applied| {
            Arc::new(move |asked, answer| {
                let mut answer = reference(asked, answer);
                if applied.count_if(answer.status == 400 && asked.method == "POST" && asked.header("accept").contains("event-stream")) {
                    answer.status = 200;
                    answer.set_header("content-type", "text/event-stream");
                    answer.body = b": refused\n\n".to_vec();
                }
                answer
            })
        });
    }),
    rule("replay-streams-another", "A replay that asks for a stream gets that of another execution.", &["MR-IDEM-38"], |b, a| {
        wrap(&mut b.rules.streaming.of_submission, a, |reference, applied| {
            Arc::new(move |store, submitted| {
                let own = reference(store, submitted);
                let other = store.executions().find(|other| submitted.replay && other.id != own && other.status.is_terminal());
                let other = other.map_or_else(|| own.clone(), |other| other.id.clone());
                applied.instead_of(&own, other)
            })
        });
    }),
    spelling(
        "delta-goes-to-one-reader",
        "While a run lasts, each delta is written to the reader that comes first.",
        &["MR-CURSOR-1", "MR-STREAM-16"],
        |b, a| {
            wrap(&mut b.wire.frame, a, |reference, applied| {
                let written: Mutex<BTreeSet<(String, u64)>> = Mutex::default();
                // Once a terminal event was written, everyone is told everything.
                let over = u64::MAX;
                Arc::new(move |wire, frame| {
                    let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
                    let id = frame.document["execution_id"].to_string();
                    if event::is_terminal(&frame.kind) {
                        written.insert((id, over));
                    } else if frame.kind == event::DELTA && !written.contains(&(id.clone(), over)) {
                        let first = written.insert((id, frame.sequence));
                        if applied.count_if(!first) {
                            return b": taken\n\n".to_vec();
                        }
                    }
                    reference(wire, frame)
                })
            });
        },
    ),
];
