//! Integration tests of am-hook.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod client;
mod dialect;
mod fixture;
mod golden;
mod recall;
mod spool;
mod support;
