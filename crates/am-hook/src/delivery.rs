//! What is sent for one event.

use crate::{identifier, payload::Object};

/// Longest idempotency key, in bytes.
pub const LONGEST_KEY: usize = 200;

/// Longest event id of a host that is used in a key, in bytes.
const LONGEST_EVENT_ID: usize = 128;

/// One observation on its way to the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The text, one line.
    pub content: String,
    /// The project's name, never empty.
    pub project: String,
    /// The host's session id, or a fresh UUID v4 when the host gave none.
    pub session_id: String,
    /// `hook:EVENT`.
    pub origin: String,
    /// The idempotency key: `host:EVENT:ID` with the host's own event id, else `delivery:UUID`. Printable
    /// ASCII without spaces, at most [`LONGEST_KEY`] bytes. Equal keys are the same event.
    pub key: String,
    /// When the event happened: milliseconds since 1970-01-01 UTC.
    pub event_time: i64,
}

impl Delivery {
    /// Writes the request body `{content, project, sessionId, origin}`, in that order.
    pub fn body(&self) -> String {
        format!(
            r#"{{"content":{},"project":{},"sessionId":{},"origin":{}}}"#,
            quote(&self.content),
            quote(&self.project),
            quote(&self.session_id),
            quote(&self.origin)
        )
    }

    /// Reads the parts of a delivery back; `None` when one is missing or the key is unusable.
    pub(crate) fn from_body(body: &Object<'_>, key: String, event_time: i64) -> Option<Self> {
        let delivery = Self {
            content: body.text("content")?,
            project: body.text("project")?,
            session_id: body.text("sessionId")?,
            origin: body.text("origin")?,
            key,
            event_time,
        };
        is_usable(&delivery.key, LONGEST_KEY).then_some(delivery)
    }
}

/// Makes the idempotency key of an event from the host's own id of it, where that is usable.
pub(crate) fn idempotency_key(event: &str, event_id: Option<&str>) -> String {
    match event_id {
        Some(id) if is_usable(id, LONGEST_EVENT_ID) => format!("host:{event}:{id}"),
        _ => format!("delivery:{}", identifier::fresh()),
    }
}

/// Writes a JSON string.
pub(crate) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Tells whether a text can stand in a header: printable ASCII without spaces, of bounded length.
fn is_usable(text: &str, longest: usize) -> bool {
    !text.is_empty() && text.len() <= longest && text.bytes().all(|byte| byte.is_ascii_graphic())
}
