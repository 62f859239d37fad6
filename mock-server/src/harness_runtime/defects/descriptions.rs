//! Runtimes, conversations and lookups that are not what they say.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::harness_runtime::machine::{Change, Step};
use crate::harness_runtime::model::{Conversation, JsonObject, StartRequest, Support};
use crate::harness_runtime::problem::{Code, Problem};
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(
            Rule,
            "protocol-of-yesterday",
            "The description states an older version than the one that is spoken.",
            &["HR-DESC-3"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.views.description, applied, |reference, applied| {
                Arc::new(move |views, runtime| {
                    applied.count();
                    let mut document = reference(views, runtime);
                    document["protocolVersion"] = json!("2026-06-01");
                    document
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "level-of-its-own", "Emulated support is called \"partial\" in manifests.", &["HR-DESC-11"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.views.manifest, applied, |reference, applied| {
                Arc::new(move |manifest| {
                    let mut document = reference(manifest);
                    for (name, _) in manifest.capabilities.iter().filter(|(_, level)| **level == Support::Emulated) {
                        applied.count();
                        document["capabilities"][name] = json!("partial");
                    }
                    document
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "levels-rounded-up",
            "The capabilities route calls every support native; the description of the runtime tells the levels.",
            &["HR-DESC-20"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.views.capabilities, applied, |reference, applied| {
                Arc::new(move |views, runtime| {
                    let mut document = reference(views, runtime);
                    let manifests = document["providers"].as_array_mut().into_iter().flatten();
                    for level in manifests.filter_map(|manifest| manifest["capabilities"].as_object_mut()).flat_map(|all| all.values_mut())
                    {
                        if applied.count_if(*level == "emulated" || *level == "degraded") {
                            *level = json!("native");
                        }
                    }
                    document
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "values-kept-plainly",
            "Arrays in metadata are kept as sorted sets, and an input as a text without NUL, of 4096 characters at the most, with LF at line ends.",
            &["HR-CONV-8", "HR-START-4"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.create_conversation, applied, |reference, applied| {
                Arc::new(move |situation, metadata| {
                    let mut kept = metadata.clone();
                    for list in kept.values_mut().filter_map(|value| value.as_array_mut()) {
                        list.sort_by_key(ToString::to_string);
                    }
                    applied.count_if(kept != *metadata);
                    reference(situation, &kept)
                })
            });
            wrap(&mut blueprint.decisions.start, applied, |reference, applied| {
                Arc::new(move |situation, request| {
                    let input: String = request.input.replace("\r\n", "\n").replace('\0', "").chars().take(4096).collect();
                    applied.count_if(input != request.input);
                    reference(situation, &StartRequest { input, ..request.clone() })
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "metadata-dropped", "The metadata of a new conversation is not kept.", &["HR-CONV-8"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.create_conversation, applied, |reference, applied| {
                Arc::new(move |situation, metadata| {
                    applied.count_if(!metadata.is_empty());
                    reference(situation, &JsonObject::new())
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "conversation-shared",
            "Conversations with the same metadata, not empty, are one conversation.",
            &["HR-CONV-12"],
        ),
        install: |blueprint, applied| {
            let known: Arc<Mutex<Vec<Conversation>>> = Arc::default();
            wrap(&mut blueprint.decisions.create_conversation, applied, |reference, applied| {
                Arc::new(move |situation, metadata| {
                    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                    let same = |conversation: &&Conversation| !metadata.is_empty() && conversation.metadata == *metadata;
                    if let Some(conversation) = known.iter().find(same) {
                        applied.count();
                        return Step::unchanged(conversation.clone());
                    }
                    let step = reference(situation, metadata);
                    known.push(step.answer.clone());
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "conversation-made-on-demand",
            "A start in a conversation that does not exist makes the conversation.",
            &["HR-START-37"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.start, applied, |reference, applied| {
                Arc::new(move |situation, request| {
                    if situation.store.conversation(&request.conversation_id).is_some() {
                        return reference(situation, request);
                    }
                    applied.count();
                    let made = Conversation { id: request.conversation_id.clone(), created_at: situation.now, metadata: JsonObject::new() };
                    let mut store = situation.store.clone();
                    store.apply(&situation.rules.events, Change::Conversation(made.clone()));
                    let mut step = reference(&crate::harness_runtime::machine::Situation { store: &store, ..*situation }, request);
                    step.changes.insert(0, Change::Conversation(made));
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "provider-of-last-resort", "A provider that does not exist is replaced by the first one.", &["HR-START-38"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.start, applied, |reference, applied| {
                Arc::new(move |situation, request| {
                    let step = reference(situation, request);
                    let unknown = matches!(&step.answer, Err(Problem { code: Code::ProviderNotFound, .. }));
                    let Some(first) = situation.providers.first().filter(|_| unknown) else { return step };
                    applied.count();
                    reference(situation, &StartRequest { provider_id: first.id.clone(), ..request.clone() })
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "config-not-shown",
            "The config of a request reaches the provider, and the execution shows an empty one.",
            &["HR-START-8"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.views.execution, applied, |reference, applied| {
                Arc::new(move |views, execution| {
                    let mut document = reference(views, execution);
                    applied.count_if(!execution.effective_config.is_empty());
                    document["effectiveConfig"] = json!({});
                    document
                })
            });
        },
    },
];
