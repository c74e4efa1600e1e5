//! Integration tests of am-fusion.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod support;

mod bm25;
mod digest;
mod evaluation;
mod fuse;
mod lifecycle;
mod recall;
mod signal;
mod similarity;
mod summary;
