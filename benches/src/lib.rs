//! Benches of agent-memory.
