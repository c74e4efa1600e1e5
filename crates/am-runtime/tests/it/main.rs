//! Integration tests of am-runtime.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod client;
mod config;
mod maintenance;
mod open;
mod spool;
mod support;
