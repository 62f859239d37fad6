//! The providers of the reference server. All of them can be scripted; their manifests differ, so that routing has something to choose.

mod manifests;
mod scripted;

pub(crate) use crate::tally::Tallies;
pub(crate) use scripted::Scripted;

use super::model::Manifest;
use super::problem::Fault;
use super::runtime::Session;
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// The end of a provider's work: it completed, or why not.
pub(crate) type Work = BoxFuture<'static, Result<(), Fault>>;

/// Does the work of attempts.
pub(crate) trait Provider: Send + Sync {
    fn manifest(&self) -> Manifest;

    /// Works until it is done. An execution that was stopped does not wait for it.
    fn run(&self, session: Session) -> Work;
}

/// All of them, in the order in which they are configured.
pub(crate) fn all(tallies: &Tallies) -> Vec<Arc<dyn Provider>> {
    let manifests = [manifests::text(), manifests::tools(), manifests::media(), manifests::narrow()];
    manifests.into_iter().map(|manifest| Arc::new(Scripted::new(manifest, tallies.clone())) as Arc<dyn Provider>).collect()
}
