//! Every verb of agent-memory, once, for every surface: remember, lesson, search, smart search, listings, recap,
//! handoff, forget, delete, summarise, purge, export, import.
//!
//! Owns the order of steps: derive outside the transaction, commit, and follow what other writers did meanwhile.
//! Holds no rule of ranking or lifecycle (`am-fusion`) and no statement of storage (`am-store`); knows no HTTP, no
//! MCP, no environment, and prints nothing. The clock, the settings and the embedder are values given in.

mod clock;
mod consolidate;
mod corpus;
mod digest;
mod error;
mod evidence;
mod forget;
mod list;
mod prepare;
mod purge;
mod remember;
mod retry;
mod search;
mod service;
mod settings;
mod summary;
mod transfer;

pub use am_fusion::lifecycle::{DecayLambda, Ttl};
pub use am_fusion::similarity::MergeThreshold;
pub use clock::{Clock, SystemClock};
pub use digest::{Digest, Handoff, Recap};
pub use error::ServiceError;
pub use evidence::{Event, Observed};
pub use forget::{Forgotten, Receipt};
pub use purge::PurgeProgress;
pub use remember::{Remember, Remembered};
pub use search::{Mode, Search, SearchResults, SmartSearch};
pub use service::{Caller, Service};
pub use settings::Settings;
pub use summary::Summary;
pub use transfer::{Exported, Imported, Record};
