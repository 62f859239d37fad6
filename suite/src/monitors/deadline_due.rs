//! `deadline-due`: an execution that ends for its deadline was given all of that time.
//!
//! Measured by the kit's clock alone, from before the request was sent until the end was first seen: an outsider can only measure too much.
//! Requests with a key are left alone, since an earlier one, whose answer was lost, may have started the execution.

use super::World;
use super::dialect::Deadline;
use super::finding::{Observation, mismatch};
use super::history::Execution;
use crate::transcript::{Exchange, HttpReply};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Timers are allowed to be this much too fast.
fn tolerance(time: Duration) -> Duration {
    Duration::from_millis(10) + time / 20
}

/// Holds once for each execution that ended for its deadline, and not before.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    let Some(deadline) = &world.dialect.deadline else { return seen };
    let started = started(world);
    for (id, execution) in &world.history.executions {
        let Some(start) = started.get(id) else { continue };
        let (Some(time), Some((ended, witness))) = (given(start, deadline), struck(execution, deadline)) else { continue };
        let took = ended.saturating_sub(start.began);
        if took + tolerance(time) >= time {
            seen.hold();
        } else {
            let found = mismatch(
                "end of the execution",
                format!("not before its deadline of {time:?}"),
                format!("{took:?} after it was asked for"),
            );
            seen.accuse(execution.case(start), [start.id, witness.id], vec![found]);
        }
    }
    seen
}

/// The first requests that were answered with each execution, by id.
fn started<'a>(world: &World<'a>) -> BTreeMap<String, &'a Exchange> {
    let mut started: BTreeMap<String, &'a Exchange> = BTreeMap::new();
    let mut answered = |id: String, exchange: &'a Exchange| {
        let first = started.entry(id).or_insert(exchange);
        if exchange.began < first.began {
            *first = exchange;
        }
    };
    for exchange in world.exchanges.iter().filter(|exchange| exchange.operation.as_deref() == Some(world.dialect.start)) {
        if let Some(id) = exchange.http().and_then(HttpReply::json).as_ref().and_then(|body| body[world.dialect.id].as_str()) {
            answered(id.to_owned(), exchange);
        }
    }
    for (id, execution) in &world.history.executions {
        let submits = |exchange: &Exchange| world.dialect.submit.is_some() && exchange.operation.as_deref() == world.dialect.submit;
        execution.readings.iter().filter(|reading| submits(reading.exchange)).for_each(|reading| answered(id.clone(), reading.exchange));
    }
    started
}

fn given(start: &Exchange, deadline: &Deadline) -> Option<Duration> {
    let keyed = start.request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("idempotency-key"));
    let request: Value = serde_json::from_slice(start.request.body.as_deref().filter(|_| !keyed)?).ok()?;
    request[deadline.member].as_u64().map(Duration::from_millis)
}

/// When the end for the deadline was first seen, and where.
fn struck<'a>(execution: &Execution<'a>, deadline: &Deadline) -> Option<(Duration, &'a Exchange)> {
    let says = |value: &Value| value["error"]["code"] == deadline.code;
    let told = execution.readings.iter().flat_map(|reading| reading.events.iter().map(move |event| (reading, event)));
    let told = told.filter(|(_, event)| event.is_terminal() && says(&event.value)).map(|(reading, event)| (event.at, reading.exchange));
    let shown = execution.snapshots.iter().filter(|snapshot| snapshot.is_terminal() && says(&snapshot.value));
    told.chain(shown.map(|snapshot| (snapshot.exchange.ended, snapshot.exchange))).min_by_key(|(at, exchange)| (*at, exchange.id))
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{Ask, model, model_judge};
    use crate::transcript::StreamEnd;
    use serde_json::{Value, json};

    /// Asked for at 100 ms.
    fn start(request: &Value) -> Ask {
        let answer = json!({ "execution_id": "e", "status": "accepted" });
        Ask::json("startExecution", "", 202, &answer).method("POST").sending(request).during(100, 110)
    }

    fn history(code: &str) -> Vec<Value> {
        let mut events = model("accepted routing running failed");
        events[3]["error"] = json!({ "code": code, "message": "", "retryable": false });
        events
    }

    fn told(at: u64) -> Ask {
        Ask::stream("e", &history("deadline_exceeded"), StreamEnd::Closed).during(120, at + 1).arriving(at)
    }

    fn shown(at: u64) -> Ask {
        let body = json!({ "execution_id": "e", "status": "failed", "error": { "code": "deadline_exceeded" } });
        Ask::json("getExecution", "e", 200, &body).during(at - 1, at)
    }

    fn judged(run: impl IntoIterator<Item = Ask>) -> (u64, usize) {
        let seen = model_judge("deadline-due", run);
        (seen.held, seen.findings.len())
    }

    #[test]
    fn an_end_at_its_time_holds_and_one_before_it_is_found_wherever_it_was_seen() {
        let asked = || start(&json!({ "deadline_ms": 300 }));
        assert_eq!(judged([asked(), told(400)]), (1, 0));
        assert_eq!(judged([asked(), told(376)]), (1, 0), "a timer may be a little fast");
        assert_eq!(judged([asked(), told(340)]), (0, 1));
        assert_eq!(judged([asked(), shown(340), told(900)]), (0, 1));
        assert_eq!(judged([asked(), shown(420), told(900)]), (1, 0));
    }

    #[test]
    fn a_submission_counts_from_its_request() {
        let submitted = |at: u64| {
            let stream = Ask::stream("", &history("deadline_exceeded"), StreamEnd::Closed);
            stream.operation("streamExecution").method("POST").sending(&json!({ "deadline_ms": 300 })).during(100, at + 1).arriving(at)
        };
        assert_eq!(judged([submitted(410)]), (1, 0));
        assert_eq!(judged([submitted(200)]), (0, 1));
    }

    #[test]
    fn an_execution_that_is_answered_twice_counts_from_the_first_request() {
        let again = start(&json!({ "deadline_ms": 300 })).during(300, 310);
        assert_eq!(judged([again.clone(), start(&json!({ "deadline_ms": 300 })), told(410)]), (1, 0));
        assert_eq!(judged([again, told(410)]), (0, 1));
    }

    #[test]
    fn other_ends_and_starts_that_are_not_known_say_nothing() {
        let asked = || start(&json!({ "deadline_ms": 300 }));
        let failed = Ask::stream("e", &history("internal_error"), StreamEnd::Closed).during(120, 141).arriving(140);
        assert_eq!(judged([asked(), failed]), (0, 0));
        assert_eq!(judged([start(&json!({})), told(140)]), (0, 0));
        assert_eq!(judged([asked().header("Idempotency-Key", "k"), told(140)]), (0, 0));
        assert_eq!(judged([told(140)]), (0, 0));
    }
}
