//! `${interleaving}`: what a provider is to emit, drawn by the seed: deltas on several output indices mixed with tool calls and their
//! fragments, as steps `{ delta, index }`, `{ call, name }` and `{ arguments, of }`. A profile hands them to its target.

use super::settings::Random;
use serde_json::{Value, json};

/// Pieces of text, some of them empty, some beyond ASCII, some that would be JSON if they stood alone.
const PIECES: &[&str] = &["a", "Hello ", "", "wörld", " \n", "{\"x\":", "1}", "\u{1f980}", "\"", "\\u0041", "null", "  ", "\r\n"];
/// Gaps among the indices are part of the matter.
const INDICES: &[u64] = &[0, 1, 2, 5, 11];
const NAMES: &[&str] = &["search", "read_file", "search", "run"];

/// Between 18 and 46 steps; every tool call is started before its fragments, and once. The last call has whole arguments that no writer of
/// JSON would spell in the same way.
pub fn draw(random: &mut Random) -> Value {
    let indices = 2 + pick(random, INDICES.len() - 1);
    let calls = pick(random, NAMES.len() + 1);
    let mut started: Vec<usize> = Vec::new();
    let mut steps: Vec<Value> = Vec::new();
    for _ in 0..12 + pick(random, 29) {
        let text = PIECES[pick(random, PIECES.len())];
        let step = match random.below(3) {
            0 if started.len() < calls => {
                started.push(started.len());
                let call = started.len() - 1;
                json!({ "call": format!("call-{call}"), "name": NAMES[call] })
            }
            1 if !started.is_empty() => {
                let call = started[pick(random, started.len())];
                json!({ "arguments": text, "of": format!("call-{call}") })
            }
            _ => json!({ "delta": text, "index": INDICES[pick(random, indices)] }),
        };
        steps.push(step);
    }
    steps.push(json!({ "call": "call-whole", "name": "write_file" }));
    steps.push(json!({ "arguments": "{ \"size\" : 1.50,\r\n", "of": "call-whole" }));
    steps.push(json!({ "delta": "one\r\ntwo\r", "index": INDICES[pick(random, indices)] }));
    steps.push(json!({ "arguments": "  \"name\": \"\\u0041\" }", "of": "call-whole" }));
    steps.push(json!({ "delta": "\n", "index": INDICES[0] }));
    // Without any text there would be nothing to compare.
    steps.push(json!({ "delta": "end", "index": INDICES[0] }));
    Value::Array(steps)
}

fn pick(random: &mut Random, bound: usize) -> usize {
    let bound = u64::try_from(bound).unwrap_or(1).max(1);
    usize::try_from(random.below(bound)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_follow_their_start() {
        for seed in 0..50 {
            let drawn = draw(&mut Random::new(seed, 3));
            let mut started: Vec<&Value> = Vec::new();
            for event in drawn.as_array().unwrap() {
                if event["call"].is_string() {
                    assert!(!started.contains(&&event["call"]));
                    started.push(&event["call"]);
                } else if event["arguments"].is_string() {
                    assert!(started.contains(&&event["of"]));
                } else {
                    assert!(event["delta"].is_string() && event["index"].is_u64());
                }
            }
        }
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(draw(&mut Random::new(1, 1)), draw(&mut Random::new(1, 1)));
        assert_ne!(draw(&mut Random::new(1, 1)), draw(&mut Random::new(2, 1)));
    }
}
