use super::*;

fn facts(body: Body) -> Facts {
    Facts { execution: "e".into(), body, loose_uri: None }
}

fn call(id: &str) -> Body {
    Body::ToolCall { id: id.into(), gated: true, keyed: true }
}

fn request(id: &str) -> Body {
    Body::Request { call: id.into() }
}

fn decision(id: &str, request_seq: i64) -> Body {
    Body::Decision { call: id.into(), request_seq, approved: true }
}

fn receipt(id: &str, request_seq: i64, decision_seq: i64) -> Body {
    Body::Receipt { call: id.into(), request_seq, decision_seq, code: 0, is_error: false }
}

/// The objections to bodies that stand at seq 1, 2, 3 and so on.
fn objections(bodies: &[Body]) -> Vec<Objection> {
    let mut evidence = Evidence::default();
    (1..).zip(bodies).flat_map(|(seq, body)| evidence.record(seq, &facts(body.clone()))).collect()
}

fn weights(bodies: &[Body]) -> Vec<(Weight, Rule)> {
    objections(bodies).into_iter().map(|objection| (objection.weight, objection.rule)).collect()
}

#[test]
fn gates_one_after_the_other_are_fine() {
    let bodies = [
        call("a"),
        request("a"),
        decision("a", 2),
        receipt("a", 2, 3),
        call("b"),
        request("b"),
        Body::Error,
        decision("b", 6),
        receipt("b", 6, 8),
        Body::End,
    ];
    assert_eq!(objections(&bodies), []);
}

/// The text has one gate at a time; two are a habit that nobody forbids in so many words, and each is judged on its own.
#[test]
fn two_gates_at_once_are_warned_of_and_judged_each() {
    let bodies = [
        call("a"),
        request("a"),
        call("b"),
        request("b"),
        decision("b", 4),
        receipt("b", 4, 5),
        decision("a", 2),
        receipt("a", 2, 7),
        Body::End,
    ];
    assert_eq!(weights(&bodies), [(Weight::Warning, Rule::ApprovalOrder); 4]);
    let mut wrong = bodies.to_vec();
    wrong[7] = receipt("a", 4, 7);
    assert_eq!(weights(&wrong).last(), Some(&(Weight::Broken, Rule::ApprovalReceipt)));
}

#[test]
fn executions_are_judged_apart() {
    let mut evidence = Evidence::default();
    let of = |execution: &str, body: Body| Facts { execution: execution.into(), body, loose_uri: None };
    for (seq, facts) in (1..).zip([of("e1", call("a")), of("e2", Body::Input), of("e2", Body::End), of("e1", request("a"))]) {
        assert_eq!(evidence.record(seq, &facts), []);
    }
}

#[test]
fn sessions_may_be_suspended_while_a_gate_is_open() {
    assert_eq!(objections(&[call("a"), request("a"), Body::Lifecycle, Body::Fork, Body::Unknown, decision("a", 2)]), []);
}

#[test]
fn records_from_before_the_gate_are_noted() {
    assert_eq!(weights(&[request("a")]), [(Weight::Note, Rule::ApprovalRequest)]);
    assert_eq!(weights(&[decision("a", 0)]), [(Weight::Note, Rule::ApprovalDecision)]);
    assert_eq!(weights(&[decision("a", 1)]), [(Weight::Broken, Rule::ApprovalDecision)]);
    let legacy = [call("a"), request("a"), decision("a", 0), receipt("a", 0, 0)];
    assert_eq!(weights(&legacy), [(Weight::Note, Rule::ApprovalDecision), (Weight::Note, Rule::ApprovalReceipt)]);
}

#[test]
fn a_wrong_step_is_objected_to_once() {
    let bodies = [call("a"), request("b"), decision("b", 2), receipt("a", 2, 3), Body::End];
    assert_eq!(weights(&bodies), [(Weight::Broken, Rule::ApprovalRequest)]);
}

#[test]
fn turns_without_ids_follow_each_other() {
    let mut evidence = Evidence::default();
    let of = |body: Body| Facts { execution: String::new(), body, loose_uri: None };
    let start = || Body::Start { input_count: Some(1) };
    for (seq, body) in (1..).zip([start(), Body::Input, Body::End, start(), Body::Input, Body::Error, start(), Body::Input, Body::End]) {
        assert_eq!(evidence.record(seq, &of(body)), []);
    }
}

#[test]
fn memory_has_bounds_that_are_named_once() {
    let ordinary = |id: usize| Body::ToolCall { id: id.to_string(), gated: false, keyed: true };
    let many: Vec<Body> = (0..CALLS + 50).map(ordinary).collect();
    assert_eq!(weights(&many), [(Weight::Note, Rule::Bound)]);
    let open: Vec<Body> = (0..=OPEN).map(|id| call(&id.to_string())).collect();
    assert_eq!(weights(&open).iter().filter(|(weight, _)| *weight == Weight::Note).count(), 1);

    let mut evidence = Evidence::default();
    for number in 0..5 * EXECUTIONS {
        evidence.record(1, &Facts { execution: number.to_string(), body: call("a"), loose_uri: None });
    }
    assert_eq!(evidence.executions.len(), EXECUTIONS);
}
