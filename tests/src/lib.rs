//! End-to-end tests of agent-memory.
