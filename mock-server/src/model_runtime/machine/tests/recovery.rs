//! Restarts: what was recorded is what there is again, and what had not ended has failed.

use super::*;
use proptest::test_runner::TestCaseError;

/// Puts back what was recorded, and lets the server begin again.
fn restart(world: &mut World) {
    world.store = Store::default();
    world.rows.clone().into_iter().for_each(|row| world.store.restore(row));
    world.effects.clear();
}

fn recover(world: &mut World, id: &str) {
    let recover = world.decisions.recover.clone();
    world.perform(&|situation| recover(situation, id));
}

/// At the end of any history.
pub(super) fn check_restart(world: &mut World, id: &str) -> Result<(), TestCaseError> {
    let seen = |world: &World| (world.store.execution(id).cloned(), world.store.log(id).to_vec());
    let before = seen(world);
    restart(world);
    prop_assert_eq!(&seen(world), &before);
    recover(world, id);
    let log = world.store.log(id).to_vec();
    let ended = before.0.is_some_and(|execution| execution.status.is_terminal());
    prop_assert!(log.starts_with(&before.1));
    prop_assert_eq!(log.len() - before.1.len(), usize::from(!ended));
    prop_assert!(world.status(id).is_terminal());
    prop_assert!(event::is_terminal(&world.last(id).kind));
    prop_assert!(world.effects.is_empty());
    // Once is enough.
    recover(world, id);
    prop_assert_eq!(world.store.log(id), &log[..]);
    Ok(())
}

#[test]
fn what_was_interrupted_has_failed_for_good() {
    let mut world = World::new();
    let id = world.start(with_fallback());
    world.emit(&id, 1, event::DELTA, &json!({ "output_index": 0, "delta": "x" }));
    restart(&mut world);
    recover(&mut world, &id);
    assert_eq!(world.status(&id), Status::Failed);
    assert_eq!(world.kinds(&id), [event::ACCEPTED, event::SELECTED, event::DELTA, event::FAILED]);
    let error = &world.last(&id).data["error"];
    assert_eq!((&error["code"], &error["retryable"]), (&json!("internal_error"), &json!(false)));
}

#[test]
fn a_cancel_and_a_deadline_stay_what_they_were() {
    let mut world = World::new();
    let cancelled = world.start(Preferences::default());
    let expired = world.start(Preferences::default());
    assert!(world.cancel(&cancelled));
    world.expire(&expired);
    restart(&mut world);
    for (id, code) in [(&cancelled, "cancelled"), (&expired, "deadline_exceeded")] {
        recover(&mut world, id);
        assert_eq!(world.last(id).data["error"]["code"], code);
    }
}

#[test]
fn a_key_still_stands_for_its_request() {
    let mut world = World::new();
    let id = world.submit(request(Preferences::default()), Some("k")).expect("new").execution.id;
    restart(&mut world);
    recover(&mut world, &id);
    let again = world.submit(request(Preferences::default()), Some("k")).expect("a replay");
    assert_eq!((again.execution.id, again.execution.status, again.replay), (id, Status::Failed, true));
    let other = Request { document: json!({ "ability": "another" }), ..request(Preferences::default()) };
    assert_eq!(world.submit(other, Some("k")).expect_err("a conflict"), Problem::Conflict);
}

#[test]
fn nobody_is_at_a_gate_after_a_restart() {
    let mut world = World::new();
    let ids: Vec<String> = (0..2).map(|_| world.start(to_narrow())).collect();
    restart(&mut world);
    ids.iter().for_each(|id| recover(&mut world, id));
    let next = world.start(to_narrow());
    assert_eq!(world.effects, [Effect::Run { execution_id: next, attempt: 1 }]);
}
