//! The kinds of steps: each turns what the scenario says into requests and the answers into a result.

pub mod call;
pub mod follow;
pub mod generate;
pub mod grpc;
pub mod raw;
pub mod restart;
pub mod result;
pub mod tidy;
pub mod waiting;
