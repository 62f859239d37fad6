//! The layers keep to themselves.

use std::path::{Path, PathBuf};

/// The sources below a folder of this module, tests aside.
fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model_runtime").join(folder);
    let mut found = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name != "tests.rs") {
                let text = std::fs::read_to_string(&path).expect("a source");
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

fn assert_absent(folder: &str, words: &[&str]) {
    for (path, text) in sources(folder) {
        for word in words {
            assert!(!text.to_lowercase().contains(word), "{} mentions {word}", path.display());
        }
    }
}

#[test]
fn the_reference_does_not_know_of_defects_or_weather() {
    for folder in ["rules", "machine", "runtime", "http", "providers", "script"] {
        assert_absent(folder, &["defect", "weather", "crate::applied"]);
    }
}

#[test]
fn rules_and_machine_are_pure() {
    for folder in ["rules", "machine"] {
        assert_absent(folder, &["tokio", "axum", "async ", "std::net", "std::time", "timestamp::now", "uuid", "mutex"]);
    }
}

#[test]
fn the_wire_decides_nothing() {
    assert_absent("http", &["change::", "step {", ".apply(", "status::"]);
}
