//! Event streams that are spelled in other legal ways.

use super::{Entry, weather, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How long a stream is silent before it shows that it lives.
const HEARTBEAT: Duration = Duration::from_millis(10);

pub(super) static WEATHERS: &[Entry] = &[
    Entry {
        weather: weather("heartbeats", "Comments and `retry:` come between the events of a stream, and while nothing happens."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.wire.opening, applied, |reference, _| {
                Arc::new(move || [reference(), b": welcome\nretry: 1500\n\n".to_vec()].concat())
            });
            wrap(&mut blueprint.wire.frame, applied, |reference, _| {
                Arc::new(move |wire, frame| [b":\n".to_vec(), reference(wire, frame)].concat())
            });
            wrap(&mut blueprint.wire.idle, applied, |_reference, applied| {
                Arc::new(move || {
                    applied.count();
                    Some((HEARTBEAT, b": still here\n\n".to_vec()))
                })
            });
        },
    },
    Entry {
        weather: weather("crlf", "The lines of a stream end in CR LF."),
        install: |blueprint, applied| line_ends(blueprint, applied, "\r\n"),
    },
    Entry {
        weather: weather("cr", "The lines of a stream end in CR alone."),
        install: |blueprint, applied| line_ends(blueprint, applied, "\r"),
    },
    Entry {
        weather: weather("bom", "A stream begins with a byte order mark."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.wire.opening, applied, |reference, applied| {
                Arc::new(move || {
                    applied.count();
                    ["\u{FEFF}".as_bytes().to_vec(), reference()].concat()
                })
            });
        },
    },
    Entry {
        weather: weather("multi-line-data", "The data of a frame is spread over several lines, some without a space after the colon."),
        install: |blueprint, applied| {
            lines(blueprint, applied, |line| match line.strip_prefix("data: ").map(serde_json::from_str::<Value>) {
                Some(Ok(document)) => spread(&document),
                _ => vec![line.to_owned()],
            });
        },
    },
    Entry {
        weather: weather("no-event-field", "A frame has data and nothing else."),
        install: |blueprint, applied| {
            lines(blueprint, applied, |line| {
                let other = line.starts_with("event:") || line.starts_with("id:");
                if other { Vec::new() } else { vec![line.to_owned()] }
            });
        },
    },
    Entry {
        weather: weather("duplicate-at-seam", "The last event of the backlog comes once more when a stream goes live."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.streaming.live_from, applied, |reference, applied| {
                Arc::new(move |progress| {
                    let position = reference(progress);
                    let sequence = position.checked_sub(1).and(u64::try_from(position).ok());
                    let repeats = applied.count_if(sequence.is_some_and(|sequence| sequence > progress.after));
                    position - usize::from(repeats)
                })
            });
        },
    },
];

fn line_ends(blueprint: &mut Blueprint, applied: &Applied, end: &'static str) {
    wrap(&mut blueprint.wire.stream, applied, |reference, applied| {
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
fn lines(blueprint: &mut Blueprint, applied: &Applied, replace: fn(&str) -> Vec<String>) {
    wrap(&mut blueprint.wire.frame, applied, |reference, applied| {
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
