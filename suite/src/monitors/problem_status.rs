//! `problem-status`: a documented code comes with its documented status.
//!
//! Judges the statuses of documented failures only, and only codes whose status is documented: other codes are an open set.

use super::World;
use super::finding::{Observation, mismatch};
use super::problem::failures;

/// Holds once for each failure whose documented code came with its status.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for (exchange, reply) in failures(world) {
        let body = reply.json().unwrap_or_default();
        let body = if world.dialect.error.is_empty() { &body } else { &body[world.dialect.error] };
        let Some((code, expected)) = body["code"].as_str().and_then(|code| world.problems.get_key_value(code)) else { continue };
        if reply.status == *expected {
            seen.hold();
        } else {
            let found = mismatch("status", format!("{expected}, the status of {code}"), reply.status);
            seen.accuse(&exchange.case, [exchange.id], vec![found]);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{Ask, accusers, held};
    use serde_json::json;

    fn refused(status: u16, code: &str) -> Ask {
        Ask::json("getExecution", "e", status, &json!({"code": code, "message": "no"}))
    }

    #[test]
    fn documented_pairs_hold() {
        let run = [refused(404, "NOT_FOUND"), refused(400, "VALIDATION_ERROR"), refused(409, "IDEMPOTENCY_CONFLICT")];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("problem-status", run), 3);
    }

    #[test]
    fn another_status_is_found() {
        assert_eq!(accusers([refused(400, "NOT_FOUND")]), ["problem-status"]);
        assert_eq!(accusers([refused(422, "IDEMPOTENCY_CONFLICT")]), ["problem-status"]);
    }

    #[test]
    fn other_codes_and_other_statuses_are_open() {
        let run = [refused(404, "GONE_FISHING"), refused(500, "NOT_FOUND"), refused(429, "NOT_FOUND"), refused(200, "NOT_FOUND")];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("problem-status", run), 0);
    }
}
