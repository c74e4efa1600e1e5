//! The store port of agent-memory: trait, plain data, conformance suite
