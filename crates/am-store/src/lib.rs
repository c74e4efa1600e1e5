//! The store port of agent-memory: one trait, and its queries, changes and outcomes as plain data.
//!
//! Owns what a store must do and in which transaction. Is not a place for policy: what counts as a near-duplicate
//! threshold, a merged text or a lifetime is given in. Feature `testkit`: the conformance suite every store must
//! pass, and an in-memory double.
//!
//! A store promises: a commit is one transaction, applied whole or not at all, durable when acknowledged, and in
//! every index; its preconditions are checked inside; a read sees every commit acknowledged before it began, of any
//! process; the rows of one reply come from one snapshot.

pub mod chain;
#[cfg(feature = "testkit")]
pub mod testkit;

mod change;
mod error;
mod identity;
mod query;
mod record;
mod report;
mod store;

pub use change::{
    Action, Audit, Change, Forget, ForgetSession, Import, Merge, NewMemory, Outcome, Rewrite, Save, Text,
};
pub use error::StoreError;
pub use identity::{StoreIdentity, is_ranked};
pub use query::{Arm, ArmHit, LiveMemory, Scope, SearchQuery, SearchReply, VectorQuery};
pub use record::{Part, StoredLogEntry, StoredMemory, StoredObservation};
pub use report::{Fault, Statistics, VerifyReport};
pub use store::Store;
