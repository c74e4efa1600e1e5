//! Ranking, lifecycle and similarity of agent-memory, pure
