//! Integration tests of the am-mcp program: a real process, real streams, a real store.

mod conversation;
mod end;
mod settings;
mod spool;
mod support;
