//! Every verb of agent-memory, once, for every surface: remember, lesson, search, smart search, listings, recap,
//! handoff, forget, delete, summarise, purge, export, import.
//!
//! Owns the order of steps: derive outside the transaction, commit, and follow what other writers did meanwhile.
//! Holds no rule of ranking or lifecycle (`am-fusion`) and no statement of storage (`am-store`); knows no HTTP, no
//! MCP, no environment, and prints nothing. The clock, the settings and the embedder are values given in.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! use am_embed::hash::HashEmbedder;
//! use am_model::Project;
//! use am_service::{Caller, Remember, Service, Settings, SmartSearch, SystemClock};
//! use am_store_sqlite::{OpenOptions, SqliteStore};
//! use std::sync::Arc;
//!
//! let store = Arc::new(SqliteStore::open(directory.path(), OpenOptions::default())?);
//! let embedder = Arc::new(HashEmbedder::new());
//! let memory = Service::open(store, embedder, Arc::new(SystemClock), Settings::default()).await?;
//! let project = Project::new("my-project")?;
//! let text = Remember::new(project.clone(), "Sessions expire after 15 minutes")?;
//! memory.remember(&Caller::library(), text).await?;
//! let query = SmartSearch { query: "when do sessions expire?".into(), concepts: vec![], project, limit: 5 };
//! let found = memory.smart_search(query).await;
//! assert_eq!(found.hits[0].memory.content, "Sessions expire after 15 minutes");
//! # Ok(())
//! # }
//! ```

mod clock;
mod consolidate;
mod corpus;
mod digest;
mod error;
mod evidence;
mod forget;
mod inbox;
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
pub use inbox::Inbox;
pub use purge::PurgeProgress;
pub use remember::{Remember, Remembered};
pub use search::{Mode, Search, SearchResults, SmartSearch};
pub use service::{Caller, Service};
pub use settings::Settings;
pub use summary::Summary;
pub use transfer::{Exported, Imported, Record};
