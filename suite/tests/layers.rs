//! The rooms of the house and their doors, read from manifests and sources as text: who may name whom.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What each room may import of the others.
const DOORS: &[(&str, &[&str])] =
    &[("schema", &[]), ("reports", &["schema"]), ("mock-server", &["schema"]), ("suite", &["schema", "reports", "mock-server"])];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// How sources import from a room.
fn import_of(room: &str) -> String {
    if room == "suite" { "proofmark::".to_owned() } else { format!("proofmark_{}::", room.replace('-', "_")) }
}

/// Every Rust source below `dir`, by its path from there.
fn sources(dir: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let name = entry.strip_prefix(dir).unwrap().to_string_lossy().replace('\\', "/");
                found.insert(name, fs::read_to_string(&entry).unwrap());
            }
        }
    }
    assert!(!found.is_empty(), "{} holds no sources", dir.display());
    found
}

/// The code of a file without its comments: a comment may speak of anything.
fn code(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Whether `name` stands in `text`, and not as the end of a longer name.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

/// Names of the dependencies in the sections of a manifest whose title `section` accepts.
fn dependencies(room: &str, section: fn(&str) -> bool) -> BTreeSet<String> {
    let manifest = fs::read_to_string(root().join(room).join("Cargo.toml")).unwrap();
    let mut inside = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if let Some(title) = line.strip_prefix('[') {
            inside = section(title.trim_end_matches(']'));
        } else if inside && let Some((name, _)) = line.split_once(['=', '.']) {
            found.insert(name.trim().to_owned());
        }
    }
    found
}

#[test]
fn every_room_is_known() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let members = manifest.lines().find(|line| line.starts_with("members = ")).unwrap();
    // What shows how to use a room is none.
    let members: BTreeSet<&str> = members.split('"').skip(1).step_by(2).filter(|member| !member.contains("/examples/")).collect();
    assert_eq!(members, DOORS.iter().map(|(room, _)| *room).collect());
}

#[test]
fn manifests_open_no_other_doors() {
    for (room, doors) in DOORS {
        let packages = |room: &&str| if *room == "suite" { "proofmark".to_owned() } else { format!("proofmark-{room}") };
        let allowed: BTreeSet<String> = doors.iter().map(packages).collect();
        for section in [|title: &str| title.ends_with("dependencies") && !title.contains("dev-"), |title: &str| title.contains("dev-")] {
            let ours: BTreeSet<String> =
                dependencies(room, section).into_iter().filter(|name| name == "proofmark" || name.starts_with("proofmark-")).collect();
            assert!(ours.is_subset(&allowed), "{room} imports {ours:?}");
        }
    }
}

#[test]
fn sources_open_no_other_doors() {
    for (room, doors) in DOORS {
        for folder in ["src", "tests", "benches"].map(|folder| root().join(room).join(folder)).iter().filter(|folder| folder.is_dir()) {
            for (file, text) in sources(folder) {
                for (other, _) in DOORS.iter().filter(|(other, _)| other != room && !doors.contains(other)) {
                    assert!(!names(&code(&text), &import_of(other)), "{room}: {file} names {other}");
                }
            }
        }
    }
}

/// The judge never borrows from the oracle.
#[test]
fn one_module_of_the_suite_knows_the_reference_server() {
    let knowing: Vec<String> = sources(&root().join("suite/src"))
        .into_iter()
        .filter(|(_, text)| names(&code(text), "proofmark_mock_server"))
        .map(|(file, _)| file)
        .collect();
    assert_eq!(knowing, ["reference.rs"]);
}

/// And it can be built without the oracle at all.
#[test]
fn the_reference_server_can_be_left_out() {
    let manifest = fs::read_to_string(root().join("suite/Cargo.toml")).unwrap();
    assert!(manifest.contains("proofmark-mock-server = { workspace = true, optional = true }"));
    assert!(manifest.contains("reference-server = [\"dep:proofmark-mock-server\"]"));
    let library = fs::read_to_string(root().join("suite/src/lib.rs")).unwrap();
    for module in ["reference", "selftest"] {
        assert!(library.contains(&format!("#[cfg(feature = \"reference-server\")]\npub mod {module};")), "{module}");
    }
}

/// What is sent and judged are dynamic messages: a mistake in generated code would hide itself.
#[test]
fn the_suite_speaks_through_descriptors_and_not_through_generated_messages() {
    let in_tests = |file: &str| file.split('/').any(|part| part == "tests");
    for (file, text) in sources(&root().join("suite/src")).into_iter().filter(|(file, _)| !in_tests(file)) {
        let code = code(text.split("#[cfg(test)]").next().unwrap_or_default());
        for (_, rest) in code.match_indices("proofmark_schema::agentsessions").map(|(at, path)| code.split_at(at + path.len())) {
            let name = rest.trim_start_matches("::").trim_start_matches('{').trim();
            assert!(
                name.starts_with("descriptors"),
                "{file} names proofmark_schema::agentsessions::{}",
                name.lines().next().unwrap_or_default()
            );
        }
        assert!(!names(&code, "include_proto"), "{file} generates messages of its own");
    }
}

/// What differs between contracts stands in fixtures, in `contracts/` and in the dialect of the monitors.
#[test]
fn the_engine_names_no_http_contract() {
    for module in ["drivers", "judge", "runner", "scenario"] {
        for (file, text) in sources(&root().join("suite/src").join(module)) {
            let code = code(text.split("#[cfg(test)]").next().unwrap_or_default());
            for contract in ["harness-runtime", "harness_runtime", "model-runtime", "model_runtime"] {
                assert!(!code.contains(contract), "{module}/{file} names {contract}");
            }
        }
    }
}

/// Nothing below `main` prints or exits: results are values.
#[test]
fn only_main_prints_and_exits() {
    for (room, _) in DOORS {
        for (file, text) in sources(&root().join(room).join("src")).into_iter().filter(|(file, _)| file != "main.rs") {
            let code = code(&text);
            for word in ["println!", "eprintln!", "print!", "eprint!", "dbg!", "process::exit"] {
                assert!(!names(&code, word), "{room}: {file} uses {word}");
            }
        }
    }
}
