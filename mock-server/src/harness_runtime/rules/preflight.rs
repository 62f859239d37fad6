//! Whether a provider may be asked for what a request requires. Section 8 of the contract page.

use crate::harness_runtime::model::{Manifest, Support};
use crate::table::table;

table! {
    /// Rules about required capabilities. They are applied before anything is created.
    Preflight {
        /// HR-START-5 to -7: a request's names, each once, sorted by UTF-16 units.
        normalised: fn(&[String]) -> Vec<String> = normalised;
        /// HR-PREF-1 to -5: whether a name with this level passes; `None` when the manifest does not list it.
        passes: fn(Option<Support>) -> bool = passes;
        /// HR-PREF-6, -9 to -11: the names that do not pass, in the order of `normalised`.
        missing: fn(&Preflight, &Manifest, &[String]) -> Vec<String> = missing;
    }
}

pub(crate) fn normalised(names: &[String]) -> Vec<String> {
    let mut names = names.to_vec();
    names.sort_by(|left, right| left.encode_utf16().cmp(right.encode_utf16()));
    names.dedup();
    names
}

/// Native, emulated and degraded support pass. A caller that cannot stand degradation reads the manifest first.
pub(crate) fn passes(level: Option<Support>) -> bool {
    matches!(level, Some(Support::Native | Support::Emulated | Support::Degraded))
}

pub(crate) fn missing(preflight: &Preflight, manifest: &Manifest, names: &[String]) -> Vec<String> {
    let fails = |name: &String| !(preflight.passes)(manifest.capabilities.get(name).copied());
    (preflight.normalised)(names).into_iter().filter(fails).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_and_unsupported_fail() {
        assert!([Support::Native, Support::Emulated, Support::Degraded].into_iter().all(|level| passes(Some(level))));
        assert!(!passes(Some(Support::Unsupported)));
        assert!(!passes(None));
    }

    #[test]
    fn names_are_unique_and_sorted_by_utf16() {
        let names = ["\u{FB01}", "b", "\u{1F600}", "a", "b"].map(str::to_owned);
        assert_eq!(normalised(&names), ["a", "b", "\u{1F600}", "\u{FB01}"]);
    }
}
