//! Where the time comes from.

use std::time::{SystemTime, UNIX_EPOCH};

use am_model::Instant;

/// A source of instants.
pub trait Clock: Send + Sync {
    /// Tells the time.
    fn now(&self) -> Instant;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        let millis = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            // A clock set before 1970.
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis),
        };
        Instant::from_millis(millis)
    }
}
