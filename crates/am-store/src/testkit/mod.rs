//! For tests: an in-memory store and the suite every store must pass.

mod memory;

pub use memory::MemoryStore;
