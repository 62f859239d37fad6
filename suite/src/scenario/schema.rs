//! The second net under the decoders: what people write, against the JSON Schema that their editor knows. Finds what a decoder does not
//! look at: the kinds and ranges of values.

use super::diagnostic::Diagnostic;
use super::fields::Result;
use super::node::Node;
use proofmark_schema::validate::{self, Violation};
use std::sync::Arc;

/// The schema of a file of a contract folder, by the name of the file.
pub fn of_file(file: &str) -> &'static str {
    match file {
        "requirements.yaml" => "requirements.schema.json",
        "operations.yaml" => "operations.schema.json",
        "stimuli.yaml" => "stimuli.schema.json",
        "preambles.yaml" => "preambles.schema.json",
        _ => "scenario.schema.json",
    }
}

pub const PROFILE: &str = "profile.schema.json";

/// Reports the first place that `schema` does not allow.
pub fn check(node: &Node, file: &Arc<str>, schema: &str) -> Result<()> {
    let violations = match validate::check(schema, &node.to_json()) {
        Ok(violations) => violations,
        Err(error) => return Err(Diagnostic::new(node.place(file), error.to_string())),
    };
    match violations.first() {
        None => Ok(()),
        Some(violation) => {
            let place = node.deepest(&violation.pointer).place(file);
            Err(Diagnostic::new(place, told(violation)).hint(format!("{schema} says what may stand here")))
        }
    }
}

fn told(violation: &Violation) -> String {
    // What `false` stands for in a schema: the key is one of the language, and does not go with what is beside it.
    if violation.message.starts_with("False schema") {
        let key = violation.pointer.rsplit('/').next().unwrap_or_default();
        return format!("`{key}` does not go with what is beside it");
    }
    cut(&violation.message)
}

/// A validator repeats the whole value, which may be a scenario.
fn cut(message: &str) -> String {
    const LONGEST: usize = 160;
    let chars = message.chars().count();
    if chars <= LONGEST {
        return message.to_owned();
    }
    let (head, tail): (String, String) = (message.chars().take(LONGEST / 2).collect(), message.chars().skip(chars - LONGEST / 2).collect());
    format!("{head} ... {tail}")
}
