//! Saving: a memory is inserted, found to be there already, or merged into a near-duplicate.

use am_fusion::similarity::MergeThreshold;
use am_model::{
    Actor, CONCEPTS_MAX, CONTENT_MAX, Channel, Concept, Importance, InvalidValue, MemoryId, MemoryKind,
    Origin, Project, SessionId, bounded_text,
};
use am_store::{Audit, NewMemory, Outcome, Save, StoreError};

use crate::consolidate::Incoming;
use crate::evidence::Event;
use crate::retry::Patience;
use crate::{Caller, Service, ServiceError};

/// A text to save.
#[derive(Clone, Debug, PartialEq)]
pub struct Remember {
    /// Text: trimmed, 1 to 200,000 UTF-16 units.
    pub content: String,
    /// Concepts to link, repeats kept, at most 64. None: derived from the text.
    pub concepts: Vec<Concept>,
    /// Scope.
    pub project: Project,
    /// Session; `None` draws a new one.
    pub session_id: Option<SessionId>,
    /// Where the text comes from.
    pub origin: Origin,
    /// Weight; `None` derives it from the origin and the concepts.
    pub importance: Option<Importance>,
    /// The event that brought it.
    pub event: Option<Event>,
}

impl Remember {
    /// Makes the request of a program that embeds the crates: concepts and importance derived, a new session.
    ///
    /// # Errors
    /// The content is empty or too long.
    pub fn new(project: Project, content: &str) -> Result<Self, InvalidValue> {
        Ok(Self {
            content: bounded_text("content", content, CONTENT_MAX)?,
            concepts: vec![],
            project,
            session_id: None,
            origin: Origin::from_stored(Channel::Library.as_str()),
            importance: None,
            event: None,
        })
    }
}

/// What became of a save.
#[derive(Clone, Debug, PartialEq)]
pub struct Remembered {
    /// The memory that holds the text now. After a repeated event it may be gone.
    pub memory_id: MemoryId,
    /// Session of the request.
    pub session_id: SessionId,
    /// Scope.
    pub project: Project,
    /// Concepts as stored; those of the request where nothing was inserted.
    pub concepts: Vec<Concept>,
    /// Whether the text, or the event, was there already.
    pub deduped: bool,
    /// Whether the text was merged into another memory.
    pub consolidated: bool,
}

/// How a save ended.
enum Saved {
    Inserted(MemoryId),
    Known(MemoryId),
    Merged(MemoryId),
}

impl Service {
    /// Saves a text, unless the project has it: then it is deduplicated, revived or merged.
    pub async fn remember(&self, caller: &Caller, request: Remember) -> Result<Remembered, ServiceError> {
        let mut patience = Patience::default();
        loop {
            match self.remember_as_of_now(caller, request.clone()).await {
                // Another process changed the profile since the text was analysed. Where the store is of another
                // version than this program, trying again would not help.
                Err(ServiceError::Store(StoreError::Outdated { .. }))
                    if self.current().await?.is_up_to_date() =>
                {
                    patience.wait().await?;
                }
                result => return result,
            }
        }
    }

    async fn remember_as_of_now(
        &self,
        caller: &Caller,
        request: Remember,
    ) -> Result<Remembered, ServiceError> {
        let Remember { content, concepts: given, project, session_id, origin, importance, event } = request;
        let content = bounded_text("content", &content, CONTENT_MAX)?;
        if given.len() > CONCEPTS_MAX {
            return Err(InvalidValue::TooMany { field: "concepts", maximum: CONCEPTS_MAX }.into());
        }
        let service = self.current().await?;
        let now = self.now();
        let session_id = session_id.unwrap_or_else(SessionId::random);
        let observation = match event.filter(|_| Event::counts_for(&origin)) {
            Some(event) => Some(event.observation(&project, &session_id, &origin, now, &content)?),
            None => None,
        };
        let kind = MemoryKind::of(&origin, &content);
        let (text, concepts) = service.prepare_new(&project, kind, content, given.clone()).await?;
        let importance = importance.unwrap_or_else(|| Importance::derived(origin.as_str(), concepts.len()));
        let memory = NewMemory {
            memory_id: MemoryId::random(),
            project: project.clone(),
            session_id: session_id.clone(),
            kind,
            text,
            concepts: concepts.clone(),
            origin,
            importance,
            derived_from: vec![],
        };
        let save = Save {
            memory,
            near_duplicate: self.settings().merge_threshold.map(MergeThreshold::get),
            except: vec![],
            expired_before: self.expired_before(now),
            observation,
        };
        let audit =
            Audit { at: now, actor: Actor(save.memory.origin.as_str().to_owned()), channel: caller.channel };
        let (memory_id, concepts, deduped, consolidated) = match service.save(audit, save).await? {
            Saved::Inserted(memory_id) => (memory_id, concepts, false, false),
            Saved::Known(memory_id) => (memory_id, given, true, false),
            Saved::Merged(memory_id) => (memory_id, given, false, true),
        };
        Ok(Remembered { memory_id, session_id, project, concepts, deduped, consolidated })
    }

    /// Saves a lesson: [`Service::remember`] with the origin `lesson`.
    pub async fn lesson(&self, caller: &Caller, request: Remember) -> Result<Remembered, ServiceError> {
        let origin = Origin::from_stored(Origin::LESSON);
        self.remember(caller, Remember { origin, ..request }).await
    }

    /// Commits a save, following what other writers do meanwhile.
    async fn save(&self, audit: Audit, save: Save) -> Result<Saved, ServiceError> {
        let mut incoming = Incoming::new(save);
        let mut patience = Patience::default();
        let mut action = incoming.insert();
        loop {
            match self.commit(audit.clone(), action).await? {
                Outcome::Inserted { memory_id } => return Ok(Saved::Inserted(memory_id)),
                Outcome::Deduplicated { memory_id } | Outcome::Revived { memory_id } => {
                    return Ok(Saved::Known(memory_id));
                }
                Outcome::Merged { memory_id } => return Ok(Saved::Merged(memory_id)),
                Outcome::Repeated { memory_id: Some(memory_id) } => return Ok(Saved::Known(memory_id)),
                Outcome::Repeated { memory_id: None } => {
                    // The event stands as evidence that no memory rests on: the text is saved, the event not again.
                    patience.spend()?;
                    incoming.leave_out_observation();
                    action = incoming.insert();
                }
                Outcome::NearDuplicates { candidates } => {
                    patience.spend()?;
                    action = self.merge_or_insert(&mut incoming, candidates).await?;
                }
                Outcome::Changed { .. } => {
                    patience.wait().await?;
                    action = incoming.insert();
                }
                Outcome::KeyTaken { memory } => {
                    patience.spend()?;
                    action = incoming.link_to_owner(*memory);
                }
                Outcome::Forgotten { .. } | Outcome::Observed { .. } | Outcome::Imported { .. } => {
                    return Err(ServiceError::Unexpected { verb: "remember" });
                }
            }
        }
    }
}
