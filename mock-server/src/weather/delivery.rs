//! Answers that come later, in other pieces, or by another path.

use super::Dressed;
use crate::applied::Applied;
use crate::table::wrap;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

pub(super) fn split_frames<B: Dressed>(blueprint: &mut B, applied: &Applied) {
    let dice = blueprint.dice();
    wrap(&mut blueprint.wire().pieces, applied, |reference, applied| {
        Arc::new(move |body| {
            let mut rest: &[u8] = &reference(body).concat();
            let mut pieces = Vec::new();
            while !rest.is_empty() {
                let length = usize::try_from(1 + dice.below(24)).unwrap_or(1).min(rest.len());
                let (piece, tail) = rest.split_at(length);
                pieces.push(piece.to_vec());
                rest = tail;
            }
            applied.count_if(pieces.len() > 1);
            pieces
        })
    });
    let dice = blueprint.dice();
    blueprint.wire().stride = Arc::new(move || usize::try_from(1 + dice.below(64)).ok());
}

pub(super) fn latency<B: Dressed>(blueprint: &mut B, applied: &Applied) {
    let dice = blueprint.dice();
    wrap(&mut blueprint.wire().delay, applied, |reference, applied| {
        Arc::new(move || {
            applied.count();
            reference() + Duration::from_micros(dice.below(8000))
        })
    });
}

pub(super) fn connection_close<B: Dressed>(blueprint: &mut B, applied: &Applied) {
    wrap(&mut blueprint.wire().answer, applied, |reference, applied| {
        Arc::new(move |asked, answer| {
            applied.count();
            let mut answer = reference(asked, answer);
            answer.set_header("connection", "close");
            answer
        })
    });
}

pub(super) fn gzip<B: Dressed>(blueprint: &mut B, applied: &Applied) {
    wrap(&mut blueprint.wire().answer, applied, |reference, applied| {
        Arc::new(move |asked, answer| {
            let mut answer = reference(asked, answer);
            let json = answer.headers.iter().any(|(name, value)| name == "content-type" && value.contains("json"));
            let wanted = json && accepts_gzip(&asked.header("accept-encoding"));
            if let Some(compressed) = wanted.then(|| compress(&answer.body)).flatten() {
                applied.count();
                answer.body = compressed;
                answer.set_header("content-encoding", "gzip");
                answer.set_header("vary", "accept-encoding");
            }
            answer
        })
    });
}

pub(super) fn base_path<B: Dressed>(blueprint: &mut B, applied: &Applied) {
    wrap(&mut blueprint.wire().mount, applied, |reference, applied| {
        Arc::new(move || {
            applied.count();
            format!("/some/base{}", reference())
        })
    });
}

/// Whether a list of codings names gzip without refusing it.
fn accepts_gzip(accepted: &str) -> bool {
    accepted.split(',').any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, "q=1"));
        let refused = quality.trim().strip_prefix("q=").and_then(|quality| quality.parse().ok()).is_some_and(|quality: f32| quality <= 0.0);
        name.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}

fn compress(body: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).ok()?;
    encoder.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_used_only_when_asked_for() {
        assert!(accepts_gzip("br, GZIP"));
        assert!(accepts_gzip("gzip;q=0.5"));
        assert!(!accepts_gzip("gzip;q=0, identity"));
        assert!(!accepts_gzip(""));
    }
}
