//! The daemon of agent-memory, as a library for `am-server` and `am serve`.
//!
//! Owns the listeners (loopback TCP, the private socket, metrics), the accept loops with their limits, what is
//! printed, the graceful stop, and the work in the background: draining the spool, looking after the store. Is not
//! the surface (`am-api`) and holds no rule of memory. The environment is the program's to read.

mod accept;
mod arguments;
mod error;
mod listen;
mod log;
#[cfg(target_os = "linux")]
mod notify;
mod patience;
mod run;
mod signal;
#[cfg(unix)]
mod socket;

pub use accept::{Acceptor, Limits, Listener};
pub use arguments::Arguments;
pub use error::{ServeError, report};
pub use run::{Launch, run};
