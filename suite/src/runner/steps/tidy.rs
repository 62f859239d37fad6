//! After a case: what it left running on the target is cancelled, so that the kit is never the cause of overload.

use super::super::session::Session;
use super::follow::param_of;
use crate::recorder::About;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// A target that cannot cancel is left alone after this.
const BOUND: Duration = Duration::from_secs(3);

pub async fn after(session: &Arc<Session>, case: &Arc<str>) {
    let Some(executions) = &session.catalogue.operations.executions else { return };
    let Some(operation) = session.catalogue.operations.by_name.get(&executions.cancel) else { return };
    let alive = session.alive(case);
    let cancels = alive.iter().map(|id| async {
        let params: BTreeMap<String, String> = [(param_of(&operation.path), id.clone())].into();
        let mut ask = session.ask(&executions.cancel, operation, &params, &BTreeMap::new());
        ask.body = Some("{}".into());
        let about = About { case: case.clone(), step: "tidy up".to_owned(), operation: ask.operation.clone(), params, ..About::default() };
        let _ = timeout(BOUND, session.send(&ask, &about, None, false)).await;
    });
    futures_util::future::join_all(cancels).await;
}
