//! The commands, one module for each.

pub(crate) mod backup;
pub(crate) mod bootstrap;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod delete;
pub(crate) mod demo;
pub(crate) mod digest;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod export;
pub(crate) mod forget;
pub(crate) mod hook;
pub(crate) mod import;
pub(crate) mod import_transcript;
pub(crate) mod index;
pub(crate) mod mcp;
pub(crate) mod purge;
pub(crate) mod remember;
pub(crate) mod restore;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod sessions;
pub(crate) mod stats;
pub(crate) mod summarize;
pub(crate) mod verify;
