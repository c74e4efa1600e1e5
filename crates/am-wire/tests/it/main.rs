//! Integration tests of am-wire: JSON in, values or messages out; results in, JSON out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod fields;
mod replies;
mod requests;
