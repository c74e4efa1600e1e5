//! What waits outside the store to be saved.

use async_trait::async_trait;

use crate::Service;

/// A place where events wait that happened already, such as the spool of capture hooks.
///
/// Whatever is forgotten must not come back from there, so that the verbs that forget take everything in first.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Saves through `service` what waits, as far as that is possible soon; what fails waits on.
    async fn take_in(&self, service: &Service);
}
