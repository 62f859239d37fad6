//! What the monitors have to know of a contract's words: which operations read histories and executions, how members are called, which
//! event ends a run. One constant a contract; the monitors themselves speak of histories only.

use serde_json::Value;

/// The words of one contract.
#[derive(Debug)]
pub(super) struct Dialect {
    /// The operation that lists events as JSON, where there is one.
    pub(super) list: Option<&'static str>,
    pub(super) follow: &'static str,
    /// The operation whose answer is the stream of the execution that it starts, where there is one.
    pub(super) submit: Option<&'static str>,
    /// Operations whose success shows an execution.
    pub(super) snapshots: &'static [&'static str],
    pub(super) start: &'static str,
    /// The id and the state of an execution, as members of what shows it.
    pub(super) id: &'static str,
    pub(super) state: &'static str,
    /// The member of an event that names its execution.
    pub(super) owner: &'static str,
    /// The terminal state that an event announces.
    pub(super) outcome: fn(&Value) -> Option<&'static str>,
    /// Whether the numbers of a history begin at 1 and leave none out; otherwise they only rise.
    pub(super) gapless: bool,
    /// Whether `Last-Event-ID` is a cursor.
    pub(super) resumes: bool,
    /// Members by which two sightings of one execution are compared.
    pub(super) execution: &'static [&'static str],
    /// Members of every event by which two sightings of it are compared.
    pub(super) envelope: &'static [&'static str],
    /// Operations that document failures, and how they are asked for.
    pub(super) failing: &'static [(&'static str, &'static str)],
    /// Whose 404 says that the route is not there.
    pub(super) creation: &'static str,
    /// The statuses of documented failures.
    pub(super) statuses: &'static [u16],
    /// The member that holds code and message; the body itself when empty.
    pub(super) error: &'static str,
    /// How an execution is given a deadline, where it can be.
    pub(super) deadline: Option<Deadline>,
}

/// The words of deadlines.
#[derive(Debug)]
pub(super) struct Deadline {
    /// The member of a start request, in milliseconds.
    pub(super) member: &'static str,
    /// The code of the error of an execution that ended for it.
    pub(super) code: &'static str,
}

pub(super) const HARNESS: Dialect = Dialect {
    list: Some("listEvents"),
    follow: "followEvents",
    submit: None,
    snapshots: &["startExecution", "getExecution", "cancelExecution", "respondAction"],
    start: "startExecution",
    id: "id",
    state: "state",
    owner: "executionId",
    outcome: |event| match event["type"].as_str()? {
        "run.completed" => Some("succeeded"),
        "run.failed" => Some("failed"),
        "run.cancelled" => Some("cancelled"),
        _ => None,
    },
    gapless: true,
    resumes: false,
    // `updatedAt` is not among them: nothing says that only a change of state may move it.
    execution: &[
        "id",
        "conversationId",
        "providerId",
        "state",
        "input",
        "requiredCapabilities",
        "effectiveConfig",
        "createdAt",
        "startedAt",
        "endedAt",
        "finalOutput",
        "error",
    ],
    envelope: &["type", "id", "time"],
    failing: &[
        ("createConversation", "POST"),
        ("getConversation", "GET"),
        ("startExecution", "POST"),
        ("getExecution", "GET"),
        ("listArtifacts", "GET"),
        ("cancelExecution", "POST"),
        ("listEvents", "GET"),
        ("followEvents", "GET"),
        ("respondAction", "POST"),
    ],
    creation: "createConversation",
    statuses: &[400, 404, 409, 422],
    error: "",
    deadline: None,
};

pub(super) const MODEL: Dialect = Dialect {
    list: None,
    follow: "followEvents",
    submit: Some("streamExecution"),
    snapshots: &["getExecution"],
    start: "startExecution",
    id: "execution_id",
    state: "status",
    owner: "execution_id",
    outcome: |event| match (event["type"].as_str()?, event["status"].as_str()) {
        ("execution.completed", _) => Some("succeeded"),
        ("execution.failed", Some("cancelled")) => Some("cancelled"),
        ("execution.failed", _) => Some("failed"),
        _ => None,
    },
    gapless: false,
    resumes: true,
    execution: &["execution_id", "status", "created_at", "last_sequence", "target", "error", "result", "artifacts", "usage"],
    envelope: &["type", "status", "time"],
    failing: &[("startExecution", "POST"), ("streamExecution", "POST"), ("getExecution", "GET"), ("followEvents", "GET")],
    creation: "startExecution",
    statuses: &[400, 404],
    error: "error",
    deadline: Some(Deadline { member: "deadline_ms", code: "deadline_exceeded" }),
};

/// The words of `contract`; those of harness-runtime where the contract has no executions.
pub(super) fn of(contract: &str) -> &'static Dialect {
    if contract == crate::contracts::model_runtime::CONTRACT { &MODEL } else { &HARNESS }
}
