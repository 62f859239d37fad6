//! After a restart: executions that had not ended come to an end. None of them is given to a provider again.

use super::attempts::fail;
use super::{Situation, Step};
use crate::model_runtime::rules::recovery::Outcome;

pub(crate) fn recover(situation: &Situation, execution_id: &str) -> Step<()> {
    let Some(execution) = situation.store.execution(execution_id) else {
        return Step::unchanged(());
    };
    let rules = &situation.rules.recovery;
    match (rules.outcome)(execution.status) {
        Outcome::Leave => Step::unchanged(()),
        Outcome::Fail => fail(situation, execution, &(rules.fault)()),
    }
}
