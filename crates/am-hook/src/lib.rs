//! Host hook dialects, deliveries, the spool and a tiny blocking client.
//!
//! Owns everything between a host's event and the memory: which text an event becomes
//! ([`dialect`]), what travels ([`delivery`]), how it is sent ([`client`]), where it waits when nobody
//! answers ([`spool`]) and the run that ties them together ([`program`]). Servers and commands use
//! [`spool`] to fetch what waited.
//!
//! Is not: a rule of memory (what is sent is only data to the service), and not asynchronous. A hook runs
//! before every tool call of an agent, so this crate links no runtime, argument parser, logger, database
//! or TLS; the values of the environment are passed in.

pub mod client;
pub mod delivery;
pub mod dialect;
mod identifier;
mod payload;
pub mod places;
mod private;
pub mod program;
pub mod recall;
mod reply;
pub mod spool;
mod text;
pub mod url;
