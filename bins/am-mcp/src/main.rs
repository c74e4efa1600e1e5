//! The agent-memory MCP server over stdio

fn main() {}
