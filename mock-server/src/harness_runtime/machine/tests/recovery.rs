//! Restarts: what was recorded is what there is again, and what had not ended comes to one end.

use super::*;

/// Puts back what was recorded, and lets the server begin again.
fn restart(world: &mut World) {
    world.store = Store::default();
    world.rows.clone().into_iter().for_each(|row| world.store.restore(row));
    world.effects.clear();
}

fn recover(world: &mut World, id: &str) {
    let recover = world.decisions.recover.clone();
    world.perform(|situation| recover(situation, id));
}

/// At the end of any history.
pub(super) fn check_restart(world: &mut World, id: &str) -> Result<(), TestCaseError> {
    let seen = |world: &World| (world.store.execution(id).cloned(), world.store.log(id).to_vec(), world.store.artifacts(id).to_vec());
    let before = seen(world);
    restart(world);
    prop_assert_eq!(&seen(world), &before);
    recover(world, id);
    let (execution, log, _) = seen(world);
    let execution = execution.expect("an execution");
    prop_assert!(log.starts_with(&before.1));
    prop_assert!(execution.state.is_terminal() || execution.state == State::Queued);
    let runs = world.effects.iter().filter(|effect| matches!(effect, Effect::Run { .. })).count();
    prop_assert_eq!(runs, 0);
    check(world, &execution, &log)?;
    // Once is enough.
    recover(world, id);
    prop_assert_eq!(world.store.log(id), &log[..]);
    Ok(())
}

#[test]
fn what_ran_has_failed_and_its_questions_are_gone() {
    let mut world = World::new();
    let id = world.running();
    world.ask(&id, "a1").expect("asked");
    restart(&mut world);
    recover(&mut world, &id);
    let execution = world.store.execution(&id).expect("an execution");
    assert_eq!((execution.state, execution.error.as_deref()), (State::Failed, Some("The server was stopped while the provider worked")));
    assert_eq!(world.types(&id), [event::QUEUED, event::STARTED, event::ACTION_REQUIRED, event::FAILED]);
    assert_eq!(world.respond(&id, "a1").expect_err("gone").code, crate::harness_runtime::problem::Code::ActionNotFound);
}

#[test]
fn a_cancellation_owns_the_outcome() {
    let mut world = World::new();
    let id = world.running();
    world.cancel(&id, Some("enough")).expect("cancelling");
    restart(&mut world);
    recover(&mut world, &id);
    assert_eq!(world.state(&id), State::Cancelled);
    let data = &world.store.log(&id).last().expect("an event").data;
    assert_eq!(data["reason"], "enough");
    assert!(data["providerCleanupError"].is_string());
}

#[test]
fn what_never_began_begins() {
    let mut world = World::new();
    let id = world.start(&World::request(None)).expect("started").id;
    restart(&mut world);
    recover(&mut world, &id);
    assert_eq!(world.effects, [Effect::Begin { execution_id: id.clone() }]);
    assert_eq!(world.types(&id), [event::QUEUED]);
}

#[test]
fn a_key_still_stands_for_its_request() {
    let mut world = World::new();
    let id = world.start(&World::request(Some("k"))).expect("started").id;
    restart(&mut world);
    assert_eq!(world.start(&World::request(Some("k"))).expect("replayed").id, id);
    let other = StartRequest { input: "other".to_owned(), ..World::request(Some("k")) };
    assert!(world.start(&other).is_err());
}
