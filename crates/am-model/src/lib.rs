//! The nouns of agent-memory and their rules
