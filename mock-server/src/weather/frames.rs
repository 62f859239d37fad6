//! Event streams that are spelled in other legal ways.

use super::Dressed;
use crate::applied::Applied;
use crate::table::wrap;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How long a stream is silent before it shows that it lives.
const HEARTBEAT: Duration = Duration::from_millis(10);

pub(super) fn heartbeats<B: Dressed>(blueprint: &mut B, applied: &Applied) {
    wrap(&mut blueprint.wire().opening, applied, |reference, _| {
        Arc::new(move || [reference(), b": welcome\nretry: 1500\n\n".to_vec()].concat())
    });
    wrap(&mut blueprint.wire().frame, applied, |reference, _| {
        Arc::new(move |wire, frame| [b":\n".to_vec(), reference(wire, frame)].concat())
    });
    wrap(&mut blueprint.wire().idle, applied, |_reference, applied| {
        Arc::new(move || {
            applied.count();
            Some((HEARTBEAT, b": still here\n\n".to_vec()))
        })
    });
}

pub(super) fn crlf<B: Dressed>(blueprint: &mut B, applied: &Applied) {
    line_ends(blueprint, applied, "\r\n");
}

pub(super) fn cr<B: Dressed>(blueprint: &mut B, applied: &Applied) {
    line_ends(blueprint, applied, "\r");
}

pub(super) fn bom<B: Dressed>(blueprint: &mut B, applied: &Applied) {
    wrap(&mut blueprint.wire().opening, applied, |reference, applied| {
        Arc::new(move || {
            applied.count();
            ["\u{FEFF}".as_bytes().to_vec(), reference()].concat()
        })
    });
}

pub(super) fn multi_line_data<B: Dressed>(blueprint: &mut B, applied: &Applied) {
    lines(blueprint, applied, |line| match line.strip_prefix("data: ").map(serde_json::from_str::<Value>) {
        Some(Ok(document)) => spread(&document),
        _ => vec![line.to_owned()],
    });
}

fn line_ends<B: Dressed>(blueprint: &mut B, applied: &Applied, end: &'static str) {
    wrap(&mut blueprint.wire().stream, applied, |reference, applied| {
        Arc::new(move |bytes| {
            let mut spelled = Vec::new();
            for byte in reference(bytes) {
                match byte {
                    b'\n' => {
                        applied.count();
                        spelled.extend_from_slice(end.as_bytes());
                    }
                    other => spelled.push(other),
                }
            }
            spelled
        })
    });
}

/// Replaces each line of a frame by the lines that `replace` makes of it. The empty line at the end stays.
pub(crate) fn lines<B: Dressed>(blueprint: &mut B, applied: &Applied, replace: fn(&str) -> Vec<String>) {
    wrap(&mut blueprint.wire().frame, applied, |reference, applied| {
        Arc::new(move |wire, frame| {
            let bytes = reference(wire, frame);
            let text = String::from_utf8_lossy(&bytes);
            let mut spelled: String = text.lines().filter(|line| !line.is_empty()).flat_map(replace).map(|line| line + "\n").collect();
            spelled.push('\n');
            applied.count_if(spelled != text);
            spelled.into_bytes()
        })
    });
}

fn spread(document: &Value) -> Vec<String> {
    let pretty = serde_json::to_string_pretty(document).unwrap_or_else(|_| document.to_string());
    let spell = |(index, line): (usize, &str)| if index % 2 == 0 { format!("data: {line}") } else { format!("data:{line}") };
    pretty.lines().enumerate().map(spell).collect()
}
