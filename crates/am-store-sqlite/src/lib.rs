//! The embedded store of agent-memory, on SQLite
