//! End-to-end tests of agent-memory, and the README's Rust as a documentation test.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
