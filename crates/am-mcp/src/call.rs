//! One call: the verb it stands for, and its result as text.

use am_model::{Actor, Channel, Importance};
use am_service::{Caller, Digest, Remember, Search, Service, ServiceError, SmartSearch};
use serde::Serialize;

use crate::body::{
    DeletedBody, ErrorBody, ForgottenBody, HandoffBody, HealthBody, MemoriesBody, RecapBody, SavedBody,
    SessionsBody, search,
};
use crate::field::{Arguments, CONTENT, QUERY, REASON};
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
        Self { text: json(&ErrorBody { error: "not_found" }), succeeded: false, note: None }
    }

    /// Makes the result of a call that failed for a reason the caller can't mend.
    pub(crate) fn internal_error(tool: Tool, note: String) -> Self {
        let note = Some(Note::Failed { tool: tool.name(), note });
        Self { text: json(&ErrorBody { error: "internal_error" }), succeeded: false, note }
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

/// Makes a call whose arguments have been checked.
pub(crate) async fn call(service: &Service, tool: Tool, arguments: &Arguments) -> Outcome {
    match attempt(service, tool, arguments).await {
        Ok(outcome) => outcome,
        Err(error) => Outcome::internal_error(tool, error.note()),
    }
}

async fn attempt(service: &Service, tool: Tool, arguments: &Arguments) -> Result<Outcome, ServiceError> {
    let caller = Caller { channel: Channel::Mcp, actor: Actor(Channel::Mcp.as_str().to_owned()) };
    let project = arguments.project();
    let limit = arguments.limit();
    Ok(match tool {
        Tool::Save => {
            let saved = service.remember(&caller, remember(arguments)?).await?;
            Outcome::reply(SavedBody::from(&saved))
        }
        Tool::Lesson => {
            let saved = service.lesson(&caller, remember(arguments)?).await?;
            Outcome::reply(SavedBody::from(&saved))
        }
        Tool::Search => {
            let query = arguments.required_text(QUERY);
            let found = service.search(Search { query, project, limit }).await;
            Outcome::reply(search(&found, false))
        }
        Tool::SmartSearch => {
            let query = arguments.required_text(QUERY);
            let concepts = arguments.concepts();
            let found = service.smart_search(SmartSearch { query, concepts, project, limit }).await;
            Outcome::reply(search(&found, true))
        }
        Tool::Sessions => {
            let sessions = service.sessions(&project, limit).await?;
            Outcome::reply(SessionsBody::from(sessions.as_slice()))
        }
        Tool::SessionMemories => {
            let memories = match arguments.session() {
                Some(session) => service.session_memories(&project, &session, limit).await?,
                None => vec![],
            };
            Outcome::reply(MemoriesBody::from(memories.as_slice()))
        }
        Tool::Forget => {
            if service.forget(&caller, &arguments.memory()).await? {
                Outcome::reply(ForgottenBody { forgotten: true })
            } else {
                Outcome::not_found()
            }
        }
        Tool::Health => Outcome::reply(HealthBody::from(service.counts(&project).await?)),
        Tool::Recap => {
            let recap = service.recap(Digest { project, session_id: arguments.session(), limit }).await;
            Outcome::reply(RecapBody::from(&recap))
        }
        Tool::Handoff => {
            let handoff = service.handoff(Digest { project, session_id: arguments.session(), limit }).await;
            Outcome::reply(HandoffBody::from(&handoff))
        }
        Tool::Delete => {
            let reason = arguments.required_text(REASON);
            let Some(receipt) = service.delete(&caller, &arguments.memory(), &reason).await? else {
                return Ok(Outcome::not_found());
            };
            let mut outcome = Outcome::reply(DeletedBody::from(&receipt));
            outcome.note = Some(Note::Deleted {
                memory_id: receipt.memory_id.into_string(),
                reason,
                at: receipt.deleted_at.to_string(),
            });
            outcome
        }
    })
}

fn remember(arguments: &Arguments) -> Result<Remember, ServiceError> {
    Ok(Remember {
        content: arguments.required_text(CONTENT),
        concepts: arguments.concepts(),
        project: arguments.project(),
        session_id: arguments.session(),
        origin: arguments.origin(),
        importance: arguments.importance().map(Importance::new).transpose()?,
        event: None,
    })
}
