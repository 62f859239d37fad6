//! The machine alone: commands in, rows and effects out, at times and with ids that the tests choose.

mod recovery;

use super::*;
use crate::json::object;
use crate::model_runtime::model::{Event, Feature, Gate, Model, Preferences, Request, event};
use crate::model_runtime::problem::Fault;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;

/// A store that a machine decides about, with a clock that the test moves.
struct World {
    store: Store,
    rules: Rules,
    decisions: Decisions,
    providers: Vec<Manifest>,
    now: i64,
    ids: Cell<u32>,
    effects: VecDeque<Effect>,
    /// What a durable store would hold.
    rows: Vec<Row>,
}

impl World {
    fn new() -> Self {
        let model = |name| Model {
            name,
            abilities: vec!["a"],
            input_modalities: vec!["text"],
            output_modalities: vec!["text"],
            features: [Feature::Cancel].into(),
        };
        let wide = Manifest { provider: "wide", models: vec![model("w1"), model("w2")], limits: None };
        let narrow = Manifest { provider: "narrow", models: vec![model("n")], limits: Some(Gate { concurrency: 1, queue: 1 }) };
        Self {
            store: Store::default(),
            rules: Rules::default(),
            decisions: Decisions::default(),
            providers: vec![wide, narrow],
            now: 0,
            ids: Cell::new(0),
            effects: VecDeque::new(),
            rows: Vec::new(),
        }
    }

    /// Decides and writes; effects of the machine itself follow, those on the world wait to be looked at.
    fn perform<T>(&mut self, decide: &dyn Fn(&Situation) -> Step<T>) -> T {
        let new_id = || {
            self.ids.set(self.ids.get() + 1);
            format!("e{}", self.ids.get())
        };
        let now = Timestamp::from_millisecond(self.now).expect("an instant");
        let situation = Situation { store: &self.store, rules: &self.rules, providers: &self.providers, now, new_id: &new_id };
        let step = decide(&situation);
        for change in step.changes {
            self.rows.extend(self.store.recorded(&self.rules.events, change));
        }
        for effect in step.effects {
            match effect {
                Effect::Route { execution_id } => {
                    let route = self.decisions.route.clone();
                    self.perform(&|situation| route(situation, &execution_id));
                }
                Effect::Enter { execution_id, attempt } => {
                    let enter = self.decisions.enter.clone();
                    self.perform(&|situation| enter(situation, &execution_id, attempt));
                }
                outer => self.effects.push_back(outer),
            }
        }
        step.answer
    }

    fn submit(&mut self, request: Request, key: Option<&str>) -> Result<Submitted, Problem> {
        let submission = Submission { request: Ok(Arc::new(request)), key: key.map(str::to_owned) };
        let submit = self.decisions.submit.clone();
        self.perform(&|situation| submit(situation, &submission))
    }

    fn start(&mut self, routing: Preferences) -> String {
        self.submit(request(routing), None).expect("a place").execution.id
    }

    fn emit(&mut self, id: &str, attempt: usize, kind: &str, data: &Value) -> Taken {
        let data = data.as_object().cloned().expect("an object");
        let emission = Emission { execution_id: id.to_owned(), attempt, kind: kind.to_owned(), data };
        let emit = self.decisions.emit.clone();
        self.perform(&|situation| emit(situation, &emission))
    }

    fn end(&mut self, id: &str, attempt: usize, result: Result<(), Fault>) {
        let ending = Ending { execution_id: id.to_owned(), attempt, result };
        let end = self.decisions.end.clone();
        self.perform(&|situation| end(situation, &ending));
    }

    fn cancel(&mut self, id: &str) -> bool {
        let cancel = self.decisions.cancel.clone();
        self.perform(&|situation| cancel(situation, id))
    }

    fn expire(&mut self, id: &str) {
        let expire = self.decisions.expire.clone();
        self.perform(&|situation| expire(situation, id));
    }

    fn leave(&mut self, provider: &str) {
        let leave = self.decisions.leave.clone();
        self.perform(&|situation| leave(situation, provider));
    }

    fn kinds(&self, id: &str) -> Vec<&str> {
        self.store.log(id).iter().map(|event| event.kind.as_str()).collect()
    }

    fn last(&self, id: &str) -> &Event {
        self.store.log(id).last().expect("events")
    }

    fn status(&self, id: &str) -> Status {
        self.store.execution(id).expect("an execution").status
    }
}

fn request(routing: Preferences) -> Request {
    let part = object([("type", json!("text")), ("text", json!(""))]);
    Request { ability: "a".to_owned(), input: vec![part], routing, ..Request::default() }
}

fn with_fallback() -> Preferences {
    Preferences { allow_fallback: Some(true), ..Preferences::default() }
}

fn to_narrow() -> Preferences {
    Preferences { provider_order: vec!["narrow".to_owned()], ..Preferences::default() }
}

fn retryable() -> Result<(), Fault> {
    Err(Fault::provider_busy())
}

#[test]
fn an_attempt_succeeds() {
    let mut world = World::new();
    let id = world.start(Preferences::default());
    assert_eq!(world.effects.pop_front(), Some(Effect::Run { execution_id: id.clone(), attempt: 1 }));
    assert_eq!(world.emit(&id, 1, event::DELTA, &json!({ "output_index": 0, "delta": "x" })), Taken::GoOn);
    assert_eq!(world.status(&id), Status::Running);
    world.end(&id, 1, Ok(()));
    assert_eq!(world.kinds(&id), [event::ACCEPTED, event::SELECTED, event::DELTA, event::COMPLETED]);
    assert_eq!(world.status(&id), Status::Succeeded);
}

#[test]
fn what_comes_from_an_attempt_that_is_over_is_dropped() {
    let mut world = World::new();
    let id = world.start(with_fallback());
    world.end(&id, 1, retryable());
    assert_eq!(world.kinds(&id)[2..], [event::ATTEMPT_FAILED, event::SELECTED]);
    world.emit(&id, 1, event::DELTA, &json!({ "output_index": 0, "delta": "late" }));
    world.end(&id, 1, Ok(()));
    assert_eq!((world.kinds(&id).len(), world.status(&id)), (4, Status::Routing));
    world.end(&id, 2, Ok(()));
    assert_eq!(world.status(&id), Status::Succeeded);
}

#[test]
fn output_is_not_undone() {
    let mut world = World::new();
    let id = world.start(with_fallback());
    world.emit(&id, 1, event::PROGRESS, &json!({ "phase": "queued" }));
    world.emit(&id, 1, event::DELTA, &json!({ "output_index": 0, "delta": "" }));
    world.end(&id, 1, retryable());
    assert_eq!(world.status(&id), Status::Failed);
    assert_eq!(world.last(&id).data["error"]["retryable"], false);
}

#[test]
fn the_budget_counts_from_acceptance() {
    for (now, more) in [(9, true), (10, false)] {
        let mut world = World::new();
        let id = world.start(Preferences { retry_budget_ms: Some(10), ..with_fallback() });
        world.now = now;
        world.end(&id, 1, retryable());
        assert_eq!(world.status(&id) == Status::Routing, more, "{now}");
    }
}

#[test]
fn a_refused_event_fails_its_attempt() {
    let mut world = World::new();
    let id = world.start(with_fallback());
    let fact = json!({ "unit": "request", "quantity": -1, "source": "provider" });
    assert_eq!(world.emit(&id, 1, event::USAGE, &json!({ "facts": [fact] })), Taken::Refused);
    assert_eq!(world.last(&id).data["error"]["code"], "provider_protocol_error");
    world.end(&id, 1, Ok(()));
    assert_eq!(world.kinds(&id).len(), 3);
}

#[test]
fn a_stop_does_not_wait_for_the_provider() {
    let mut world = World::new();
    let cancelled = world.start(Preferences::default());
    let expired = world.start(Preferences::default());
    assert!(world.cancel(&cancelled));
    world.expire(&expired);
    for (id, status) in [(&cancelled, Status::Cancelled), (&expired, Status::Failed)] {
        assert!(world.effects.contains(&Effect::Abort { execution_id: id.clone() }));
        world.emit(id, 1, event::DELTA, &json!({ "output_index": 0, "delta": "late" }));
        world.end(id, 1, Ok(()));
        assert!(!world.cancel(id));
        world.expire(id);
        assert_eq!((world.kinds(id).len(), world.status(id)), (3, status));
    }
    assert!(!world.cancel("none"));
}

#[test]
fn one_works_one_waits_and_the_next_is_turned_away() {
    let mut world = World::new();
    let ids: Vec<String> = (0..3).map(|_| world.start(to_narrow())).collect();
    assert_eq!(world.effects, [Effect::Run { execution_id: ids[0].clone(), attempt: 1 }]);
    assert_eq!(world.status(&ids[1]), Status::Routing);
    assert_eq!(world.last(&ids[2]).data["error"]["code"], "queue_full");
    world.end(&ids[0], 1, Ok(()));
    world.leave("narrow");
    assert_eq!(world.effects.back(), Some(&Effect::Run { execution_id: ids[1].clone(), attempt: 1 }));
}

#[test]
fn who_was_stopped_while_waiting_has_no_turn() {
    let mut world = World::new();
    let first = world.start(to_narrow());
    let second = world.start(to_narrow());
    assert!(world.cancel(&second));
    world.end(&first, 1, Ok(()));
    world.effects.clear();
    world.leave("narrow");
    assert!(world.effects.is_empty());
    assert_eq!(world.store.gate("narrow"), AtGate::default());
}

#[test]
fn a_replay_needs_no_place_and_a_refusal_leaves_no_key() {
    let mut world = World::new();
    let id = world.submit(request(Preferences::default()), Some("k")).expect("new").execution.id;
    for _each in 1..16 {
        world.start(Preferences::default());
    }
    let replay = world.submit(request(Preferences::default()), Some("k")).expect("a replay");
    assert_eq!((replay.execution.id.as_str(), replay.replay), (id.as_str(), true));
    assert!(world.submit(request(Preferences::default()), Some("other")).is_err());
    assert!(world.store.key("other").is_none());
    assert!(world.cancel(&id));
    assert!(!world.submit(request(Preferences::default()), Some("other")).expect("a place").replay);
}

#[test]
fn a_time_is_watched_from_acceptance() {
    let mut world = World::new();
    let timed = Request { deadline_ms: Some(7), ..request(Preferences::default()) };
    let id = world.submit(timed, None).expect("a place").execution.id;
    assert_eq!(world.effects.front(), Some(&Effect::Watch { execution_id: id, milliseconds: 7 }));
}

proptest! {
    /// Whatever happens in whatever order: one terminal event at the end, rising numbers, and no attempt after output.
    #[test]
    fn histories_are_sound(commands in proptest::collection::vec((0_u8..8, 1_usize..4), 0..40)) {
        let mut world = World::new();
        let id = world.start(with_fallback());
        for (command, attempt) in commands {
            match command {
                0 => drop(world.emit(&id, attempt, event::DELTA, &json!({ "output_index": 0, "delta": "x" }))),
                1 => drop(world.emit(&id, attempt, event::PROGRESS, &json!({ "phase": "queued" }))),
                2 => drop(world.emit(&id, attempt, event::DELTA, &json!({ "output_index": -1 }))),
                3 => world.end(&id, attempt, Ok(())),
                4 | 5 => world.end(&id, attempt, retryable()),
                6 if attempt == 3 => drop(world.cancel(&id)),
                7 if attempt == 3 => world.expire(&id),
                _ => {}
            }
        }
        let log = world.store.log(&id);
        prop_assert!(log.windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
        let ends = log.iter().filter(|event| event::is_terminal(&event.kind)).count();
        prop_assert_eq!(ends, usize::from(world.status(&id).is_terminal()));
        prop_assert!(ends == 0 || event::is_terminal(&world.last(&id).kind));
        let output = log.iter().position(|event| event.kind == event::DELTA);
        let selected = log.iter().rposition(|event| event.kind == event::SELECTED);
        prop_assert!(output.is_none_or(|output| selected < Some(output)));
        recovery::check_restart(&mut world, &id)?;
    }
}
