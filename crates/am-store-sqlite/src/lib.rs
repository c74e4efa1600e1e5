//! The embedded store of agent-memory: SQLite as the only source of truth, searched by projections in memory.
//!
//! Owns the schema and its migrations, the committer, the projections (postings, int8 vectors), erasure and
//! back-ups. Is not a query language for others, and holds no ranking or lifecycle rule: formulas come from
//! `am-fusion`, analysis from `am-embed`, thresholds and cut-offs with each request.
//!
//! Several processes on one data directory are the normal case: each keeps its projections current by tailing the
//! change sequence inside the read transaction that serves a query, so that a search sees every commit that any
//! process acknowledged before it began.

mod backup;
mod builder;
mod cache;
mod commit;
mod connection;
mod erasure;
mod filesystem;
mod projection;
mod query;
mod read;
mod rebuild;
mod row;
mod schema;
mod store;
mod verify;

pub use backup::RestoreOptions;
pub use erasure::Maintenance;
pub use rebuild::RebuildReport;
pub use store::{FILE_NAME, OpenOptions, SqliteStore, Synchronous};
