//! How much a runtime, and each provider, takes on at once. Section 8 of the contract page.

use crate::model_runtime::model::Gate;
use crate::table::table;

/// What happens to an execution at the gate of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admit {
    Now,
    Later,
    Never,
}

table! {
    /// Rules about admission.
    Admission {
        /// MR-IDEM-40, -41: how many executions may be active, which is accepted and not ended.
        most_active: fn() -> usize = most_active;
        /// MR-ADM-2, -5: what happens at a gate, given how many the provider works on and how many wait.
        gate: fn(Gate, usize, usize) -> Admit = gate;
    }
}

pub(crate) fn most_active() -> usize {
    16
}

pub(crate) fn gate(gate: Gate, working: usize, waiting: usize) -> Admit {
    if working < gate.concurrency {
        Admit::Now
    } else if waiting < gate.queue {
        Admit::Later
    } else {
        Admit::Never
    }
}
