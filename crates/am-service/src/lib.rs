//! Every verb of agent-memory, once, over a store, an embedder and a clock
