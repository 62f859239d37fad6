//! A folder of wrong files, and the exact message for each: where, what, how to mend it. `bad/base/tiny` is a small correct contract;
//! every other file of `bad` takes the place of one of its files. Each page of the goldens also says what the JSON Schema makes of the file.

use proofmark::check::catalogues;
use proofmark::commands::CommandError;
use proofmark::commands::options::{Loaded, read_profile};
use proofmark::fixtures::Fixtures;
use proofmark::profile;
use proofmark::scenario::node::Node;
use proofmark::scenario::schema;
use proofmark_reports::exit;
use proofmark_schema::validate;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

fn folder(name: &str) -> BTreeMap<String, String> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/written/bad").join(name);
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    files.map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())).collect()
}

/// The correct contract, with `text` as the file `name`.
fn fixtures_with(name: &str, text: &str) -> Fixtures {
    let mut files: BTreeMap<String, String> = folder("base/tiny").into_iter().map(|(file, text)| (format!("tiny/{file}"), text)).collect();
    files.insert(name.to_owned(), text.to_owned());
    Fixtures::from_texts(files.iter().map(|(file, text)| (file.as_str(), text.as_str())))
}

fn loaded() -> Loaded {
    let fixtures = fixtures_with("unused", "");
    let catalogues = catalogues(&fixtures).unwrap();
    Loaded { fixtures, catalogues }
}

/// What the schema says of the document, whatever the decoder said before.
fn seen_by_schema(document: Option<Node>, schema: &str) -> String {
    let Some(node) = document else { return "no document".to_owned() };
    match validate::check(schema, &node.to_json()).unwrap().first() {
        Some(violation) => format!("refused at {}", if violation.pointer.is_empty() { "the top" } else { &violation.pointer }),
        None => "accepted".to_owned(),
    }
}

/// One page of goldens: every wrong file of one kind.
fn page(kind: &str, entry: impl Fn(&str, &str) -> (CommandError, String)) -> String {
    let files = folder(kind);
    assert!(!files.is_empty());
    files.iter().fold(String::new(), |mut page, (name, text)| {
        let (error, schema) = entry(name, text);
        assert_eq!(error.exit_code(), exit::USAGE, "{name}");
        writeln!(page, "--- {name}\n{}schema: {schema}\n", error.render()).unwrap();
        page
    })
}

/// A wrong file in the place of `file` of the contract.
fn page_of_file(kind: &str, file: &str) -> String {
    let path = format!("tiny/{file}");
    page(kind, |name, text| {
        let error = catalogues(&fixtures_with(&path, text)).err().unwrap_or_else(|| panic!("{kind}/{name} is accepted"));
        assert!(error.place.line >= 1 && error.place.column >= 1, "{name}: {error}");
        (CommandError::from(error), seen_by_schema(Node::parse(text).ok(), schema::of_file(file)))
    })
}

#[test]
fn the_contract_itself_is_correct() {
    let loaded = loaded();
    assert_eq!(loaded.catalogues.keys().collect::<Vec<_>>(), ["tiny"]);
    assert!(read_profile("contract = \"tiny\"\n[stimuli.falls-down]\nprovider = \"p\"\n", "p.toml", &loaded, None).is_ok());
}

#[test]
fn scenarios() {
    insta::assert_snapshot!(page_of_file("scenario", "shelf.yaml"));
}

#[test]
fn requirements() {
    insta::assert_snapshot!(page_of_file("requirements", "requirements.yaml"));
}

#[test]
fn operations() {
    insta::assert_snapshot!(page_of_file("operations", "operations.yaml"));
}

#[test]
fn stimuli() {
    insta::assert_snapshot!(page_of_file("stimuli", "stimuli.yaml"));
}

#[test]
fn preambles() {
    insta::assert_snapshot!(page_of_file("preambles", "preambles.yaml"));
}

#[test]
fn profiles() {
    let loaded = loaded();
    let page = page("profile", |name, text| {
        let error = read_profile(text, name, &loaded, None).err().unwrap_or_else(|| panic!("{name} is accepted"));
        (error, seen_by_schema(profile::parse(text, &Arc::from(name)).ok(), schema::PROFILE))
    });
    insta::assert_snapshot!(page);
}

#[test]
fn a_missing_file_is_named() {
    let fixtures = Fixtures::from_texts([("tiny/requirements.yaml", folder("base/tiny")["requirements.yaml"].as_str())]);
    let error = catalogues(&fixtures).err().map(|error| error.to_string());
    assert_eq!(error.as_deref(), Some("tiny/operations.yaml:1:1: this file is missing"));
}

/// A mistake that lies in a shared file is shown there, not in the scenario that uses it.
#[test]
fn a_mistake_in_a_preamble_is_shown_in_the_preamble() {
    let text =
        "contract: tiny\npreambles:\n  thing:\n    - given: putThing\n      body: {}\n      expect: [{ rule: T-NONE-1, status: 201 }]\n";
    let scenario = "contract: tiny\narea: shelf\nabout: Things.\nscenarios:\n  - { id: a, title: A thing, steps: [{ given: thing }] }\n";
    let mut files: BTreeMap<String, String> = folder("base/tiny").into_iter().map(|(file, text)| (format!("tiny/{file}"), text)).collect();
    files.insert("tiny/preambles.yaml".to_owned(), text.to_owned());
    files.insert("tiny/shelf.yaml".to_owned(), scenario.to_owned());
    let error = catalogues(&Fixtures::from_texts(files.iter().map(|(f, t)| (f.as_str(), t.as_str())))).unwrap_err();
    assert_eq!(error.to_string(), "tiny/preambles.yaml:6:16: there is no requirement `T-NONE-1`");
}
