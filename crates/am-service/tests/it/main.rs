//! Integration tests of am-service: the verbs as a surface sees them.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod concurrency;
mod digest;
mod double;
mod evidence;
mod forget;
mod golden;
mod hostile;
mod purge;
mod remember;
mod retry;
mod search;
mod summary;
mod support;
mod transfer;
