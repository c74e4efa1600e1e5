//! The REST surface of agent-memory as a tower service.
//!
//! Owns the one table of routes, the order of checks, access rules, limits and the OpenAPI document. Fields and replies
//! are those of `am-wire`. Is not a listener: it never binds, and it tells what happened to an [`Observer`] instead of
//! printing. Holds no rule of memory: each route is one verb of `am-service`.

mod access;
mod body;
mod failure;
mod handler;
mod metrics;
mod observer;
mod openapi;
mod path;
mod route;
mod router;
mod validate;

pub use metrics::{Metrics, MetricsRouter};
pub use observer::{Answered, Deleted, Failed, Observer, Silent};
pub use openapi::openapi;
pub use route::{Access, ROUTES, Route};
pub use router::{ApiSettings, IDENTITY_HEADER, Router, VERSION, router};
