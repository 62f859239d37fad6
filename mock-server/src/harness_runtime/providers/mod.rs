//! The providers of the reference server, with manifests that show every level of support.

mod echo;
mod scripted;

pub(crate) use crate::tally::Tallies;
pub(crate) use echo::Echo;
pub(crate) use scripted::Scripted;

use super::model::{Manifest, Support};
use super::runtime::Session;
use futures_util::future::{self, BoxFuture, FutureExt};
use serde_json::Value;
use std::sync::Arc;

/// The end of a provider's work: its final output (or none), or the message of its failure.
pub(crate) type Work = BoxFuture<'static, Result<Option<Value>, String>>;

/// Does the work of executions.
pub(crate) trait Provider: Send + Sync {
    fn manifest(&self) -> Manifest;

    /// Works until it is done. A cancelled execution does not wait for it.
    fn run(&self, session: Session) -> Work;

    /// What has to be done before a cancellation can be confirmed; nothing unless a provider says otherwise.
    fn clean_up(&self, _session: Session) -> BoxFuture<'static, Result<(), String>> {
        future::ready(Ok(())).boxed()
    }
}

/// All of them, the one that needs no config first.
pub(crate) fn all(tallies: Tallies) -> Vec<Arc<dyn Provider>> {
    vec![
        Arc::new(Echo::plain()),
        Arc::new(Scripted::attended(tallies.clone())),
        Arc::new(Scripted::unattended(tallies)),
        Arc::new(Echo::loud()),
    ]
}

fn manifest(id: &str, name: &str, topologies: &[&'static str], capabilities: &[(&str, Support)]) -> Manifest {
    Manifest {
        id: id.to_owned(),
        name: name.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        topologies: topologies.to_vec(),
        capabilities: capabilities.iter().map(|(name, level)| ((*name).to_owned(), *level)).collect(),
        metadata: None,
    }
}
