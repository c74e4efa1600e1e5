//! Host hook dialects, observations and the spool of agent-memory
