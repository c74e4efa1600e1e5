//! For tests: an in-memory store, the suite every store must pass, and a random comparison of two stores.

#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a case fails by panicking")]
pub mod conformance;
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "stores that differ make it panic")]
mod differential;
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a case fails by panicking")]
mod kit;
mod memory;
mod random;

pub use differential::differential;
pub use memory::MemoryStore;
