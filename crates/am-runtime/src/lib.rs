//! Configuration as a value, and its wiring to an open service.
//!
//! Owns what every program does at its edges: reading settings, opening the store they name, draining the spool of
//! capture hooks, and asking a running server. Is not a surface, and holds no rule of memory. Nothing here reads the
//! environment or prints: the programs pass the values of variables in and show what comes back.

mod absent;
pub mod client;
pub mod config;
pub mod maintenance;
pub mod open;
pub mod spool;
