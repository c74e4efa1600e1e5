//! The REST surface of agent-memory as a tower service
