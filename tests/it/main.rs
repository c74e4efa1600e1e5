//! End to end: the programs as users run them, and the rules that hold for the whole source.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod architecture;
#[cfg(target_os = "linux")]
mod disk_full;
#[cfg(unix)]
mod durable;
#[cfg(unix)]
mod erasure;
#[cfg(unix)]
mod hook;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod life;
#[cfg(unix)]
mod processes;
mod readme;
#[cfg(unix)]
mod schema;
mod skills;
#[cfg(unix)]
mod world;
