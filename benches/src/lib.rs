//! Benches of agent-memory: a synthetic corpus, clocks and medians, and the programs under measurement.
//!
//! Owns how things are measured. Is not a gate by itself: `instructions.sh` gates what can be counted exactly, the
//! benches print medians and ratios of one run.

pub mod corpus;
pub mod http;
pub mod measure;
pub mod operation;
pub mod program;
