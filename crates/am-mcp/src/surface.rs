//! What all calls share: the service, the secret, their order.

use std::sync::Arc;

use am_embed::analysis::Profile;
use am_wire::{Values, request};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::RwLock;

use crate::call::{Outcome, call};
use crate::note::Note;
use crate::tool::{Effect, Tool};
use crate::{Options, ServiceSource};

/// Most reading calls that run at once.
const READERS: u32 = 8;

pub(crate) struct Surface {
    source: Arc<dyn ServiceSource>,
    /// Digest of the header value that calls must carry.
    secret: Option<[u8; 32]>,
    notes: Arc<dyn Fn(Note) + Send + Sync>,
    /// Calls that write take turns with all others, in the order they came: a client that doesn't wait for its save
    /// finds it all the same.
    turn: RwLock<()>,
}

impl Surface {
    pub(crate) fn new(source: Arc<dyn ServiceSource>, options: Options) -> Self {
        let secret = options.secret.filter(|secret| !secret.is_empty());
        Self {
            source,
            secret: secret.map(|secret| digest(&format!("Bearer {secret}"))),
            notes: options.notes,
            turn: RwLock::with_max_readers((), READERS),
        }
    }

    /// Opens the service without waiting for it.
    pub(crate) fn warm_up(&self) {
        let source = Arc::clone(&self.source);
        tokio::spawn(async move { drop(source.service().await) });
    }

    pub(crate) async fn profile(&self) -> Profile {
        self.source.service().await.map_or(Profile::Default, |service| service.identity().profile)
    }

    /// Makes a call; returns its result and the profile of the store.
    pub(crate) async fn call(
        self: &Arc<Self>,
        name: &str,
        arguments: Map<String, Value>,
        authorization: Option<String>,
    ) -> (Outcome, Profile) {
        // Refusals look the same in every profile.
        let refused = |code, reason: String| (Outcome::refused(code, &reason), Profile::Contract);
        let Some(tool) = Tool::named(name) else {
            return refused(-32602, format!("Tool {name} not found"));
        };
        let values = match request::object(tool.fields(), arguments) {
            Ok(values) => values,
            Err(issues) => {
                let issues: Vec<String> =
                    issues.iter().map(|issue| format!("{} at {}", issue.message, issue.place)).collect();
                let issues = issues.join("; ");
                let reason = format!("Input validation error: Invalid arguments for tool {name}: {issues}");
                return refused(-32602, reason);
            }
        };
        if !self.admits(authorization.as_deref()) {
            return refused(-32600, "unauthorized".to_owned());
        }
        // In a task of its own: what is half done is finished when the client goes, and a panic becomes a result.
        let surface = Arc::clone(self);
        let made = tokio::spawn(async move { surface.make(tool, values).await }).await;
        let (outcome, profile) = made.unwrap_or_else(|_| {
            (Outcome::internal_error(tool, "Internal: the call ended early".to_owned()), Profile::Contract)
        });
        if let Some(note) = outcome.note.clone() {
            (self.notes)(note);
        }
        (outcome, profile)
    }

    async fn make(&self, tool: Tool, values: Values) -> (Outcome, Profile) {
        if tool.effect() == Effect::Reads {
            let _turn = self.turn.read().await;
            self.make_now(tool, values).await
        } else {
            let _turn = self.turn.write().await;
            self.make_now(tool, values).await
        }
    }

    async fn make_now(&self, tool: Tool, values: Values) -> (Outcome, Profile) {
        match self.source.service().await {
            Ok(service) => (call(&service, tool, values).await, service.identity().profile),
            Err(error) => (Outcome::internal_error(tool, error.note()), Profile::Contract),
        }
    }

    fn admits(&self, authorization: Option<&str>) -> bool {
        match (&self.secret, authorization) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(secret), Some(given)) => secret.ct_eq(&digest(given)).into(),
        }
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}
