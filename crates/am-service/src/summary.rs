//! The summary of a session and the lessons drawn from it, saved as memories that go with what they quote.

use am_fusion::summary::{EXCERPT_MAX, SessionSummary, SummaryMemory, summarise_session};
use am_model::{Actor, Importance, Memory, MemoryId, MemoryKind, Origin, Project, SessionId, Verb, text};
use am_store::{Action, Audit, Forget, NewMemory, Outcome, Save};

use crate::retry::Patience;
use crate::{Caller, Service, ServiceError};

/// Origin of summaries.
const SUMMARY_ORIGIN: &str = "summary";

/// A session in a few lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The summary.
    pub text: String,
    /// At most three lessons, one line each.
    pub lessons: Vec<String>,
    /// How many memories were summarised.
    pub memories: usize,
    /// The memories that hold the summary and then the lessons; empty where nothing was saved.
    pub saved: Vec<MemoryId>,
}

impl Service {
    /// Summarises at most `limit` newest memories of a session, and saves the summary and its lessons there.
    ///
    /// A dry run, and a session without memories, save nothing. In the `default` profile earlier summaries, and
    /// lessons that quote a memory of the session, are not summarised again.
    pub async fn summarize(
        &self,
        caller: &Caller,
        project: &Project,
        session_id: &SessionId,
        limit: usize,
        dry_run: bool,
    ) -> Result<Summary, ServiceError> {
        let service = self.current().await?;
        let mut patience = Patience::default();
        loop {
            let memories = service.session_memories(project, session_id, limit).await?;
            let memories = if service.is_contract() { memories } else { without_derived(memories) };
            let parts: Vec<SummaryMemory> = memories.iter().map(SummaryMemory::from).collect();
            let built =
                summarise_session(session_id, project, &parts, |text| service.analysis().concepts(text));
            let saved = if dry_run || memories.is_empty() {
                Some(vec![])
            } else {
                service.save_summary(caller, project, session_id, &memories, &built).await?
            };
            if let Some(saved) = saved {
                let SessionSummary { summary, lessons, count, .. } = built;
                return Ok(Summary { text: summary, lessons, memories: count, saved });
            }
            patience.wait().await?;
        }
    }

    /// Saves a summary and its lessons. `None`: a memory that they quote was forgotten or changed meanwhile, and
    /// what was saved is forgotten again.
    async fn save_summary(
        &self,
        caller: &Caller,
        project: &Project,
        session_id: &SessionId,
        memories: &[Memory],
        built: &SessionSummary,
    ) -> Result<Option<Vec<MemoryId>>, ServiceError> {
        // The summary names concepts and counts of all of them.
        let every: Vec<MemoryId> = memories.iter().map(|memory| memory.memory_id.clone()).collect();
        let mut derived = vec![(MemoryKind::Summary, SUMMARY_ORIGIN, &built.summary, every.clone())];
        for (lesson, pick) in built.lessons.iter().zip(&built.picks) {
            let quoted = every.get(*pick).cloned().into_iter().collect();
            derived.push((MemoryKind::Lesson, Origin::LESSON, lesson, quoted));
        }
        let mut rows = vec![];
        let mut inserted = vec![];
        for (kind, origin, content, derived_from) in derived {
            let origin = Origin::from_stored(origin);
            let content = text::trim(content).to_owned();
            let (text, concepts) = self.prepare_new(project, kind, content, vec![]).await?;
            let importance = Importance::derived(origin.as_str(), concepts.len());
            let audit =
                Audit { at: self.now(), actor: Actor(origin.as_str().to_owned()), channel: caller.channel };
            let memory = NewMemory {
                memory_id: MemoryId::random(),
                project: project.clone(),
                session_id: session_id.clone(),
                kind,
                text,
                concepts,
                origin,
                importance,
                derived_from,
            };
            // What quotes others is never merged: its text must go when theirs goes.
            let save = Save {
                memory,
                near_duplicate: None,
                except: vec![],
                expired_before: self.expired_before(audit.at),
                observation: None,
            };
            match self.commit(audit, Action::Save(Box::new(save))).await? {
                Outcome::Inserted { memory_id } => {
                    inserted.push(memory_id.clone());
                    rows.push(memory_id);
                }
                Outcome::Deduplicated { memory_id } | Outcome::Revived { memory_id } => rows.push(memory_id),
                Outcome::Changed { .. } => {
                    self.take_back(caller, inserted).await?;
                    return Ok(None);
                }
                _ => return Err(ServiceError::Unexpected { verb: "summarize" }),
            }
        }
        let now = self.store().memories(&every).await?;
        let same = now.len() == memories.len()
            && now.iter().zip(memories).all(|(now, then)| now.version == then.version);
        if same {
            return Ok(Some(rows));
        }
        self.take_back(caller, inserted).await?;
        Ok(None)
    }

    async fn take_back(&self, caller: &Caller, memory_ids: Vec<MemoryId>) -> Result<(), ServiceError> {
        let forget = Forget { memory_ids, verb: Verb::Forget, reason: None, created_before: None };
        self.commit_forget(caller, self.now(), forget).await?;
        Ok(())
    }
}

/// Leaves out summaries, lessons that quote another memory of the list, and, unless there is nothing else, the fixed
/// lines of hooks: they say that something happened, not what was learned.
fn without_derived(memories: Vec<Memory>) -> Vec<Memory> {
    let lesson_of = |memory: &Memory| {
        format!("lesson: {}", text::cut_with_dots(&text::one_line(&memory.content), EXCERPT_MAX))
    };
    let quotes: Vec<String> = memories.iter().map(lesson_of).collect();
    let mut kept: Vec<Memory> = memories
        .into_iter()
        .filter(|memory| memory.kind != MemoryKind::Summary)
        .filter(|memory| memory.kind != MemoryKind::Lesson || !quotes.contains(&memory.content))
        .collect();
    if kept.iter().any(|memory| memory.kind != MemoryKind::Event) {
        kept.retain(|memory| memory.kind != MemoryKind::Event);
    }
    kept
}
