//! Text analysis and embedding of agent-memory, pure
