//! Integration tests of am-mcp.
