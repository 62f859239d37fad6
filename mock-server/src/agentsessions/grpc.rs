//! The wire: takes calls, asks the machine, answers. No decisions.

use super::machine::Machine;
use super::rules::Refusal;
use super::{Clock, Uids};
use crate::lock::lock;
use proofmark_schema::agentsessions::v1;
use proofmark_schema::agentsessions::v1::sessions_server::{Sessions, SessionsServer};
use std::sync::{Mutex, MutexGuard};
use tokio_stream::Empty;
use tonic::service::Routes;
use tonic::{Request, Response, Status};

type Answer<T> = Result<Response<T>, Status>;

pub(crate) struct Host {
    machine: Mutex<Machine>,
    clock: Clock,
    uids: Uids,
}

impl Host {
    pub(crate) fn new(machine: Machine, clock: Clock, uids: Uids) -> Self {
        Self { machine: Mutex::new(machine), clock, uids }
    }

    /// The service; every other path is answered UNIMPLEMENTED, the registry's too (A7).
    pub(crate) fn router(self) -> axum::Router {
        Routes::new(SessionsServer::new(self)).into_axum_router()
    }

    fn machine(&self) -> MutexGuard<'_, Machine> {
        // The machine leaves no half-made state behind.
        lock(&self.machine)
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::InvalidArgument(message) => Self::invalid_argument(message),
            Refusal::NotFound(message) => Self::not_found(message),
            Refusal::AlreadyExists(message) => Self::already_exists(message),
        }
    }
}

fn unimplemented<T>(method: &str) -> Answer<T> {
    Err(Status::unimplemented(format!("{method} is not implemented")))
}

#[tonic::async_trait]
impl Sessions for Host {
    type ExecStream = Empty<Result<v1::ExecUpdate, Status>>;
    type ReplayStream = Empty<Result<v1::LogRecord, Status>>;

    async fn create_session(&self, request: Request<v1::CreateSessionRequest>) -> Answer<v1::Session> {
        let created = self.machine().create(request.into_inner().session, (self.uids)(), (self.clock)())?;
        Ok(Response::new(created))
    }

    async fn get_session(&self, request: Request<v1::GetSessionRequest>) -> Answer<v1::Session> {
        let session = self.machine().get(&request.into_inner().uid, (self.clock)())?;
        Ok(Response::new(session))
    }

    async fn list_sessions(&self, _: Request<v1::ListSessionsRequest>) -> Answer<v1::ListSessionsResponse> {
        unimplemented("ListSessions")
    }

    /// L1: declared, and not there.
    async fn delete_session(&self, _: Request<v1::DeleteSessionRequest>) -> Answer<v1::Session> {
        unimplemented("DeleteSession")
    }

    async fn exec(&self, _: Request<v1::ExecRequest>) -> Answer<Self::ExecStream> {
        unimplemented("Exec")
    }

    async fn replay(&self, _: Request<v1::ReplayRequest>) -> Answer<Self::ReplayStream> {
        unimplemented("Replay")
    }

    async fn approve(&self, _: Request<v1::ApproveRequest>) -> Answer<v1::ApproveResponse> {
        unimplemented("Approve")
    }

    /// L1: declared, and not there.
    async fn cancel(&self, _: Request<v1::CancelRequest>) -> Answer<v1::Session> {
        unimplemented("Cancel")
    }

    async fn suspend(&self, _: Request<v1::SuspendRequest>) -> Answer<v1::Session> {
        unimplemented("Suspend")
    }

    async fn resume(&self, _: Request<v1::ResumeRequest>) -> Answer<v1::Session> {
        unimplemented("Resume")
    }

    async fn fork(&self, _: Request<v1::ForkRequest>) -> Answer<v1::ForkResponse> {
        unimplemented("Fork")
    }
}
