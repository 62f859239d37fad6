//! The contract in code: its decisions as small functions, one a rule, each naming what it implements. To know the contract, read here.
//!
//! The functions stand in tables (one an area), so that one of them can be replaced or wrapped while the machine stays as it is.

pub(crate) mod admission;
pub(crate) mod bounds;
pub(crate) mod cancellation;
pub(crate) mod emissions;
pub(crate) mod events;
pub(crate) mod idempotency;
pub(crate) mod materialise;
pub(crate) mod outcome;
pub(crate) mod recovery;
pub(crate) mod replay;
pub(crate) mod requests;
pub(crate) mod routing;
pub(crate) mod streaming;
pub(crate) mod usage;
pub(crate) mod views;

/// Every rule of the contract.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    pub(crate) admission: admission::Admission,
    pub(crate) cancellation: cancellation::Cancellation,
    pub(crate) emissions: emissions::Emissions,
    pub(crate) events: events::Events,
    pub(crate) idempotency: idempotency::Idempotency,
    pub(crate) materialise: materialise::Materialise,
    pub(crate) outcome: outcome::Outcome,
    pub(crate) recovery: recovery::Recovery,
    pub(crate) replay: replay::Replay,
    pub(crate) requests: requests::Requests,
    pub(crate) routing: routing::Routing,
    pub(crate) streaming: streaming::Streaming,
    pub(crate) usage: usage::Usage,
    pub(crate) views: views::Views,
}
