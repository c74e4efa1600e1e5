//! Integration tests of am-mcp: conversations over a pipe in memory.

mod arguments;
mod golden;
mod hostile;
mod protocol;
mod sqlite;
mod support;
mod tools;
