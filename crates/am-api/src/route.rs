//! The one table of routes: dispatch, documents, metrics and tests all read it.

use std::fmt;
use std::pin::Pin;

use am_wire::field::{self, Field};
use am_wire::reply;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::handler::{self, Call, Outcome};
use crate::openapi;

/// Largest body, in bytes.
const BODY_MAX: usize = 1_048_576;

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everyone: it tells nothing about memories.
    Open,
    /// Who shows the secret, where one is set.
    Secret,
}

/// One route: one path and its method.
pub struct Route {
    /// Its method.
    pub method: &'static str,
    /// Its path, with at most one `{variable}` segment.
    pub template: &'static str,
    /// Who may use it.
    pub access: Access,
    /// Largest body in bytes; 0: it reads none.
    pub body_max: usize,
    /// Values of the query string.
    pub query: &'static [Field],
    /// Values of the body.
    pub body: &'static [Field],
    /// Headers that mean something to it, each with what, for documents.
    pub headers: &'static [(&'static str, &'static str)],
    /// What it does, for documents.
    pub summary: &'static str,
    /// Status of a success.
    pub success: u16,
    /// Further statuses with a body of their own meaning here, for documents.
    pub failures: &'static [u16],
    /// Schema of a success.
    pub(crate) schema: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) handler: Handler,
}

/// What answers a request.
pub(crate) enum Handler {
    /// An answer that depends on nothing and never waits.
    Fixed(fn() -> Outcome),
    /// A verb.
    Verb(fn(Call) -> Pin<Box<dyn Future<Output = Outcome> + Send>>),
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({:?}, body up to {})", self.method, self.template, self.access, self.body_max)
    }
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

impl Route {
    /// Makes a route that reads no body; a success is a `T`.
    const fn get<T: JsonSchema>(
        template: &'static str,
        query: &'static [Field],
        summary: &'static str,
        handler: Handler,
    ) -> Self {
        Self {
            method: "GET",
            template,
            access: Access::Secret,
            body_max: 0,
            query,
            body: &[],
            headers: &[],
            summary,
            success: 200,
            failures: &[],
            schema: schema::<T>,
            handler,
        }
    }

    /// Makes a route that reads a body; a success is a `T`.
    const fn post<T: JsonSchema>(
        template: &'static str,
        body: &'static [Field],
        summary: &'static str,
        handler: Handler,
    ) -> Self {
        Self { method: "POST", body_max: BODY_MAX, body, ..Self::get::<T>(template, &[], summary, handler) }
    }

    const fn open(self) -> Self {
        Self { access: Access::Open, ..self }
    }

    const fn creates(self) -> Self {
        Self { success: 201, ..self }
    }

    const fn may_find_nothing(self) -> Self {
        Self { failures: &[404], ..self }
    }
}

macro_rules! verb {
    ($name:ident) => {
        Handler::Verb(|call| Box::pin(handler::$name(call)))
    };
}

/// What a listing takes.
const LISTING: &[Field] = &[field::PROJECT, field::LIMIT];
/// What a digest takes.
const DIGEST: &[Field] = &[field::PROJECT, field::SHOWN_SESSION, field::LIMIT];

/// Every route.
pub static ROUTES: [Route; 13] = [
    Route::get::<reply::Alive>(
        "/memory/livez",
        &[],
        "Tells that the server is up.",
        Handler::Fixed(handler::livez),
    )
    .open(),
    Route::get::<reply::Health>(
        "/memory/health",
        &[field::PROJECT],
        "Tells that the store answers, and what a project holds.",
        verb!(health),
    ),
    Route {
        headers: &handler::DELIVERY_HEADERS,
        ..Route::post::<reply::Saved<'_>>(
            "/memory/remember",
            &[
                field::CONTENT,
                field::CONCEPTS,
                field::PROJECT,
                field::SAVED_SESSION,
                field::ORIGIN,
                field::IMPORTANCE,
            ],
            "Saves a text, unless the project has it: then it is deduplicated or merged.",
            verb!(remember),
        )
        .creates()
    },
    Route::post::<reply::Saved<'_>>(
        "/memory/lesson",
        &[field::CONTENT, field::CONCEPTS, field::PROJECT, field::SAVED_SESSION, field::IMPORTANCE],
        "Saves a lesson.",
        verb!(lesson),
    )
    .creates(),
    Route::post::<reply::Found<'_>>(
        "/memory/search",
        &[field::QUERY, field::PROJECT, field::LIMIT],
        "Searches by keyword.",
        verb!(search),
    ),
    Route::post::<reply::Found<'_>>(
        "/memory/smart-search",
        &[field::QUERY, field::NAMED_CONCEPTS, field::PROJECT, field::LIMIT],
        "Searches by meaning, keyword and concept.",
        verb!(smart_search),
    ),
    Route::get::<reply::Sessions<'_>>(
        "/memory/sessions",
        LISTING,
        "Lists the newest sessions of a project.",
        verb!(sessions),
    ),
    Route::get::<reply::SessionMemories<'_>>(
        "/memory/sessions/{sessionId}/memories",
        LISTING,
        "Lists the newest memories of a session; none for an unknown one.",
        verb!(session_memories),
    ),
    Route::post::<reply::Forgotten>(
        "/memory/forget",
        &[field::MEMORY_ID],
        "Forgets a memory.",
        verb!(forget),
    )
    .may_find_nothing(),
    Route::post::<reply::Deleted<'_>>(
        "/memory/delete",
        &[field::DELETED_ID, field::REASON],
        "Deletes a memory for a reason that the log keeps.",
        verb!(delete),
    )
    .may_find_nothing(),
    Route::post::<reply::RecapText<'_>>(
        "/memory/recap",
        DIGEST,
        "Shows the newest memories as text.",
        verb!(recap),
    ),
    Route::post::<reply::HandoffText<'_>>(
        "/memory/handoff",
        DIGEST,
        "Shows the newest memories as text, under the counts of their project.",
        verb!(handoff),
    ),
    Route::get::<openapi::Document>(
        openapi::TEMPLATE,
        &[],
        "Gives this document.",
        Handler::Fixed(openapi::document),
    )
    .open(),
];

/// Finds the route of a path, and what stands for its variable; exact, so a trailing slash is another path.
pub(crate) fn find(path: &str) -> Option<(&'static Route, &str)> {
    ROUTES.iter().find_map(|route| matched(route.template, path).map(|segment| (route, segment)))
}

fn matched<'a>(template: &str, path: &'a str) -> Option<&'a str> {
    let Some((before, variable)) = template.split_once('{') else {
        return (template == path).then_some("");
    };
    let after = variable.split_once('}')?.1;
    let segment = path.strip_prefix(before)?.strip_suffix(after)?;
    (!segment.contains('/')).then_some(segment)
}
