//! Integration tests of the am-mcp program: a real process, real streams, a real store.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod conversation;
mod end;
mod settings;
mod spool;
mod support;
