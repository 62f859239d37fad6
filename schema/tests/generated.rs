//! What is checked in under `src/generated` is what the protos give, and the protos say what the contract says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use prost::Message as _;
use prost_reflect::{Cardinality, DescriptorPool, FieldDescriptor, Kind};
use prost_types::FileDescriptorSet;

const FILES: [&str; 4] = ["common.proto", "harness.proto", "harness_registry.proto", "session.proto"];
const RUST: &str = "agentsessions.v1.rs";
const SET: &str = "agentsessions.v1.bin";

fn crate_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn compile() -> FileDescriptorSet {
    let proto = crate_dir().join("proto");
    let mut compiler = protox::Compiler::new([&proto]).expect("the folder of protos is there");
    compiler.include_imports(true).include_source_info(true).open_files(FILES).expect("the protos compile");
    compiler.file_descriptor_set()
}

/// Comments belong to the Rust types; at run time nobody reads them.
fn without_comments(mut set: FileDescriptorSet) -> Vec<u8> {
    for file in &mut set.file {
        file.source_code_info = None;
    }
    set.encode_to_vec()
}

fn regenerate(set: FileDescriptorSet) -> BTreeMap<&'static str, Vec<u8>> {
    let out: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated");
    fs::create_dir_all(&out).expect("the temporary folder can be made");
    tonic_prost_build::configure()
        .btree_map(".")
        .build_transport(false) // its `connect` would collide with the rpc of that name
        .emit_rerun_if_changed(false)
        .out_dir(&out)
        .compile_fds(set.clone())
        .expect("code is generated");
    BTreeMap::from([(RUST, fs::read(out.join(RUST)).expect("the generator wrote one file")), (SET, without_comments(set))])
}

#[test]
fn the_checked_in_code_is_what_the_protos_give() {
    let folder = crate_dir().join("src/generated");
    for (name, fresh) in regenerate(compile()) {
        let path = folder.join(name);
        if std::env::var_os("PROOFMARK_BLESS").is_some() {
            fs::write(&path, &fresh).expect("the generated file can be written");
        }
        let checked_in = fs::read(&path).unwrap_or_default();
        assert!(checked_in == fresh, "{} is stale: run this test with PROOFMARK_BLESS=1", path.display());
    }
}

fn pool() -> DescriptorPool {
    proofmark_schema::agentsessions::descriptors()
}

fn ours(full_name: &str) -> bool {
    full_name.starts_with("agentsessions.v1.")
}

#[test]
fn counts_are_those_of_the_contract() {
    let pool = pool();
    let messages: Vec<_> = pool.all_messages().filter(|m| ours(m.full_name()) && !m.is_map_entry()).collect();
    let fields: usize = messages.iter().map(|m| m.fields().len()).sum();
    let enums = pool.all_enums().filter(|e| ours(e.full_name())).count();
    let rpcs: usize = pool.services().map(|s| s.methods().len()).sum();
    assert_eq!((messages.len(), fields, enums, pool.services().len(), rpcs), (63, 251, 11, 3, 17));
}

fn kind(field: &FieldDescriptor) -> String {
    if field.is_map() {
        return "map".into();
    }
    let name = match field.kind() {
        Kind::Message(m) => m.full_name().trim_start_matches("agentsessions.v1.").to_owned(),
        Kind::Enum(e) => e.full_name().trim_start_matches("agentsessions.v1.").to_owned(),
        other => format!("{other:?}").to_lowercase(),
    };
    let label = match field.cardinality() {
        Cardinality::Repeated => "repeated ",
        _ if field.containing_oneof().is_some_and(|o| o.is_synthetic()) => "optional ",
        _ => "",
    };
    format!("{label}{name}")
}

/// Every field of the package, one a line: a changed number, type or presence shows as a changed line.
#[test]
fn the_wire_is_pinned() {
    let pool = pool();
    let mut lines = Vec::new();
    for message in pool.all_messages().filter(|m| ours(m.full_name()) && !m.is_map_entry()) {
        for field in message.fields() {
            let oneof = field.containing_oneof().filter(|o| !o.is_synthetic()).map(|o| format!(" in {}", o.name())).unwrap_or_default();
            lines.push(format!("{} {} {}: {}{oneof}", message.name(), field.number(), field.name(), kind(&field)));
        }
    }
    for list in pool.all_enums().filter(|e| ours(e.full_name())) {
        for value in list.values() {
            lines.push(format!("{} {} {}", list.full_name().trim_start_matches("agentsessions.v1."), value.number(), value.name()));
        }
    }
    for service in pool.services() {
        for rpc in service.methods() {
            let stream = |on| if on { "stream " } else { "" };
            lines.push(format!(
                "{} {}: {}{} -> {}{}",
                service.name(),
                rpc.name(),
                stream(rpc.is_client_streaming()),
                rpc.input().name(),
                stream(rpc.is_server_streaming()),
                rpc.output().name()
            ));
        }
    }
    insta::assert_snapshot!("wire", lines.join("\n"));
}
