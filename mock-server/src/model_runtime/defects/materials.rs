//! Texts, results and artifacts that are added up wrongly.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::model::{Event, event};
use crate::model_runtime::rules::materialise::{Made, of_kind, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

type Texts = Vec<(u64, String)>;

pub(super) static DEFECTS: &[Entry] = &[
    rule("texts-by-arrival", "Outputs are listed in the order in which they began.", &["MR-MAT-4"], |b, a| {
        texts(b, a, |log, right| {
            let mut order: Vec<u64> = Vec::new();
            for index in of_kind(log, event::DELTA).filter_map(|event| event.data.get("output_index").and_then(Value::as_u64)) {
                if !order.contains(&index) {
                    order.push(index);
                }
            }
            order.iter().filter_map(|index| right.iter().find(|(other, _)| other == index).cloned()).collect()
        });
    }),
    rule("texts-by-spelling", "Outputs are listed by the text of their index.", &["MR-MAT-4"], |b, a| {
        texts(b, a, |_, right| {
            let mut listed = right.clone();
            listed.sort_by_key(|(index, _)| index.to_string());
            listed
        });
    }),
    rule("line-ends-unified", "Line ends become those of one system in the result.", &["MR-MAT-20"], |b, a| {
        texts(b, a, |_, right| right.iter().map(|(index, text)| (*index, text.replace("\r\n", "\n"))).collect());
    }),
    rule("indices-closed-up", "Outputs are numbered anew, without the gaps.", &["MR-MAT-2", "MR-MAT-5", "MR-MAT-20"], |b, a| {
        texts(b, a, |_, right| right.iter().zip(0..).map(|((_, text), index)| (index, text.clone())).collect());
    }),
    rule("one-text-for-all", "All deltas belong to one output.", &["MR-MAT-2", "MR-MAT-5", "MR-MAT-20"], |b, a| {
        texts(b, a, |log, right| {
            let whole: String = of_kind(log, event::DELTA).map(|event| text(&event.data, "delta")).collect();
            if right.is_empty() { Vec::new() } else { vec![(0, whole)] }
        });
    }),
    rule("deltas-trimmed", "Blanks around deltas are lost.", &["MR-MAT-1", "MR-MAT-2", "MR-MAT-20", "MR-MAT-21"], |b, a| {
        texts(b, a, |log, _| {
            let mut folded: BTreeMap<u64, String> = BTreeMap::new();
            for event in of_kind(log, event::DELTA) {
                let index = event.data.get("output_index").and_then(Value::as_u64).unwrap_or_default();
                folded.entry(index).or_default().push_str(text(&event.data, "delta").trim());
            }
            folded.into_iter().collect()
        });
    }),
    rule("last-delta-wins", "The text of an output is its last delta.", &["MR-MAT-1", "MR-MAT-2", "MR-MAT-20", "MR-MAT-21"], |b, a| {
        texts(b, a, |log, _| {
            let last = of_kind(log, event::DELTA).map(|event| {
                (event.data.get("output_index").and_then(Value::as_u64).unwrap_or_default(), text(&event.data, "delta").to_owned())
            });
            last.collect::<BTreeMap<u64, String>>().into_iter().collect()
        });
    }),
    rule("only-ascii", "Text beyond ASCII becomes question marks in the result.", &["MR-MAT-21", "MR-MAT-20"], |b, a| {
        texts(b, a, |_, right| {
            let plain = |text: &str| text.chars().map(|char| if char.is_ascii() { char } else { '?' }).collect();
            right.iter().map(|(index, text)| (*index, plain(text))).collect()
        });
    }),
    rule("empty-outputs-dropped", "An output whose text is empty is left out.", &["MR-MAT-18"], |b, a| {
        texts(b, a, |_, right| right.iter().filter(|(_, text)| !text.is_empty()).cloned().collect());
    }),
    rule("empty-lists-dropped", "A result has no list of tool calls when there are none.", &["MR-MAT-22"], |b, a| {
        made(b, a, |_, made| {
            if let Some(result) = made.result.as_mut().filter(|result| result["tool_calls"] == json!([])) {
                super::remove(result, "tool_calls");
            }
        });
    }),
    rule("first-result-wins", "Of several results the first one counts.", &["MR-MAT-15", "MR-ART-6", "MR-ART-7"], |b, a| {
        made(b, a, |log, made| {
            if let Some(first) = of_kind(log, event::RESULT).next() {
                made.result = first.data.get("result").cloned();
                made.artifacts = first.data.get("artifacts").and_then(Value::as_array).cloned();
            }
        });
    }),
    rule("text-beside-result", "A result of the provider is put beside the text.", &["MR-MAT-15", "MR-MAT-16"], |b, a| {
        made(b, a, |log, made| {
            let said: String = of_kind(log, event::DELTA).map(|event| text(&event.data, "delta")).collect();
            if of_kind(log, event::RESULT).next().is_some() && !said.is_empty() {
                made.result = Some(json!({ "text": said, "result": made.result }));
            }
        });
    }),
    rule("result-wrapped", "A result of the provider is wrapped in an object.", &["MR-MAT-13", "MR-MAT-15", "MR-MAT-16"], |b, a| {
        made(b, a, |log, made| {
            if of_kind(log, event::RESULT).next().is_some() {
                made.result = Some(json!({ "value": made.result }));
            }
        });
    }),
    rule("null-is-no-result", "A result that is null counts as none.", &["MR-MAT-16"], |b, a| {
        made(b, a, |_, made| {
            made.result.take_if(|result| result.is_null());
        });
    }),
    rule("artifacts-pile-up", "The artifacts of all results are listed.", &["MR-ART-6", "MR-ART-7"], |b, a| {
        made(b, a, |log, made| {
            let all: Vec<Value> = of_kind(log, event::RESULT)
                .filter_map(|event| event.data.get("artifacts").and_then(Value::as_array))
                .flatten()
                .cloned()
                .collect();
            if !all.is_empty() {
                made.artifacts = Some(all);
            }
        });
    }),
    rule("artifacts-stay", "A result without artifacts leaves those of an earlier one.", &["MR-ART-7"], |b, a| {
        made(b, a, |log, made| {
            let lists: Vec<_> =
                of_kind(log, event::RESULT).filter_map(|event| event.data.get("artifacts").and_then(Value::as_array)).collect();
            if made.artifacts.is_none() {
                made.artifacts = lists.last().map(|list| (*list).clone());
            }
        });
    }),
    rule("artifacts-not-listed", "Artifacts are in the events only.", &["MR-ART-1", "MR-ART-5"], |b, a| {
        made(b, a, |_, made| made.artifacts = None);
    }),
    rule("artifacts-are-uris", "Of an artifact only the uri is kept.", &["MR-ART-4"], |b, a| {
        made(b, a, |_, made| {
            for artifact in made.artifacts.iter_mut().flatten() {
                *artifact = json!({ "uri": artifact["uri"] });
            }
        });
    }),
    rule("snapshot-without-artifacts", "Artifacts are in the result only.", &["MR-ART-5", "MR-RESULT-18"], |b, a| {
        wrap(&mut b.rules.views.snapshot, a, |reference, applied| {
            Arc::new(move |views, outcome, shown| {
                let mut document = reference(views, outcome, shown);
                applied.count_if(super::remove(&mut document, "artifacts"));
                document
            })
        });
    }),
    rule(
        "arguments-are-values",
        "Arguments that are JSON are listed as values.",
        &["MR-MAT-6", "MR-MAT-7", "MR-MAT-8", "MR-MAT-20"],
        |b, a| {
            arguments(b, a, |value| value);
        },
    ),
    rule("arguments-rewritten", "Arguments that are JSON are listed as JSON of another spelling.", &["MR-MAT-20"], |b, a| {
        arguments(b, a, |value| Value::String(value.to_string()));
    }),
    rule(
        "text-outlives-result",
        "A result of the provider does not count where there is text.",
        &["MR-MAT-14", "MR-MAT-15", "MR-MAT-16"],
        |b, a| {
            wrap(&mut b.rules.materialise.made, a, |reference, applied| {
                Arc::new(move |rules, log| {
                    let right = reference(rules, log);
                    let without: Vec<Arc<Event>> = log.iter().filter(|event| event.kind != event::RESULT).cloned().collect();
                    let said = of_kind(log, event::DELTA).next().is_some();
                    let result = if said { reference(rules, &without).result } else { right.result.clone() };
                    applied.instead_of(&right, Made { result, ..right.clone() })
                })
            });
        },
    ),
    rule("calls-replace-text", "Where there are tool calls there is no text.", &["MR-MAT-19", "MR-MAT-20"], |b, a| {
        made(b, a, |_, made| {
            let calls = made.result.as_ref().is_some_and(|result| result["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty()));
            if let Some(result) = made.result.as_mut().filter(|_| calls) {
                result["outputs"] = json!([]);
            }
        });
    }),
];

/// Adds texts up differently, given what the reference comes to.
fn texts(blueprint: &mut Blueprint, applied: &Applied, fold: fn(&[Arc<Event>], &Texts) -> Texts) {
    wrap(&mut blueprint.rules.materialise.texts, applied, |reference, applied| {
        Arc::new(move |log| {
            let right = reference(log);
            let other = fold(log, &right);
            applied.instead_of(&right, other)
        })
    });
}

/// Lists arguments that are JSON otherwise, given what they say.
fn arguments(blueprint: &mut Blueprint, applied: &Applied, change: fn(Value) -> Value) {
    wrap(&mut blueprint.rules.materialise.made, applied, |reference, applied| {
        Arc::new(move |rules, log| {
            let right = reference(rules, log);
            let mut changed = right.clone();
            let calls = changed.result.as_mut().and_then(|result| result.get_mut("tool_calls")?.as_array_mut()).into_iter().flatten();
            for call in calls {
                if let Ok(value) = serde_json::from_str::<Value>(call["arguments"].as_str().unwrap_or_default()) {
                    call["arguments"] = change(value);
                }
            }
            applied.instead_of(&right, changed)
        })
    });
}

fn made(blueprint: &mut Blueprint, applied: &Applied, change: fn(&[Arc<Event>], &mut Made)) {
    wrap(&mut blueprint.rules.materialise.made, applied, |reference, applied| {
        Arc::new(move |rules, log| {
            let right = reference(rules, log);
            let mut changed = right.clone();
            change(log, &mut changed);
            applied.instead_of(&right, changed)
        })
    });
}
