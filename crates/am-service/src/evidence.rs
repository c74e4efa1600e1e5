//! Evidence: the events that saves come with, and events alone.

use am_model::{CaptureLevel, Instant, Observation, Origin, Project, SESSION_ID_MAX, SessionId, text};
use am_store::{Action, Outcome};

use crate::{Caller, Forgotten, Service, ServiceError};

/// The event that brought a text: kept as evidence, and never counted twice.
///
/// Counts only for origins `hook:...` and `import:...`; other saves ignore it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Idempotency key of the delivery: 1 to 200 printable characters.
    pub key: String,
    /// When it happened; `None`: now.
    pub at: Option<Instant>,
    /// How much of it was captured.
    pub level: CaptureLevel,
}

impl Event {
    /// Returns whether saves of this origin are evidence.
    pub(crate) fn counts_for(origin: &Origin) -> bool {
        origin.is_hook() || origin.as_str().starts_with("import:")
    }

    /// Makes the evidence of a save.
    pub(crate) fn observation(
        self,
        project: &Project,
        session_id: &SessionId,
        origin: &Origin,
        now: Instant,
        content: &str,
    ) -> Result<Observation, ServiceError> {
        check_key(&self.key)?;
        Ok(Observation {
            project: project.clone(),
            session_id: session_id.clone(),
            event_id: self.key,
            origin: origin.clone(),
            at: self.at.unwrap_or(now),
            level: self.level,
            text: Some(content.to_owned()),
        })
    }
}

pub(crate) fn check_key(key: &str) -> Result<(), ServiceError> {
    let printable =
        !key.is_empty() && text::utf16_len(key) <= SESSION_ID_MAX && !key.contains(char::is_control);
    if printable { Ok(()) } else { Err(ServiceError::EventKey) }
}

/// What became of a batch of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed {
    /// New events.
    pub appended: u64,
    /// Events that were there already.
    pub repeated: u64,
}

impl Service {
    /// Appends events as evidence, without making memories of them.
    pub async fn observe(
        &self,
        caller: &Caller,
        observations: Vec<Observation>,
    ) -> Result<Observed, ServiceError> {
        observations.iter().try_for_each(|observation| check_key(&observation.event_id))?;
        if observations.is_empty() {
            return Ok(Observed { appended: 0, repeated: 0 });
        }
        match self.commit(caller.audit(self.now()), Action::Observe(observations)).await? {
            Outcome::Observed { appended, repeated } => Ok(Observed { appended, repeated }),
            _ => Err(ServiceError::Unexpected { verb: "observe" }),
        }
    }

    /// Erases the text of one event, and the memory that rests on it alone.
    pub async fn forget_observation(
        &self,
        caller: &Caller,
        project: &Project,
        event_id: &str,
    ) -> Result<Forgotten, ServiceError> {
        self.take_in().await;
        let action = Action::ForgetObservation { project: project.clone(), event_id: event_id.to_owned() };
        Forgotten::of(self.commit(caller.audit(self.now()), action).await?)
    }
}
