//! Required capabilities that are checked wrongly, or too late.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::machine::Step;
use crate::harness_runtime::model::{StartRequest, Support};
use crate::harness_runtime::problem::Code;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(
            Rule,
            "unsupported-passes",
            "A capability passes as soon as the manifest lists it, whatever the level.",
            &["HR-PREF-1"],
        ),
        install: |blueprint, applied| level(blueprint, applied, |level, right| right || level.is_some()),
    },
    Entry {
        defect: defect(Rule, "unlisted-passes", "Only capabilities that the manifest lists are checked.", &["HR-PREF-2"]),
        install: |blueprint, applied| level(blueprint, applied, |level, right| right || level.is_none()),
    },
    Entry {
        defect: defect(Rule, "degraded-refused", "Degraded support does not pass.", &["HR-PREF-5"]),
        install: |blueprint, applied| level(blueprint, applied, |level, right| right && level != Some(Support::Degraded)),
    },
    Entry {
        defect: defect(Rule, "emulated-refused", "Emulated support does not pass.", &["HR-PREF-4"]),
        install: |blueprint, applied| level(blueprint, applied, |level, right| right && level != Some(Support::Emulated)),
    },
    Entry {
        defect: defect(
            Rule,
            "first-capability-only",
            "Only the first of the required capabilities is checked.",
            &["HR-PREF-6", "HR-PREF-9"],
        ),
        install: |blueprint, applied| {
            missing(blueprint, applied, |names, right| right.into_iter().filter(|name| names.first() == Some(name)).collect());
        },
    },
    Entry {
        defect: defect(Rule, "one-of-the-capabilities", "A start passes if one of its required capabilities is supported.", &["HR-PREF-6"]),
        install: |blueprint, applied| {
            missing(blueprint, applied, |names, right| {
                let all_fail = names.iter().all(|name| right.contains(name));
                if all_fail { right } else { Vec::new() }
            });
        },
    },
    Entry {
        defect: defect(Rule, "refusal-names-one", "Of the capabilities that fail only the first is named.", &["HR-PREF-9"]),
        install: |blueprint, applied| missing(blueprint, applied, |_, right| right.into_iter().take(1).collect()),
    },
    Entry {
        defect: defect(Rule, "refusal-names-all", "A refusal names all required capabilities instead of those that fail.", &["HR-PREF-10"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.preflight.missing, applied, |reference, applied| {
                Arc::new(move |preflight, manifest, names| {
                    let right = reference(preflight, manifest, names);
                    let all = if right.is_empty() { Vec::new() } else { (preflight.normalised)(names) };
                    applied.instead_of(&right, all)
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "capabilities-as-sent",
            "Required capabilities are neither sorted nor freed of duplicates.",
            &["HR-PREF-11", "HR-START-6", "HR-START-7"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.preflight.normalised, applied, |reference, applied| {
                Arc::new(move |names| applied.instead_of(&reference(names), names.to_vec()))
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "preflight-after-start",
            "The provider is started first, and the capabilities are checked when the answer is written.",
            &["HR-PREF-7"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.start, applied, |reference, applied| {
                Arc::new(move |situation, request| {
                    let step = reference(situation, request);
                    if !step.answer.as_ref().is_err_and(|problem| problem.code == Code::CapabilityUnsupported) {
                        return step;
                    }
                    applied.count();
                    let lax = StartRequest { required_capabilities: Vec::new(), idempotency_key: None, ..request.clone() };
                    Step { answer: step.answer, ..reference(situation, &lax) }
                })
            });
        },
    },
];

/// Decides about a level, given what the reference says.
fn level(blueprint: &mut Blueprint, applied: &Applied, decide: fn(Option<Support>, bool) -> bool) {
    wrap(&mut blueprint.rules.preflight.passes, applied, |reference, applied| {
        Arc::new(move |level| {
            let right = reference(level);
            applied.instead_of(&right, decide(level, right))
        })
    });
}

/// Decides which names fail, given the names as sent and those that do fail.
fn missing(blueprint: &mut Blueprint, applied: &Applied, decide: fn(&[String], Vec<String>) -> Vec<String>) {
    wrap(&mut blueprint.rules.preflight.missing, applied, |reference, applied| {
        Arc::new(move |preflight, manifest, names| {
            let right = reference(preflight, manifest, names);
            applied.instead_of(&right, decide(names, right.clone()))
        })
    });
}
