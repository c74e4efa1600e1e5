//! Integration tests of am-mcp: conversations over a pipe in memory.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod arguments;
mod golden;
mod hostile;
mod protocol;
mod sqlite;
mod support;
mod tools;
