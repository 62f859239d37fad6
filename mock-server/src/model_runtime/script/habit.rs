//! What providers do without a script.

use super::Step;
use crate::json::object;
use crate::model_runtime::model::{Request, event};
use serde_json::{Value, json};

/// The input comes back in at most so many pieces.
const PIECES: usize = 3;

/// All texts of the input in a row.
pub(crate) fn spoken(request: &Request) -> String {
    request.input.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
}

/// Says the input back, and counts.
pub(crate) fn text(request: &Request) -> Vec<Step> {
    let pieces = pieces(&spoken(request));
    let facts = json!([
        { "unit": "input_token", "quantity": request.input.len(), "source": "runtime", "complete": true },
        { "unit": "output_token", "quantity": pieces.len(), "source": "runtime", "complete": true },
    ]);
    let deltas = pieces.into_iter().map(|piece| emit(event::DELTA, [("output_index", json!(0)), ("delta", json!(piece))]));
    deltas.chain([emit(event::USAGE, [("facts", facts)])]).collect()
}

/// Queues, works, and has something to fetch.
pub(crate) fn media() -> Vec<Step> {
    let artifact = json!({ "uri": "https://media.example/made/1", "media_type": "image/png", "name": "made.png" });
    vec![
        emit(event::PROGRESS, [("phase", json!("queued"))]),
        emit(event::PROGRESS, [("phase", json!("processing")), ("progress", json!(0.5))]),
        emit(event::RESULT, [("result", json!({ "made": 1 })), ("artifacts", json!([artifact]))]),
        emit(event::USAGE, [("facts", json!([{ "unit": "image_count", "quantity": 1, "source": "provider", "complete": true }]))]),
    ]
}

fn emit<const N: usize>(kind: &str, members: [(&str, Value); N]) -> Step {
    Step::Emit { kind: kind.to_owned(), data: object(members) }
}

/// Cuts a text between characters; an empty one is one empty piece.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = letters.len().div_ceil(PIECES).max(1);
    let pieces: Vec<String> = letters.chunks(size).map(|piece| piece.iter().collect()).collect();
    if pieces.is_empty() { vec![String::new()] } else { pieces }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_whole() {
        assert_eq!(pieces(""), [""]);
        let long = "x\u{1F600}".repeat(50);
        assert_eq!(pieces(&long).concat(), long);
        assert!(pieces(&long).len() <= PIECES);
    }
}
