//! The verbs behind the routes: values in, a verb called, a body out.

use std::sync::Arc;

use am_model::{Actor, CaptureLevel, Channel, Instant, Origin, SessionId};
use am_service::{Caller, Event, Service};
use am_wire::{Values, field, reply};
use http::{HeaderMap, StatusCode};
use serde::Serialize;

use crate::failure::Failure;
use crate::observer::{Deleted, Observer};
use crate::path;

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
fn write(status: StatusCode, body: &impl Serialize) -> Outcome {
    let body = serde_json::to_vec(body).map_err(|_| Failure::Internal("the reply can't be written"))?;
    Ok(Reply { status, body })
}

fn ok(body: &impl Serialize) -> Outcome {
    write(StatusCode::OK, body)
}

fn caller() -> Caller {
    Caller { channel: Channel::Rest, actor: Actor(Channel::Rest.as_str().to_owned()) }
}

/// Reads the event that a hook's request tells of. Requests of others tell of none.
fn event(headers: &HeaderMap, origin: &Origin) -> Result<Option<Event>, Failure> {
    let text = |name: &'static str| match headers.get(name) {
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

pub(crate) fn livez() -> Outcome {
    ok(&reply::Alive { status: "ok" })
}

pub(crate) async fn health(mut call: Call) -> Outcome {
    let counts = call.service.counts(&call.values.project()).await?;
    ok(&reply::Health::from(counts))
}

pub(crate) async fn remember(call: Call) -> Outcome {
    let mut request = call.values.remember(Channel::Rest)?;
    request.event = event(&call.headers, &request.origin)?;
    let saved = call.service.remember(&caller(), request).await?;
    write(StatusCode::CREATED, &reply::Saved::from(&saved))
}

pub(crate) async fn lesson(call: Call) -> Outcome {
    let request = call.values.remember(Channel::Rest)?;
    let saved = call.service.lesson(&caller(), request).await?;
    write(StatusCode::CREATED, &reply::Saved::from(&saved))
}

pub(crate) async fn search(call: Call) -> Outcome {
    let found = call.service.search(call.values.search()?).await;
    ok(&reply::Found::from(&found))
}

pub(crate) async fn smart_search(call: Call) -> Outcome {
    let found = call.service.smart_search(call.values.smart_search()?).await;
    ok(&reply::Found::from(&found))
}

pub(crate) async fn sessions(mut call: Call) -> Outcome {
    let (project, limit) = (call.values.project(), call.values.limit());
    let sessions = call.service.sessions(&project, limit).await?;
    ok(&reply::Sessions::from(sessions.as_slice()))
}

pub(crate) async fn session_memories(mut call: Call) -> Outcome {
    let Some(session_id) = path::decode_segment(&call.segment) else {
        return Err(Failure::InvalidPathEncoding);
    };
    if session_id.is_empty() {
        return Err(Failure::NotFound);
    }
    let (project, limit) = (call.values.project(), call.values.limit());
    let session_id = SessionId::from_stored(session_id);
    let memories = call.service.session_memories(&project, &session_id, limit).await?;
    ok(&reply::SessionMemories::from(memories.as_slice()))
}

pub(crate) async fn forget(mut call: Call) -> Outcome {
    let memory_id = call.values.memory_id()?;
    if !call.service.forget(&caller(), &memory_id).await? {
        return Err(Failure::NotFound);
    }
    ok(&reply::Forgotten { forgotten: true })
}

pub(crate) async fn delete(mut call: Call) -> Outcome {
    let memory_id = call.values.memory_id()?;
    let reason = call.values.required(field::REASON)?;
    let Some(receipt) = call.service.delete(&caller(), &memory_id, &reason).await? else {
        return Err(Failure::NotFound);
    };
    call.observer.deleted(&Deleted { receipt: &receipt, reason: &reason });
    ok(&reply::Deleted::from(&receipt))
}

pub(crate) async fn recap(call: Call) -> Outcome {
    let recap = call.service.recap(call.values.digest()).await;
    ok(&reply::RecapText::from(&recap))
}

pub(crate) async fn handoff(call: Call) -> Outcome {
    let handoff = call.service.handoff(call.values.digest()).await;
    ok(&reply::HandoffText::from(&handoff))
}
