//! What requests may carry and what replies say, in JSON, for every surface.
//!
//! Owns the fields with their rules and the messages about what breaks them, the requests of `am-service` made from
//! checked values, the bodies of replies, and how JSON and its numbers are read and written as ECMAScript does. Knows
//! no HTTP and no MCP: which fields a route or tool takes, where values come from, and how messages are put together
//! is the surface's.

pub mod field;
mod json;
mod number;
mod repair;
pub mod reply;
pub mod request;
mod rule;
mod values;

pub use number::Number;
pub use repair::repair;
pub use values::{Unlisted, Values};
