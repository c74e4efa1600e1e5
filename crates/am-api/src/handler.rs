//! The verbs behind the routes: values in, a verb called, a body out.

use std::sync::Arc;

use am_model::{
    Actor, CaptureLevel, Channel, Concept, Importance, Instant, LIMIT_DEFAULT, MemoryId, Origin, Project,
    SessionId,
};
use am_service::{Caller, Digest, Event, Remember, Search, Service, SmartSearch};
use http::{HeaderMap, StatusCode};
use serde::Serialize;

use crate::failure::Failure;
use crate::field;
use crate::observer::{Deleted, Observer};
use crate::validate::Values;
use crate::{path, wire};

/// The header that carries a delivery's key.
const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// The header that tells when a delivered event happened: milliseconds since 1970 UTC.
const EVENT_TIME: &str = "x-agent-memory-event-time";

/// What a capture hook may send beside its text.
pub(crate) static DELIVERY_HEADERS: [(&str, &str); 2] = [
    (
        IDEMPOTENCY_KEY,
        "Key of the delivery, 1 to 200 printable characters: one key is one event. Counts only with an origin `hook:...`.",
    ),
    (
        EVENT_TIME,
        "When the event happened, in milliseconds since 1970 UTC. Counts only beside an idempotency key.",
    ),
];

/// A request that passed every check, ready for its verb.
pub(crate) struct Call {
    pub(crate) service: Service,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) values: Values,
    /// The variable segment of the path, as sent.
    pub(crate) segment: String,
    pub(crate) headers: HeaderMap,
}

/// A success.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
}

pub(crate) type Outcome = Result<Reply, Failure>;

/// Writes a body.
fn reply(status: StatusCode, body: &impl Serialize) -> Outcome {
    let body = serde_json::to_vec(body).map_err(|_| Failure::Internal("the reply can't be written"))?;
    Ok(Reply { status, body })
}

fn ok(body: &impl Serialize) -> Outcome {
    reply(StatusCode::OK, body)
}

impl Call {
    fn caller() -> Caller {
        Caller { channel: Channel::Rest, actor: Actor(Channel::Rest.as_str().to_owned()) }
    }

    fn project(&mut self) -> Project {
        self.values.text(field::PROJECT).map_or_else(Project::unnamed, Project::from_stored)
    }

    fn limit(&mut self) -> usize {
        self.values.number(field::LIMIT).map_or(LIMIT_DEFAULT, |limit| limit as usize)
    }

    fn concepts(&mut self) -> Vec<Concept> {
        self.values.texts(field::CONCEPTS).into_iter().map(Concept::from_stored).collect()
    }

    fn required(&mut self, field: field::Field) -> Result<String, Failure> {
        self.values.text(field).ok_or(Failure::Internal("a route reads a field that it doesn't list"))
    }

    fn remember(&mut self, origin: Origin, event: Option<Event>) -> Result<Remember, Failure> {
        Ok(Remember {
            content: self.required(field::CONTENT)?,
            concepts: self.concepts(),
            project: self.project(),
            session_id: self.values.text(field::SAVED_SESSION).map(SessionId::from_stored),
            origin,
            importance: self.values.number(field::IMPORTANCE).map(Importance::new).transpose()?,
            event,
        })
    }

    /// Reads the event that a hook's request tells of. Requests of others tell of none.
    fn event(&self, origin: &Origin) -> Result<Option<Event>, Failure> {
        let text = |name: &'static str| match self.headers.get(name) {
            Some(value) => match std::str::from_utf8(value.as_bytes()) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(Failure::InvalidRequest(format!("{name}: it is not UTF-8"))),
            },
            None => Ok(None),
        };
        if !origin.is_hook() {
            return Ok(None);
        }
        let Some(key) = text(IDEMPOTENCY_KEY)? else { return Ok(None) };
        let at = match text(EVENT_TIME)? {
            Some(millis) => Some(millis.parse().map(Instant::from_millis).map_err(|_| {
                Failure::InvalidRequest(format!("{EVENT_TIME}: it must be milliseconds since 1970"))
            })?),
            None => None,
        };
        Ok(Some(Event { key: key.to_owned(), at, level: CaptureLevel::Minimal }))
    }

    fn digest(mut self) -> (Service, Digest) {
        let digest = Digest {
            project: self.project(),
            session_id: self.values.text(field::SHOWN_SESSION).map(SessionId::from_stored),
            limit: self.limit(),
        };
        (self.service, digest)
    }
}

pub(crate) fn livez() -> Outcome {
    ok(&wire::Alive { status: "ok" })
}

pub(crate) async fn health(mut call: Call) -> Outcome {
    let project = call.project();
    let counts = call.service.counts(&project).await?.into();
    ok(&wire::Health { status: "ok", counts })
}

pub(crate) async fn remember(mut call: Call) -> Outcome {
    let origin = call.values.text(field::ORIGIN);
    let origin = Origin::from_stored(origin.unwrap_or_else(|| Channel::Rest.as_str().to_owned()));
    let event = call.event(&origin)?;
    let request = call.remember(origin, event)?;
    let saved = call.service.remember(&Call::caller(), request).await?;
    reply(StatusCode::CREATED, &wire::Saved::from(&saved))
}

pub(crate) async fn lesson(mut call: Call) -> Outcome {
    let request = call.remember(Origin::from_stored(Origin::LESSON), None)?;
    let saved = call.service.lesson(&Call::caller(), request).await?;
    reply(StatusCode::CREATED, &wire::Saved::from(&saved))
}

pub(crate) async fn search(mut call: Call) -> Outcome {
    let search = Search { query: call.required(field::QUERY)?, project: call.project(), limit: call.limit() };
    let found = call.service.search(search).await;
    ok(&wire::Found::from(&found))
}

pub(crate) async fn smart_search(mut call: Call) -> Outcome {
    let search = SmartSearch {
        query: call.required(field::QUERY)?,
        concepts: call.concepts(),
        project: call.project(),
        limit: call.limit(),
    };
    let found = call.service.smart_search(search).await;
    ok(&wire::Found::from(&found))
}

pub(crate) async fn sessions(mut call: Call) -> Outcome {
    let (project, limit) = (call.project(), call.limit());
    let sessions = call.service.sessions(&project, limit).await?;
    ok(&wire::Sessions::from(sessions.as_slice()))
}

pub(crate) async fn session_memories(mut call: Call) -> Outcome {
    let Some(session_id) = path::decode_segment(&call.segment) else {
        return Err(Failure::InvalidPathEncoding);
    };
    if session_id.is_empty() {
        return Err(Failure::NotFound);
    }
    let (project, limit) = (call.project(), call.limit());
    let session_id = SessionId::from_stored(session_id);
    let memories = call.service.session_memories(&project, &session_id, limit).await?;
    ok(&wire::SessionMemories::from(memories.as_slice()))
}

pub(crate) async fn forget(mut call: Call) -> Outcome {
    let memory_id = MemoryId::from_stored(call.required(field::MEMORY_ID)?);
    if !call.service.forget(&Call::caller(), &memory_id).await? {
        return Err(Failure::NotFound);
    }
    ok(&wire::Forgotten { forgotten: true })
}

pub(crate) async fn delete(mut call: Call) -> Outcome {
    let memory_id = MemoryId::from_stored(call.required(field::DELETED_ID)?);
    let reason = call.required(field::REASON)?;
    let Some(receipt) = call.service.delete(&Call::caller(), &memory_id, &reason).await? else {
        return Err(Failure::NotFound);
    };
    call.observer.deleted(&Deleted { receipt: &receipt, reason: &reason });
    ok(&wire::Deleted::from(&receipt))
}

pub(crate) async fn recap(call: Call) -> Outcome {
    let (service, digest) = call.digest();
    let recap = service.recap(digest).await;
    ok(&wire::RecapText::from(&recap))
}

pub(crate) async fn handoff(call: Call) -> Outcome {
    let (service, digest) = call.digest();
    let handoff = service.handoff(digest).await;
    ok(&wire::HandoffText::from(&handoff))
}
