//! Integration tests of am-embed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod default_profile;
mod embedder;
mod golden;
mod properties;
mod stored;
mod unicode;
