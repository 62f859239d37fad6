//! Drivers move bytes and record what they saw; they never judge. One module a wire.

pub mod dial;
pub mod grpc;
pub mod http;
pub mod raw;
pub mod sse;
pub mod tls;
