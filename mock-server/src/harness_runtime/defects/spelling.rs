//! Answers whose spelling is wrong while the state is right.

use super::{DefectKind::Wire, Entry, defect, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::model::event;
use crate::harness_runtime::problem::{Code, Problem};
use crate::harness_runtime::wire::{Answer, Asked, Frame};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(Wire, "stream-as-plain-text", "A stream is answered as text/plain.", &["HR-IDEM-39", "HR-STREAM-1"]),
        install: |blueprint, applied| {
            answer(blueprint, applied, |_, answer| {
                let stream = answer.headers.iter().any(|(_, value)| value == "text/event-stream");
                if stream {
                    answer.set_header("content-type", "text/plain");
                }
                stream
            });
        },
    },
    Entry {
        defect: defect(Wire, "stream-cacheable", "A stream does not say that it must not be cached.", &["HR-STREAM-9"]),
        install: |blueprint, applied| {
            answer(blueprint, applied, |_, answer| {
                let before = answer.headers.len();
                answer.headers.retain(|(name, _)| name != "cache-control");
                answer.headers.len() < before
            });
        },
    },
    Entry {
        defect: defect(
            Wire,
            "last-frame-torn",
            "The terminal frame lacks its empty line, so that no reader dispatches it.",
            &["HR-STREAM-3"],
        ),
        install: |blueprint, applied| {
            frame(blueprint, applied, |frame, bytes| event::is_terminal(&frame.kind) && bytes.pop().is_some());
        },
    },
    Entry {
        defect: defect(
            Wire,
            "frame-cut-in-two",
            "A frame of provider.event or artifact.created is split into two by an empty line after its first field.",
            &["HR-STREAM-5"],
        ),
        install: |blueprint, applied| {
            frame(blueprint, applied, |frame, bytes| {
                let torn = [event::PROVIDER_EVENT, event::ARTIFACT_CREATED].contains(&frame.kind.as_str());
                if torn {
                    let half = String::from_utf8_lossy(bytes).replacen(",\"", ",\n\n\"", 1);
                    *bytes = half.into_bytes();
                }
                torn
            });
        },
    },
    Entry {
        defect: defect(Wire, "frames-named-message", "The event field of every frame is \"message\".", &["HR-STREAM-6"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.wire.frame, applied, |reference, applied| {
                Arc::new(move |wire, frame| {
                    applied.count();
                    reference(wire, &Frame { kind: "message".to_owned(), ..frame.clone() })
                })
            });
        },
    },
    Entry {
        defect: defect(Wire, "frame-ids-from-zero", "The id field of a frame counts from zero.", &["HR-STREAM-7"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.wire.frame, applied, |reference, applied| {
                Arc::new(move |wire, frame| {
                    applied.count();
                    reference(wire, &Frame { sequence: frame.sequence.saturating_sub(1), ..frame.clone() })
                })
            });
        },
    },
    Entry {
        defect: defect(Wire, "problem-without-message", "A problem has a code and nothing to read.", &["HR-ERR-1"]),
        install: |blueprint, applied| {
            problem(blueprint, applied, |_, _, body| body.as_object_mut().is_some_and(|members| members.remove("message").is_some()));
        },
    },
    Entry {
        defect: defect(
            Wire,
            "unsupported-is-400",
            "An unsupported capability is answered with 400.",
            &["HR-ERR-2", "HR-PREF-1", "HR-PREF-2"],
        ),
        install: |blueprint, applied| {
            problem(blueprint, applied, |problem, status, _| {
                let unsupported = problem.code == Code::CapabilityUnsupported;
                if unsupported {
                    *status = 400;
                }
                unsupported
            });
        },
    },
    Entry {
        defect: defect(Wire, "conflict-by-another-code", "A conflict of keys has the code CONFLICT.", &["HR-IDEM-3", "HR-IDEM-40"]),
        install: |blueprint, applied| {
            problem(blueprint, applied, |problem, _, body| {
                let conflict = problem.code == Code::IdempotencyConflict;
                if conflict {
                    body["code"] = json!("CONFLICT");
                }
                conflict
            });
        },
    },
    Entry {
        defect: defect(Wire, "credentials-echoed", "Answers repeat the headers of the request, credentials included.", &["HR-ERR-17"]),
        install: |blueprint, applied| {
            answer(blueprint, applied, |asked, answer| {
                let secrets: Vec<_> =
                    asked.headers.iter().filter(|(name, _)| ["auth", "key", "cookie"].iter().any(|part| name.contains(part))).collect();
                for (name, value) in &secrets {
                    answer.set_header(&format!("x-request-{name}"), value);
                }
                !secrets.is_empty()
            });
        },
    },
];

/// Changes answers before they are sent; `change` says whether it did.
fn answer(blueprint: &mut Blueprint, applied: &Applied, change: fn(&Asked, &mut Answer) -> bool) {
    wrap(&mut blueprint.wire.answer, applied, |reference, applied| {
        Arc::new(move |asked, answer| {
            let mut answer = reference(asked, answer);
            applied.count_if(change(asked, &mut answer));
            answer
        })
    });
}

/// Changes the bytes of frames; `change` says whether it did.
fn frame(blueprint: &mut Blueprint, applied: &Applied, change: fn(&Frame, &mut Vec<u8>) -> bool) {
    wrap(&mut blueprint.wire.frame, applied, |reference, applied| {
        Arc::new(move |wire, frame| {
            let mut bytes = reference(wire, frame);
            applied.count_if(change(frame, &mut bytes));
            bytes
        })
    });
}

/// Changes status and body of problems; `change` says whether it did.
fn problem(blueprint: &mut Blueprint, applied: &Applied, change: fn(&Problem, &mut u16, &mut Value) -> bool) {
    wrap(&mut blueprint.wire.problem, applied, |reference, applied| {
        Arc::new(move |problem| {
            let (mut status, mut body) = reference(problem);
            applied.count_if(change(problem, &mut status, &mut body));
            (status, body)
        })
    });
}
