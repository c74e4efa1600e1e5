//! Integration tests of am-model.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod golden;
mod instant;
mod kind;
mod limit;
mod number;
mod text;
