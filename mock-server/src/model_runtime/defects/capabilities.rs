//! Requirements that are not looked at, or looked at wrongly, and orders of providers.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::json::object;
use crate::model_runtime::Blueprint;
use crate::model_runtime::machine::{Change, event as recorded};
use crate::model_runtime::model::{Execution, Feature, Model, Request, Status, Target, event};
use crate::model_runtime::problem::{Code, Fault};
use crate::model_runtime::rules::routing::Routing;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule("ability-ignored", "Whether a model has the ability is not looked at.", &["MR-ROUTE-4"], |b, a| {
        able(b, a, |_, _| true);
    }),
    rule("ability-ignores-case", "Abilities are compared without regard to case.", &["MR-ROUTE-17"], |b, a| {
        able(b, a, |model, ability| model.abilities.iter().any(|name| name.eq_ignore_ascii_case(ability)));
    }),
    rule("ability-by-its-beginning", "The beginning of an ability is enough.", &["MR-ROUTE-17"], |b, a| {
        able(b, a, |model, ability| model.abilities.iter().any(|name| name.starts_with(ability)));
    }),
    rule("ability-with-anything-behind", "An ability may be followed by anything.", &["MR-ROUTE-17"], |b, a| {
        able(b, a, |model, ability| model.abilities.iter().any(|name| ability.starts_with(name)));
    }),
    rule("first-part-routes", "Only the type of the first part is a required modality.", &["MR-ROUTE-6"], |b, a| {
        modalities(b, a, |request, right| {
            let first = request.input.first().and_then(|part| part.get("type").and_then(Value::as_str));
            right.retain(|name| Some(name.as_str()) == first || request.requirements.input_modalities.contains(name));
        });
    }),
    rule(
        "parts-do-not-route",
        "Only the input modalities that are declared are required.",
        &["MR-ROUTE-5", "MR-ROUTE-6", "MR-ROUTE-7", "MR-ROUTE-18"],
        |b, a| modalities(b, a, |request, right| right.retain(|name| request.requirements.input_modalities.contains(name))),
    ),
    rule("declared-modalities-win", "Where input modalities are declared, those of the parts do not count.", &["MR-ROUTE-7"], |b, a| {
        modalities(b, a, |request, right| {
            let declared = &request.requirements.input_modalities;
            right.retain(|name| declared.is_empty() || declared.contains(name));
        });
    }),
    rule("declared-modalities-ignored", "Input modalities that are declared do not count.", &["MR-ROUTE-1", "MR-ROUTE-8"], |b, a| {
        modalities(b, a, |request, right| {
            right.retain(|name| request.input.iter().any(|part| part.get("type").and_then(Value::as_str) == Some(name)));
        });
    }),
    rule("output-modalities-ignored", "Output modalities that are required do not count.", &["MR-ROUTE-9"], |b, a| {
        serves(b, a, |request| request.requirements.output_modalities.clear());
    }),
    rule("one-output-modality-will-do", "One of the output modalities that are required is enough.", &["MR-ROUTE-9"], |b, a| {
        wrap(&mut b.rules.routing.serves, a, |reference, applied| {
            Arc::new(move |rules: &Routing, request: &Request, model: &Model| {
                let right = reference(rules, request, model);
                let wanted = &request.requirements.output_modalities;
                let one = wanted.iter().any(|modality| model.output_modalities.contains(&modality.as_str()));
                let mut content = request.clone();
                content.requirements.output_modalities.clear();
                applied.instead_of(&right, if one { reference(rules, &content, model) } else { right })
            })
        });
    }),
    rule("stream-not-required", "That streaming is required does not count.", &["MR-ROUTE-10"], |b, a| {
        has(b, a, Feature::Stream);
    }),
    rule("tools-not-required", "That tools are required does not count.", &["MR-ROUTE-11", "MR-ROUTE-18"], |b, a| {
        has(b, a, Feature::Tools);
    }),
    rule("structured-output-not-required", "That structured output is required does not count.", &["MR-ROUTE-12"], |b, a| {
        has(b, a, Feature::StructuredOutput);
    }),
    rule("async-not-required", "That asynchrony is required does not count.", &["MR-ROUTE-13"], |b, a| {
        has(b, a, Feature::Async);
    }),
    rule("cancel-not-required", "That cancellation is required does not count.", &["MR-ROUTE-14"], |b, a| {
        has(b, a, Feature::Cancel);
    }),
    rule("false-excludes", "A capability that is required with false must be lacking.", &["MR-ROUTE-16"], |b, a| {
        wrap(&mut b.rules.routing.serves, a, |reference, applied| {
            Arc::new(move |rules, request, model| {
                let right = reference(rules, request, model);
                let asked = |feature: Feature| request.document["requirements"][feature.name()] == Value::Bool(false);
                let wrong = right && !model.features.iter().any(|feature| asked(*feature));
                applied.instead_of(&right, wrong)
            })
        });
    }),
    rule("nobody-is-internal-error", "That nobody can serve a request is an internal error.", &["MR-ROUTE-21"], |b, a| {
        nobody(b, a, |fault| fault.code = Code::InternalError);
    }),
    rule("nobody-is-retryable", "That nobody can serve a request is said to be retryable.", &["MR-ROUTE-22"], |b, a| {
        nobody(b, a, |fault| fault.retryable = true);
    }),
    rule("order-ignored", "provider_order is not looked at.", &["MR-ROUTE-23"], |b, a| {
        wrap(&mut b.rules.routing.order, a, |reference, applied| {
            Arc::new(move |request, providers| applied.instead_of(&reference(request, providers), providers.to_vec()))
        });
    }),
    rule("order-excludes", "Only providers that provider_order names are tried.", &["MR-ROUTE-24", "MR-ROUTE-25"], |b, a| {
        wrap(&mut b.rules.routing.order, a, |reference, applied| {
            Arc::new(move |request, providers| {
                let right = reference(request, providers);
                let wanted = &request.routing.provider_order;
                let mut fewer = right.clone();
                fewer.retain(|manifest| wanted.is_empty() || wanted.iter().any(|name| name == manifest.provider));
                applied.instead_of(&right, fewer)
            })
        });
    }),
    rule("order-turns-the-rest", "Providers that provider_order does not name follow in reverse.", &["MR-ROUTE-56"], |b, a| {
        wrap(&mut b.rules.routing.order, a, |reference, applied| {
            Arc::new(move |request, providers| {
                let right = reference(request, providers);
                let wanted = &request.routing.provider_order;
                let named = right.iter().filter(|manifest| wanted.iter().any(|name| name == manifest.provider)).count();
                let mut turned = right.clone();
                if named > 0 {
                    turned[named..].reverse();
                }
                applied.instead_of(&right, turned)
            })
        });
    }),
    rule(
        "unknown-provider-fails",
        "A name in provider_order that no provider has makes the request unservable.",
        &["MR-ROUTE-25"],
        |b, a| {
            wrap(&mut b.rules.routing.order, a, |reference, applied| {
                Arc::new(move |request, providers| {
                    let known = |name: &String| providers.iter().any(|manifest| manifest.provider == name);
                    let unknown = applied.count_if(!request.routing.provider_order.iter().all(known));
                    if unknown { Vec::new() } else { reference(request, providers) }
                })
            });
        },
    ),
    rule(
        "nobody-after-progress",
        "That nobody can serve a request is found out by the first model, after progress was reported.",
        &["MR-ROUTE-2"],
        |b, a| {
            wrap(&mut b.decisions.route, a, |reference, applied| {
                Arc::new(move |situation, execution_id| {
                    let mut step = reference(situation, execution_id);
                    let failed = step.changes.iter().any(|change| matches!(change, Change::Event(event) if event.kind == event::FAILED));
                    let Some(execution) = situation.store.execution(execution_id).filter(|_| failed) else { return step };
                    applied.count();
                    let routing = Execution { status: Status::Routing, ..execution.clone() };
                    let target = Target { provider: "mock-text".to_owned(), model: "alpha".to_owned() };
                    let selected = recorded(situation, &routing, event::SELECTED, (situation.rules.outcome.selected)(&target, 1));
                    let running = Execution { status: Status::Running, ..execution.clone() };
                    let progress = recorded(situation, &running, event::PROGRESS, object([("phase", json!("queued"))]));
                    step.changes.splice(0..0, [selected, progress]);
                    step
                })
            });
        },
    ),
    rule(
        "two-requirements-are-too-many",
        "Requirements of a feature and an output modality together are never met.",
        &["MR-ROUTE-15"],
        |b, a| {
            wrap(&mut b.rules.routing.serves, a, |reference, applied| {
                Arc::new(move |rules, request, model| {
                    let right = reference(rules, request, model);
                    let both = !request.requirements.features.is_empty() && !request.requirements.output_modalities.is_empty();
                    applied.instead_of(&right, right && !both)
                })
            });
        },
    ),
];

fn able(blueprint: &mut Blueprint, applied: &Applied, able: fn(&Model, &str) -> bool) {
    wrap(&mut blueprint.rules.routing.able, applied, |reference, applied| {
        Arc::new(move |model, ability| applied.instead_of(&reference(model, ability), able(model, ability)))
    });
}

fn modalities(blueprint: &mut Blueprint, applied: &Applied, change: fn(&Request, &mut std::collections::BTreeSet<String>)) {
    wrap(&mut blueprint.rules.routing.modalities, applied, |reference, applied| {
        Arc::new(move |request| {
            let right = reference(request);
            let mut changed = right.clone();
            change(request, &mut changed);
            applied.instead_of(&right, changed)
        })
    });
}

/// Whether a model serves a request that has forgotten something.
fn serves(blueprint: &mut Blueprint, applied: &Applied, forget: fn(&mut Request)) {
    wrap(&mut blueprint.rules.routing.serves, applied, |reference, applied| {
        Arc::new(move |rules: &Routing, request: &Request, model: &Model| {
            let mut forgetful = request.clone();
            forget(&mut forgetful);
            applied.instead_of(&reference(rules, request, model), reference(rules, &forgetful, model))
        })
    });
}

/// Takes a feature for granted.
fn has(blueprint: &mut Blueprint, applied: &Applied, granted: Feature) {
    wrap(&mut blueprint.rules.routing.has, applied, |reference, applied| {
        Arc::new(move |model, feature| applied.instead_of(&reference(model, feature), reference(model, feature) || feature == granted))
    });
}

fn nobody(blueprint: &mut Blueprint, applied: &Applied, change: fn(&mut Fault)) {
    wrap(&mut blueprint.rules.outcome.fault, applied, |reference, applied| {
        Arc::new(move |fault| {
            let mut changed = fault.clone();
            if fault.code == Code::CapabilityUnavailable {
                applied.count();
                change(&mut changed);
            }
            reference(&changed)
        })
    });
}
