//! The words of the fixture language: the keys of every mapping that people write. The decoders read them from here, and the JSON
//! Schemas under `schema/json/` must know exactly the same ones (a test compares them).

pub const SCENARIO_FILE: &[&str] = &["contract", "area", "about", "scenarios"];
pub const SCENARIO: &[&str] = &["id", "title", "needs", "capabilities", "exclusive", "rounds", "vars", "cases", "no-defect", "steps"];

/// The keys that say what a step does; a step has exactly one of them.
pub const STEPS: &[&str] = &["given", "call", "raw", "follow", "submit", "await", "together", "check", "generate", "restart"];
/// What any step that makes a request may add.
pub const OUTCOME: &[&str] = &["expect", "save"];
pub const HTTP: &[&str] = &["path", "query", "headers", "body", "text", "method", "url"];
pub const GRPC: &[&str] = &["request", "metadata"];
pub const PREAMBLE: &[&str] = &["with"];
pub const RAW: &[&str] = &["raw"];
pub const FOLLOW: &[&str] = &["follow", "after", "headers", "until"];
pub const SUBMIT: &[&str] = &["submit", "headers", "until"];
pub const AWAIT: &[&str] = &["await", "until"];
pub const TOGETHER: &[&str] = &["together"];
pub const CHECK: &[&str] = &["check"];
pub const GENERATE: &[&str] = &["generate", "with"];
pub const RESTART: &[&str] = &["restart"];
/// What `generate` can name.
pub const GENERATORS: &[&str] = &["cursor-walk", "fold"];

pub const RULE: &[&str] = &["rule"];
pub const EXPECTATION: &[&str] = &[
    "of",
    "each",
    "when",
    "answered",
    "status",
    "code",
    "message",
    "headers",
    "trailers",
    "body",
    "text",
    "types",
    "order",
    "exactlyOne",
    "none",
    "some",
    "count",
    "first",
    "last",
    "every",
    "history",
    "value",
    "is",
    "same",
    "differ",
];
pub const WHEN: &[&str] = &["value", "is"];
pub const COUNT: &[&str] = &["of", "is"];

pub const PREAMBLES_FILE: &[&str] = &["contract", "preambles"];

pub const REQUIREMENTS_FILE: &[&str] = &["contract", "about", "requirements"];
pub const REQUIREMENT: &[&str] =
    &["id", "area", "level", "source", "text", "readings", "capabilities", "monitor", "unobservable", "no-defect"];
pub const SOURCE: &[&str] = &["document", "section", "normative-text"];

pub const STIMULI_FILE: &[&str] = &["contract", "request", "stimuli", "facts"];
pub const STIMULUS: &[&str] = &["about", "capability", "discovered", "example"];
pub const FACT: &[&str] = &["about", "discovered"];

pub const OPERATIONS_FILE: &[&str] = &["contract", "operations", "shapes", "problems", "executions", "detect"];
pub const OPERATION: &[&str] = &["method", "path", "success", "stream", "grpc"];
pub const SUCCESS: &[&str] = &["status", "rule", "shape"];
pub const SHAPE_RULE: &[&str] = &["rule", "when", "schema"];
pub const SHAPE_EACH: &[&str] = &["each", "shape"];
pub const DETECT: &[&str] = &["operation", "body"];
pub const EXECUTIONS: &[&str] = &[
    "start",
    "read",
    "list",
    "follow",
    "submit",
    "cancel",
    "sweep",
    "id",
    "state",
    "terminal-states",
    "terminal-event",
    "sequence",
    "cursor",
    "resume",
    "busy",
];

pub const PROFILE: &[&str] = &["contract", "stimuli", "facts", "restart"];
pub const PROFILE_STIMULUS: &[&str] = &["provider", "input", "config", "required-capabilities"];
/// What a stimulus may say where it is a start request itself.
pub const PROFILE_REQUEST: &[&str] = &["ability", "input", "requirements", "routing", "deadline_ms", "metadata", "extensions"];

pub const PROFILE_RESTART: &[&str] = &["durable", "start", "stop", "kill", "ready"];

/// What may stand in what is sent besides plain members.
pub const TEMPLATE: &[&str] = &["$merge", "$literal", "$base64", "$absent"];

/// Names that the engine gives by itself; nothing is saved or set under them.
pub const GIVEN: &[&str] = &["now", "unique", "repeat", "case", "stimulus", "fact", "tally", "interleaving", "null", "host", "base"];

/// Every mapping with a closed set of keys: the JSON Schema that describes it, and its keys.
pub const MAPPINGS: &[(&str, &[&[&str]])] = &[
    ("scenario.schema.json", &[SCENARIO_FILE]),
    ("scenario.schema.json#/$defs/scenario", &[SCENARIO]),
    ("scenario.schema.json#/$defs/given", &[&["given"], PREAMBLE, HTTP, GRPC, OUTCOME]),
    ("scenario.schema.json#/$defs/call", &[&["call"], HTTP, GRPC, OUTCOME]),
    ("scenario.schema.json#/$defs/raw", &[RAW, OUTCOME]),
    ("scenario.schema.json#/$defs/follow", &[FOLLOW, OUTCOME]),
    ("scenario.schema.json#/$defs/submit", &[SUBMIT, OUTCOME]),
    ("scenario.schema.json#/$defs/await", &[AWAIT, HTTP, OUTCOME]),
    ("scenario.schema.json#/$defs/together", &[TOGETHER, OUTCOME]),
    ("scenario.schema.json#/$defs/check", &[CHECK]),
    ("scenario.schema.json#/$defs/generate", &[GENERATE, OUTCOME]),
    ("scenario.schema.json#/$defs/restart", &[RESTART]),
    ("scenario.schema.json#/$defs/expectation", &[RULE, EXPECTATION]),
    ("scenario.schema.json#/$defs/condition", &[EXPECTATION]),
    ("scenario.schema.json#/$defs/when", &[WHEN]),
    ("scenario.schema.json#/$defs/count", &[COUNT]),
    ("preambles.schema.json", &[PREAMBLES_FILE]),
    ("requirements.schema.json", &[REQUIREMENTS_FILE]),
    ("requirements.schema.json#/$defs/requirement", &[REQUIREMENT]),
    ("requirements.schema.json#/$defs/source", &[SOURCE]),
    ("stimuli.schema.json", &[STIMULI_FILE]),
    ("stimuli.schema.json#/$defs/stimulus", &[STIMULUS]),
    ("stimuli.schema.json#/$defs/fact", &[FACT]),
    ("operations.schema.json", &[OPERATIONS_FILE]),
    ("operations.schema.json#/$defs/operation", &[OPERATION]),
    ("operations.schema.json#/$defs/success", &[SUCCESS]),
    ("operations.schema.json#/$defs/shapeRule", &[SHAPE_RULE]),
    ("operations.schema.json#/$defs/shapeEach", &[SHAPE_EACH]),
    ("operations.schema.json#/$defs/detect", &[DETECT]),
    ("operations.schema.json#/$defs/executions", &[EXECUTIONS]),
    ("profile.schema.json", &[PROFILE]),
    ("profile.schema.json#/$defs/stimulus", &[PROFILE_STIMULUS]),
    ("profile.schema.json#/$defs/restart", &[PROFILE_RESTART]),
    ("profile.schema.json#/$defs/request", &[PROFILE_REQUEST]),
];
