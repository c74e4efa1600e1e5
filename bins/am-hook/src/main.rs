//! The capture hook of agent-memory

fn main() {}
