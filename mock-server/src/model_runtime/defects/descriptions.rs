//! Descriptions of the runtime and of providers that are not as they should be.

use super::{Entry, remove, rule, set, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule("runtime-of-another-protocol", "The runtime states protocol version 0.2.0.", &["MR-RUNTIME-3"], |b, a| {
        runtime(b, a, |document| set(document, "protocol_version", json!("0.2.0")));
    }),
    rule("state-is-ok", "The state of the runtime is \"ok\".", &["MR-RUNTIME-5"], |b, a| {
        runtime(b, a, |document| set(document, "state", json!("ok")));
    }),
    rule("providers-miscounted", "provider_count counts models.", &["MR-RUNTIME-7"], |b, a| {
        runtime(b, a, |document| set(document, "provider_count", json!(5)));
    }),
    rule("features-listed", "The features of the runtime are a list of names.", &["MR-RUNTIME-6"], |b, a| {
        runtime(b, a, |document| set(document, "features", json!(["routing", "flow_control"])));
    }),
    rule("billing-on", "The runtime says that it bills.", &["MR-RUNTIME-8"], |b, a| {
        runtime(b, a, |document| set(&mut document["features"], "billing", json!(true)));
    }),
    rule("manifest-of-another-protocol", "A manifest states no protocol version.", &["MR-PROV-3"], |b, a| {
        manifest(b, a, |document| remove(document, "protocol_version"));
    }),
    rule("manifest-without-provider", "A manifest calls its provider id.", &["MR-PROV-2"], |b, a| {
        manifest(b, a, |document| {
            let name = document["provider"].take();
            remove(document, "provider") && set(document, "id", name)
        });
    }),
    rule("feature-not-told", "Features that a model lacks are left out.", &["MR-PROV-10"], |b, a| {
        model(b, a, |model| {
            let lacking = |value: &Value| *value == Value::Bool(false);
            model.as_object_mut().is_some_and(|members| {
                let before = members.len();
                members.retain(|_, value| !lacking(value));
                members.len() < before
            })
        });
    }),
    rule("modality-of-its-own", "A model that takes audio says that it takes speech.", &["MR-PROV-8"], |b, a| {
        model(b, a, |model| {
            let speech = model["input_modalities"].as_array_mut().into_iter().flatten().filter(|name| **name == "audio");
            speech.map(|name| *name = json!("speech")).count() > 0
        });
    }),
    rule("limits-as-text", "The limits of a manifest are texts.", &["MR-PROV-11"], |b, a| {
        manifest(b, a, |document| {
            let limits = document.get_mut("limits").and_then(Value::as_object_mut).into_iter().flatten();
            limits.map(|(_, limit)| *limit = json!(limit.to_string())).count() > 0
        });
    }),
    rule("abilities-promised", "A manifest promises abilities in other words than it has.", &["MR-ROUTE-18"], |b, a| {
        model(b, a, |model| {
            let names = model["abilities"].as_array_mut().into_iter().flatten();
            names.map(|name| *name = json!(name.as_str().unwrap_or_default().to_uppercase())).count() > 0
        });
    }),
    rule("models-hidden", "A provider with one model lists none.", &["MR-PROV-5", "MR-ROUTE-18", "MR-ROUTE-19"], |b, a| {
        manifest(b, a, |document| {
            let one = document["models"].as_array().is_some_and(|models| models.len() == 1);
            one && set(document, "models", json!([]))
        });
    }),
    rule("provider-listed-twice", "A provider with two models has two manifests.", &["MR-PROV-12", "MR-RUNTIME-7"], |b, a| {
        wrap(&mut b.wire.document, a, |reference, applied| {
            Arc::new(move |kind, document| {
                let mut document = reference(kind, document);
                let list = document.get_mut("data").and_then(Value::as_array_mut);
                if let Some(list) = list.filter(|_| kind == crate::model_runtime::wire::Document::Providers) {
                    applied.count();
                    list.extend(list.get(1).cloned());
                }
                document
            })
        });
    }),
];

fn runtime(blueprint: &mut Blueprint, applied: &Applied, change: fn(&mut Value) -> bool) {
    wrap(&mut blueprint.rules.views.runtime, applied, |reference, applied| {
        Arc::new(move |providers, stopping| {
            let mut document = reference(providers, stopping);
            applied.count_if(change(&mut document));
            document
        })
    });
}

fn manifest(blueprint: &mut Blueprint, applied: &Applied, change: fn(&mut Value) -> bool) {
    wrap(&mut blueprint.rules.views.manifest, applied, |reference, applied| {
        Arc::new(move |manifest| {
            let mut document = reference(manifest);
            applied.count_if(change(&mut document));
            document
        })
    });
}

fn model(blueprint: &mut Blueprint, applied: &Applied, change: fn(&mut Value) -> bool) {
    wrap(&mut blueprint.rules.views.manifest, applied, |reference, applied| {
        Arc::new(move |manifest| {
            let mut document = reference(manifest);
            for model in document["models"].as_array_mut().into_iter().flatten() {
                applied.count_if(change(model));
            }
            document
        })
    });
}
