//! What the surface tells its program.

use std::time::Duration;

use am_service::Receipt;

/// A request that was answered.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// Method, as sent.
    pub method: &'a str,
    /// Path without query, in ASCII; holds ids of the client's choice.
    pub path: &'a str,
    /// Template of the route, such as `/memory/sessions/{sessionId}/memories`; `None` for an unknown path.
    pub route: Option<&'static str>,
    /// Status of the reply.
    pub status: u16,
    /// From the head of the request to the reply.
    pub elapsed: Duration,
}

/// A request that failed on our side.
#[derive(Clone, Copy, Debug)]
pub struct Failed<'a> {
    /// Method, as sent.
    pub method: &'a str,
    /// Path without query, in ASCII.
    pub path: &'a str,
    /// Status of the reply.
    pub status: u16,
    /// What failed, on one line, without addresses or content.
    pub note: &'a str,
}

/// A memory that was deleted for a reason.
#[derive(Clone, Copy, Debug)]
pub struct Deleted<'a> {
    /// Which and when.
    pub receipt: &'a Receipt,
    /// Why, without line ends.
    pub reason: &'a str,
}

/// Hears what happens, to log or count it. Called while a reply waits: it must be quick.
pub trait Observer: Send + Sync {
    /// Hears of every reply.
    fn answered(&self, request: &Answered<'_>);

    /// Hears of every failure of ours, before the reply.
    fn failed(&self, failure: &Failed<'_>);

    /// Hears of every governed delete, whether or not its caller waits for the reply.
    fn deleted(&self, deletion: &Deleted<'_>);
}

/// The observer that tells no one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn answered(&self, _: &Answered<'_>) {}

    fn failed(&self, _: &Failed<'_>) {}

    fn deleted(&self, _: &Deleted<'_>) {}
}
