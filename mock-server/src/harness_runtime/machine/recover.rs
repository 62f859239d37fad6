//! After a restart: executions that had not ended come to an end, or to their beginning.

use super::cancel::cleaned_up;
use super::provider::fail;
use super::{CleanedUp, Effect, Situation, Step};
use crate::harness_runtime::rules::recovery::Outcome;

pub(crate) fn recover(situation: &Situation, execution_id: &str) -> Step<()> {
    let Some(execution) = situation.store.execution(execution_id) else {
        return Step::unchanged(());
    };
    let rules = &situation.rules.recovery;
    match (rules.outcome)(execution.state) {
        Outcome::Leave => Step::unchanged(()),
        Outcome::Begin => Step { answer: (), changes: Vec::new(), effects: vec![Effect::Begin { execution_id: execution_id.to_owned() }] },
        Outcome::Fail => fail(situation, execution, (rules.message)()),
        Outcome::Conclude => cleaned_up(situation, &CleanedUp { execution_id: execution_id.to_owned(), error: Some((rules.message)()) }),
    }
}
