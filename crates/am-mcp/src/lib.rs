//! The MCP surface of agent-memory, over rmcp
