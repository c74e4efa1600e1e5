//! `am` as its users see it: the program itself, on data directories of its own and in an empty environment.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod copy;
mod demo;
mod evaluation;
mod exit_codes;
mod fixture;
mod forget;
mod help;
mod hostile;
mod maintenance;
mod purge;
mod remember;
mod round_trip;
mod search;
mod server;
mod sessions;
mod support;
mod transcript;
