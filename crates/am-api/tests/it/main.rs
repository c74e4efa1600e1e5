//! Integration tests of am-api: requests in, replies out, as a client sees them.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod access;
mod delivery;
mod document;
mod errors;
mod flow;
mod json;
mod limits;
mod metrics;
mod numbers;
mod properties;
mod scores;
mod support;
mod table;
