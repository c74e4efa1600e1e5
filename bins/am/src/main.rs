//! The agent-memory command line

fn main() {}
