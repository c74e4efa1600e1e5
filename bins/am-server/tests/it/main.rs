//! Integration tests of am-server: the program as its user meets it, and the accept loop under odd clients.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accept;
mod client;
mod life;
mod process;
#[cfg(unix)]
mod socket;
mod start;
