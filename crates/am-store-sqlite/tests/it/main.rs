//! The embedded store: the conformance suite with and without projections, and what only a file can show.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod budget;
mod conformance;
mod differential;
mod erasure;
mod file;
mod fixture;
mod maintenance;
mod processes;
mod support;
