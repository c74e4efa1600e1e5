//! The agent-memory daemon: REST on loopback and on a private socket

fn main() {}
