//! Other answers to what the texts leave open.

use super::{Entry, weather, wrap};
use crate::model_runtime::machine::Step;
use crate::model_runtime::problem::{Code, Fault, Problem};
use crate::model_runtime::wire::Document;
use std::sync::Arc;
use std::time::Duration;

pub(super) static WEATHERS: &[Entry] = &[
    Entry {
        weather: weather("gaps", "Sequence numbers rise, and leave some out."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.events.sequence, applied, |_reference, applied| {
                Arc::new(move |log, of_all| {
                    let Some(last) = log.last() else { return 1 };
                    let step = 1 + of_all % 3;
                    applied.count_if(step > 1);
                    last.sequence + step
                })
            });
        },
    },
    Entry {
        weather: weather("replay-accepted", "A replay is answered with 202, like the first request."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.wire.answer, applied, |reference, applied| {
                Arc::new(move |asked, answer| {
                    let mut answer = reference(asked, answer);
                    let json = answer.headers.iter().any(|(name, value)| name == "content-type" && value.contains("json"));
                    let submits = asked.method == "POST" && asked.path.ends_with("/v1/executions");
                    if applied.count_if(json && submits && answer.status == 200) {
                        answer.status = 202;
                    }
                    answer
                })
            });
        },
    },
    Entry {
        weather: weather("conflict-409", "A key that was used with another request is answered with 409."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.wire.problem, applied, |reference, applied| {
                Arc::new(move |problem| {
                    let (status, body) = reference(problem);
                    let conflicts = applied.count_if(*problem == Problem::Conflict);
                    (if conflicts { 409 } else { status }, body)
                })
            });
        },
    },
    Entry {
        weather: weather("refused-at-once", "What no model can serve is refused with 422, and there is no execution."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.submit, applied, |reference, applied| {
                Arc::new(move |situation, submission| {
                    let step = reference(situation, submission);
                    let rules = &situation.rules.routing;
                    let new = step.answer.as_ref().is_ok_and(|submitted| !submitted.replay);
                    let nobody = |request| (rules.candidates)(rules, request, situation.providers).is_empty();
                    let nobody = new && submission.request.as_ref().is_ok_and(|request| nobody(request));
                    if applied.count_if(nobody) { Step::unchanged(Err(Problem::Refused(Fault::no_candidate()))) } else { step }
                })
            });
            wrap(&mut blueprint.wire.problem, applied, |reference, _| {
                Arc::new(move |problem| {
                    let (status, body) = reference(problem);
                    (if problem.code() == Some(Code::CapabilityUnavailable) { 422 } else { status }, body)
                })
            });
        },
    },
    Entry {
        weather: weather("cancel-again-accepted", "A cancel of an execution that was cancelled is answered with 202 like the first."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.cancel, applied, |reference, applied| {
                Arc::new(move |situation, execution_id| {
                    let mut step = reference(situation, execution_id);
                    let cancelled = situation
                        .store
                        .execution(execution_id)
                        .is_some_and(|execution| execution.status == crate::model_runtime::model::Status::Cancelled);
                    step.answer |= applied.count_if(!step.answer && cancelled);
                    step
                })
            });
        },
    },
    Entry {
        weather: weather("few-at-once", "Only eight executions may be active."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.admission.most_active, applied, |_reference, applied| {
                Arc::new(move || {
                    applied.count();
                    8
                })
            });
        },
    },
    Entry {
        weather: weather("slow-start", "An execution stays accepted for some milliseconds before it is routed."),
        install: |blueprint, applied| {
            let dice = Arc::clone(&blueprint.dice);
            wrap(&mut blueprint.seams.route, applied, |_reference, applied| {
                Arc::new(move || {
                    applied.count();
                    Some(Duration::from_millis(5 + dice.below(20)))
                })
            });
        },
    },
    Entry {
        weather: weather("empty-artifacts", "A snapshot without artifacts has an empty list of them."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.wire.document, applied, |reference, applied| {
                Arc::new(move |kind, document| {
                    let mut document = reference(kind, document);
                    if kind == Document::Snapshot && document.get("artifacts").is_none() {
                        applied.count();
                        document["artifacts"] = serde_json::json!([]);
                    }
                    document
                })
            });
        },
    },
];
