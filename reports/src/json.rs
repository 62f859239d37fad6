//! The published report format: the model as JSON, described by `schema/json/report.schema.json`.

use crate::model::Report;
use crate::text;

/// The report as indented JSON with a line end. Characters that could steer a terminal are written as JSON escapes, which changes no value.
#[expect(clippy::missing_panics_doc, reason = "serialising the model cannot fail: its maps have string keys")]
pub fn render(report: &Report) -> String {
    let plain = serde_json::to_string_pretty(report).expect("every map of the model has string keys");
    let mut out = String::with_capacity(plain.len() + 1);
    for c in plain.chars() {
        // Outside its strings JSON has no such character but the line end, and inside them the line end is already escaped.
        if c != '\n' && text::steers(c) {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out.push('\n');
    out
}
