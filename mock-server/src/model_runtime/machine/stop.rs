//! The end that comes from outside: cancellations and deadlines. Neither waits for the provider.

use super::attempts::fail;
use super::{Effect, Situation, Step};
use crate::model_runtime::model::Execution;
use crate::model_runtime::problem::Fault;

pub(crate) fn cancel(situation: &Situation, execution_id: &str) -> Step<bool> {
    stop(situation, execution_id, &Fault::cancelled())
}

pub(crate) fn expire(situation: &Situation, execution_id: &str) -> Step<()> {
    stop(situation, execution_id, &Fault::deadline()).answering(())
}

fn stop(situation: &Situation, execution_id: &str, fault: &Fault) -> Step<bool> {
    let stoppable = |execution: &&Execution| (situation.rules.cancellation.cancellable)(execution.status);
    let Some(execution) = situation.store.execution(execution_id).filter(stoppable) else {
        return Step::unchanged(false);
    };
    let mut step = fail(situation, execution, fault);
    step.effects.push(Effect::Abort { execution_id: execution_id.to_owned() });
    step.answering(true)
}
