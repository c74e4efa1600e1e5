//! End to end: the programs as users run them, and the rules that hold for the whole source.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod architecture;
mod skills;
