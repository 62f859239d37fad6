//! The machine alone: commands in, rows and effects out, at times and with ids that the tests choose.

use super::*;
use crate::harness_runtime::model::{ActionStatus, Event, StartRequest, State, Support, event};
use proptest::prelude::*;
use serde_json::json;
use std::cell::Cell;
use std::sync::Arc;

/// A store that a machine decides about, with a clock that ticks once a command.
struct World {
    store: Store,
    rules: Rules,
    decisions: Decisions,
    providers: Vec<Manifest>,
    now: Cell<i64>,
    ids: Cell<u32>,
    effects: Vec<Effect>,
    /// What a durable store would hold.
    rows: Vec<Row>,
}

impl World {
    fn new() -> Self {
        let manifest = Manifest {
            id: "p".to_owned(),
            name: "P".to_owned(),
            version: "1".to_owned(),
            topologies: vec!["embedded"],
            capabilities: [("can".to_owned(), Support::Degraded), ("cannot".to_owned(), Support::Unsupported)].into(),
            metadata: None,
        };
        let mut world = Self {
            store: Store::default(),
            rules: Rules::default(),
            decisions: Decisions::default(),
            providers: vec![manifest],
            now: Cell::new(0),
            ids: Cell::new(0),
            effects: Vec::new(),
            rows: Vec::new(),
        };
        let create = world.decisions.create_conversation.clone();
        world.perform(|situation| create(situation, &JsonObject::new()));
        world
    }

    /// Decides and writes.
    fn perform<T>(&mut self, decide: impl Fn(&Situation) -> Step<T>) -> T {
        self.now.set(self.now.get() + 1);
        let ids = |kind: IdKind| {
            self.ids.set(self.ids.get() + 1);
            format!("{}{}", kind.prefix(), self.ids.get())
        };
        let situation = Situation {
            store: &self.store,
            rules: &self.rules,
            providers: &self.providers,
            now: Timestamp::from_second(self.now.get()).expect("an instant"),
            ids: &ids,
        };
        let step = decide(&situation);
        for change in step.changes {
            self.rows.extend(self.store.recorded(&self.rules.events, change));
        }
        self.effects.extend(step.effects);
        step.answer
    }

    fn request(key: Option<&str>) -> StartRequest {
        StartRequest {
            conversation_id: "conv1".to_owned(),
            provider_id: "p".to_owned(),
            idempotency_key: key.map(str::to_owned),
            ..StartRequest::default()
        }
    }

    fn start(&mut self, request: &StartRequest) -> Answered {
        let start = self.decisions.start.clone();
        self.perform(|situation| start(situation, request))
    }

    /// The id of an execution whose provider has begun.
    fn running(&mut self) -> String {
        let id = self.start(&Self::request(None)).expect("started").id;
        self.begin(&id);
        id
    }

    fn begin(&mut self, id: &str) {
        let begin = self.decisions.begin.clone();
        self.perform(|situation| begin(situation, id));
    }

    fn emit(&mut self, id: &str, kind: &str, data: serde_json::Value) -> Taken {
        let emit = self.decisions.emit.clone();
        let emission = Emission { execution_id: id.to_owned(), kind: kind.to_owned(), data };
        self.perform(|situation| emit(situation, &emission))
    }

    fn ask(&mut self, id: &str, action_id: &str) -> Taken {
        let ask = self.decisions.ask.clone();
        let question = json!({ "kind": "approval", "title": "Go?" });
        let asking = Asking { execution_id: id.to_owned(), action_id: action_id.to_owned(), question };
        self.perform(|situation| ask(situation, &asking))
    }

    fn end(&mut self, id: &str, result: Result<Option<serde_json::Value>, String>) {
        let end = self.decisions.end.clone();
        let ending = Ending { execution_id: id.to_owned(), result };
        self.perform(|situation| end(situation, &ending));
    }

    fn cancel(&mut self, id: &str, reason: Option<&str>) -> Result<Cancelling, Problem> {
        let cancel = self.decisions.cancel.clone();
        let request = CancelRequest { execution_id: id.to_owned(), reason: reason.map(str::to_owned) };
        self.perform(|situation| cancel(situation, &request))
    }

    fn cleaned_up(&mut self, id: &str, error: Option<&str>) {
        let cleaned_up = self.decisions.cleaned_up.clone();
        let cleaned = CleanedUp { execution_id: id.to_owned(), error: error.map(str::to_owned) };
        self.perform(|situation| cleaned_up(situation, &cleaned));
    }

    fn respond(&mut self, id: &str, action_id: &str) -> Answered {
        let respond = self.decisions.respond.clone();
        let body = json!({ "approved": true });
        let responding = Responding { execution_id: id.to_owned(), action_id: action_id.to_owned(), body };
        self.perform(|situation| respond(situation, &responding))
    }

    fn state(&self, id: &str) -> State {
        self.store.execution(id).expect("an execution").state
    }

    fn types(&self, id: &str) -> Vec<&str> {
        self.store.log(id).iter().map(|event| event.kind.as_str()).collect()
    }
}

mod recovery;

#[test]
fn a_start_is_queued_and_its_provider_begins_in_a_step_of_its_own() {
    let mut world = World::new();
    let execution = world.start(&World::request(None)).expect("started");
    assert_eq!(execution.state, State::Queued);
    assert_eq!(world.effects, [Effect::Begin { execution_id: execution.id.clone() }]);
    world.begin(&execution.id);
    assert_eq!(world.effects[1..], [Effect::Run { execution_id: execution.id.clone() }]);
    assert_eq!(world.state(&execution.id), State::Running);
    assert_eq!(world.types(&execution.id), [event::QUEUED, event::STARTED]);
}

#[test]
fn a_cancellation_before_the_beginning_keeps_the_provider_from_it() {
    let mut world = World::new();
    let id = world.start(&World::request(None)).expect("started").id;
    world.cancel(&id, None).expect("cancelling");
    world.begin(&id);
    world.cleaned_up(&id, None);
    assert_eq!(world.types(&id), [event::QUEUED, event::CANCELLED]);
    assert_eq!(world.store.execution(&id).expect("an execution").started_at, None);
    assert!(!world.effects.contains(&Effect::Run { execution_id: id }));
}

#[test]
fn a_key_is_used_only_by_a_start_that_passed_preflight() {
    let mut world = World::new();
    let mut request = World::request(Some("k"));
    request.required_capabilities = vec!["cannot".to_owned(), "none".to_owned(), "can".to_owned()];
    let problem = world.start(&request).expect_err("refused");
    assert_eq!(problem, Problem::capability_unsupported("p", &["cannot".to_owned(), "none".to_owned()]));
    request.required_capabilities = vec!["can".to_owned()];
    let execution = world.start(&request).expect("started");
    assert_eq!(world.start(&request).expect("a replay").id, execution.id);
    request.input = "other".to_owned();
    assert_eq!(world.start(&request), Err(Problem::idempotency_conflict()));
    assert_eq!(world.store.executions().count(), 1);
}

#[test]
fn a_cancellation_owns_the_outcome_and_keeps_what_is_said() {
    let mut world = World::new();
    let id = world.running();
    world.cancel(&id, Some("enough")).expect("cancelling");
    world.cancel(&id, Some("again")).expect("joins");
    assert_eq!(world.effects.iter().filter(|effect| matches!(effect, Effect::CleanUp { .. })).count(), 1);
    assert_eq!(world.emit(&id, event::DELTA, json!({ "text": "bye" })), Ok(()));
    world.end(&id, Ok(Some(json!("too late"))));
    world.end(&id, Err("too late".to_owned()));
    assert!(world.ask(&id, "a").is_err());
    assert_eq!(world.state(&id), State::Cancelling);
    world.cleaned_up(&id, Some("stuck"));
    world.cleaned_up(&id, None);
    assert_eq!(world.emit(&id, event::DELTA, json!({ "text": "later" })), Ok(()));
    assert_eq!(world.types(&id), [event::QUEUED, event::STARTED, event::DELTA, event::CANCELLED]);
    let last = world.store.log(&id).last().expect("events").data.clone();
    assert_eq!(json!(last), json!({ "reason": "enough", "providerCleanupError": "stuck" }));
}

#[test]
fn a_question_is_settled_by_an_answer_or_by_the_end() {
    let mut world = World::new();
    let (answered, abandoned) = (world.running(), world.running());
    world.ask(&answered, "a").expect("asked");
    world.ask(&abandoned, "b").expect("asked");
    assert_eq!(world.respond(&abandoned, "a"), Err(Problem::action_not_found("a")));
    assert_eq!(world.respond(&answered, "a").expect("taken").state, State::Running);
    assert_eq!(world.respond(&answered, "a"), Err(Problem::action_already_resolved("a")));
    world.end(&abandoned, Ok(None));
    assert_eq!(world.state(&abandoned), State::Failed);
    assert_eq!(world.store.action("b").map(|action| action.status), Some(ActionStatus::Abandoned));
    let message = "Provider finished with an unresolved action".to_owned();
    assert_eq!(world.effects.last(), Some(&Effect::Reject { action_id: "b".to_owned(), message }));
    assert_eq!(world.respond(&abandoned, "b"), Err(Problem::action_not_found("b")));
}

/// What may happen to an execution, in any order.
#[derive(Clone, Debug)]
enum Happening {
    Begin,
    Delta,
    Artifact(u8),
    Forgery,
    Ask,
    Respond(u8),
    Succeed,
    Fail,
    Cancel,
    CleanedUp,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        3 => Just(Happening::Begin),
        4 => Just(Happening::Delta),
        2 => (0..3u8).prop_map(Happening::Artifact),
        1 => Just(Happening::Forgery),
        3 => Just(Happening::Ask),
        3 => (0..6u8).prop_map(Happening::Respond),
        1 => Just(Happening::Succeed),
        1 => Just(Happening::Fail),
        1 => Just(Happening::Cancel),
        1 => Just(Happening::CleanedUp),
    ]
}

fn happen(world: &mut World, id: &str, happening: &Happening, asked: &mut u8) {
    // Whether a command is refused is not the question here; what it leaves is.
    match happening {
        Happening::Begin => world.begin(id),
        Happening::Delta => drop(world.emit(id, event::DELTA, json!({ "text": "x" }))),
        Happening::Artifact(name) => {
            drop(world.emit(id, event::ARTIFACT_CREATED, json!({ "id": name.to_string(), "name": "n", "mediaType": "m" })));
        }
        Happening::Forgery => drop(world.emit(id, event::COMPLETED, json!({ "finalOutput": "forged" }))),
        Happening::Ask => {
            *asked += u8::from(world.ask(id, &format!("action{asked}")).is_ok());
        }
        Happening::Respond(action) => drop(world.respond(id, &format!("action{action}"))),
        Happening::Succeed => world.end(id, Ok(Some(json!("done")))),
        Happening::Fail => world.end(id, Err("broke".to_owned())),
        Happening::Cancel => drop(world.cancel(id, None)),
        Happening::CleanedUp => world.cleaned_up(id, None),
    }
}

proptest! {
    #[test]
    fn whatever_happens_the_history_holds(happenings in prop::collection::vec(happening(), 0..40)) {
        let mut world = World::new();
        let id = world.start(&World::request(None)).expect("started").id;
        let mut asked = 0;
        let mut ended: Option<(Execution, Vec<Arc<Event>>)> = None;
        for happening in &happenings {
            happen(&mut world, &id, happening, &mut asked);
            let execution = world.store.execution(&id).expect("an execution").clone();
            let log = world.store.log(&id).to_vec();
            if let Some(ended) = &ended {
                prop_assert_eq!(ended, &(execution.clone(), log.clone()), "an end is final");
            }
            check(&world, &execution, &log)?;
            if execution.state.is_terminal() {
                ended = Some((execution, log));
            }
        }
        recovery::check_restart(&mut world, &id)?;
    }
}

fn check(world: &World, execution: &Execution, log: &[Arc<Event>]) -> Result<(), TestCaseError> {
    prop_assert!(log.iter().zip(1..).all(|(event, sequence)| event.sequence == sequence && event.execution_id == execution.id));
    let terminal: Vec<&str> = log.iter().map(|event| event.kind.as_str()).filter(|kind| event::is_terminal(kind)).collect();
    let expected: &[&str] = match execution.state {
        State::Succeeded => &[event::COMPLETED],
        State::Failed => &[event::FAILED],
        State::Cancelled => &[event::CANCELLED],
        _ => &[],
    };
    prop_assert_eq!(&terminal, expected);
    prop_assert!(terminal.is_empty() || log.last().is_some_and(|event| event::is_terminal(&event.kind)));
    prop_assert_eq!(execution.ended_at.is_some(), execution.state.is_terminal());
    let announced: Vec<_> = log.iter().filter(|event| event.kind == event::ARTIFACT_CREATED).map(|event| event.data.clone()).collect();
    let views = &world.rules.views;
    let listed: Vec<_> = world.store.artifacts(&execution.id).iter().map(|artifact| (views.artifact)(views, artifact)).collect();
    prop_assert_eq!(announced, listed);
    let pending = world.store.pending_actions(&execution.id).count();
    prop_assert_eq!(pending, usize::from(execution.state.is_awaiting()));
    Ok(())
}
