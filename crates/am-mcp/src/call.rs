//! One call: the verb it stands for, and its result as text.

use am_model::{Actor, Channel, SessionId};
use am_service::{Caller, Service, ServiceError};
use am_wire::{Unlisted, Values, field, reply};
use serde::Serialize;

use crate::note::Note;
use crate::tool::Tool;

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Compact JSON, or plain words for the model.
    pub(crate) text: String,
    /// Whether the text is a reply of the tool, and not the reason why there is none.
    pub(crate) succeeded: bool,
    /// What the program is to say of it.
    pub(crate) note: Option<Note>,
}

impl Outcome {
    fn reply(body: impl Serialize) -> Self {
        Self { text: json(&body), succeeded: true, note: None }
    }

    fn not_found() -> Self {
        Self { text: json(&reply::Error { error: "not_found", details: None }), succeeded: false, note: None }
    }

    /// Makes the result of a call that failed for a reason the caller can't mend.
    pub(crate) fn internal_error(tool: Tool, note: String) -> Self {
        let note = Some(Note::Failed { tool: tool.name(), note });
        Self { text: json(&reply::Error { error: "internal_error", details: None }), succeeded: false, note }
    }

    /// Makes the result of a call that was refused, with the code that the contract's library shows.
    pub(crate) fn refused(code: i32, reason: &str) -> Self {
        Self { text: format!("MCP error {code}: {reason}"), succeeded: false, note: None }
    }
}

fn json(body: &impl Serialize) -> String {
    // Strings and finite numbers always have a JSON form.
    serde_json::to_string(body).unwrap_or_default()
}

/// Why a call has no reply, for the program's error stream.
struct Failed(String);

impl From<ServiceError> for Failed {
    fn from(error: ServiceError) -> Self {
        Self(error.note())
    }
}

impl From<Unlisted> for Failed {
    fn from(error: Unlisted) -> Self {
        Self(format!("Internal: {error}"))
    }
}

/// Makes a call whose arguments have been checked.
pub(crate) async fn call(service: &Service, tool: Tool, values: Values) -> Outcome {
    match attempt(service, tool, values).await {
        Ok(outcome) => outcome,
        Err(Failed(note)) => Outcome::internal_error(tool, note),
    }
}

async fn attempt(service: &Service, tool: Tool, mut values: Values) -> Result<Outcome, Failed> {
    let caller = Caller { channel: Channel::Mcp, actor: Actor(Channel::Mcp.as_str().to_owned()) };
    Ok(match tool {
        Tool::Save => {
            let saved = service.remember(&caller, values.remember(Channel::Mcp)?).await?;
            Outcome::reply(reply::Saved::from(&saved))
        }
        Tool::Lesson => {
            let saved = service.lesson(&caller, values.remember(Channel::Mcp)?).await?;
            Outcome::reply(reply::Saved::from(&saved))
        }
        Tool::Search => {
            let found = service.search(values.search()?).await;
            Outcome::reply(reply::Found::from(&found))
        }
        Tool::SmartSearch => {
            let found = service.smart_search(values.smart_search()?).await;
            Outcome::reply(reply::Found::from(&found))
        }
        Tool::Sessions => {
            let sessions = service.sessions(&values.project(), values.limit()).await?;
            Outcome::reply(reply::Sessions::from(sessions.as_slice()))
        }
        Tool::SessionMemories => {
            let session_id = SessionId::from_stored(values.required(field::LISTED_SESSION)?);
            let (project, limit) = (values.project(), values.limit());
            let memories = service.session_memories(&project, &session_id, limit).await?;
            Outcome::reply(reply::SessionMemories::from(memories.as_slice()))
        }
        Tool::Forget => {
            if service.forget(&caller, &values.memory_id()?).await? {
                Outcome::reply(reply::Forgotten { forgotten: true })
            } else {
                Outcome::not_found()
            }
        }
        Tool::Health => Outcome::reply(reply::Health::from(service.counts(&values.project()).await?)),
        Tool::Recap => {
            let recap = service.recap(values.digest()).await;
            Outcome::reply(reply::RecapText::from(&recap))
        }
        Tool::Handoff => {
            let handoff = service.handoff(values.digest()).await;
            Outcome::reply(reply::HandoffText::from(&handoff))
        }
        Tool::Delete => {
            let (memory_id, reason) = (values.memory_id()?, values.required(field::REASON)?);
            let Some(receipt) = service.delete(&caller, &memory_id, &reason).await? else {
                return Ok(Outcome::not_found());
            };
            let mut outcome = Outcome::reply(reply::Deleted::from(&receipt));
            outcome.note = Some(Note::Deleted {
                memory_id: receipt.memory_id.into_string(),
                reason,
                at: receipt.deleted_at.to_string(),
            });
            outcome
        }
    })
}
