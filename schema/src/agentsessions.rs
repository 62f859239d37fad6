//! The generated side of the `agentsessions.v1` protos: message types, gRPC clients and servers, and the descriptors.
//!
//! What is in `generated/` comes from `proto/*.proto`; `tests/generated.rs` makes it again and compares
//! (`PROOFMARK_BLESS=1 cargo test -p proofmark-schema --test generated` writes it).

use std::sync::LazyLock;

use prost_reflect::{DescriptorPool, MessageDescriptor};

/// Messages, enums, clients and servers of package `agentsessions.v1`.
#[expect(clippy::all, clippy::pedantic, reason = "generated code follows its generator's taste")]
pub mod v1 {
    include!("generated/agentsessions.v1.rs");
}

/// The serialized `FileDescriptorSet` of the four files and the well-known types they import, without comments.
pub const DESCRIPTOR_SET: &[u8] = include_bytes!("generated/agentsessions.v1.bin");

static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(DESCRIPTOR_SET).expect("the checked-in descriptor set decodes"));

/// Descriptors of all messages and services of `agentsessions.v1`. Cheap to clone.
pub fn descriptors() -> DescriptorPool {
    POOL.clone()
}

/// The descriptor of a message of the package by its short name, as in `"LogRecord"`.
pub fn message(name: &str) -> Option<MessageDescriptor> {
    POOL.get_message_by_name(&format!("agentsessions.v1.{name}"))
}
