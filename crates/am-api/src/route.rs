//! The one table of routes: dispatch, documents, metrics and tests all read it.

use std::fmt;
use std::pin::Pin;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::field::{self, Field};
use crate::handler::{self, Call, Outcome};
use crate::{openapi, wire};

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

const fn get(
    template: &'static str,
    query: &'static [Field],
    summary: &'static str,
    schema: fn(&mut SchemaGenerator) -> Schema,
    handler: Handler,
) -> Route {
    Route {
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
        schema,
        handler,
    }
}

const fn post(
    template: &'static str,
    body: &'static [Field],
    summary: &'static str,
    schema: fn(&mut SchemaGenerator) -> Schema,
    handler: Handler,
) -> Route {
    Route {
        method: "POST",
        template,
        access: Access::Secret,
        body_max: BODY_MAX,
        query: &[],
        body,
        headers: &[],
        summary,
        success: 200,
        failures: &[],
        schema,
        handler,
    }
}

macro_rules! verb {
    ($name:ident) => {
        Handler::Verb(|call| Box::pin(handler::$name(call)))
    };
}

/// Every route.
pub static ROUTES: [Route; 13] = [
    Route {
        access: Access::Open,
        ..get(
            "/memory/livez",
            &[],
            "Tells that the server is up.",
            schema::<wire::Alive>,
            Handler::Fixed(handler::livez),
        )
    },
    get(
        "/memory/health",
        &[field::PROJECT],
        "Tells that the store answers, and what a project holds.",
        schema::<wire::Health>,
        verb!(health),
    ),
    Route {
        success: 201,
        headers: &handler::DELIVERY_HEADERS,
        ..post(
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
            schema::<wire::Saved<'_>>,
            verb!(remember),
        )
    },
    Route {
        success: 201,
        ..post(
            "/memory/lesson",
            &[field::CONTENT, field::CONCEPTS, field::PROJECT, field::SAVED_SESSION, field::IMPORTANCE],
            "Saves a lesson.",
            schema::<wire::Saved<'_>>,
            verb!(lesson),
        )
    },
    post(
        "/memory/search",
        &[field::QUERY, field::PROJECT, field::LIMIT],
        "Searches by keyword.",
        schema::<wire::Found<'_>>,
        verb!(search),
    ),
    post(
        "/memory/smart-search",
        &[field::QUERY, field::NAMED_CONCEPTS, field::PROJECT, field::LIMIT],
        "Searches by meaning, keyword and concept.",
        schema::<wire::Found<'_>>,
        verb!(smart_search),
    ),
    get(
        "/memory/sessions",
        &[field::PROJECT, field::LIMIT],
        "Lists the newest sessions of a project.",
        schema::<wire::Sessions<'_>>,
        verb!(sessions),
    ),
    get(
        "/memory/sessions/{sessionId}/memories",
        &[field::PROJECT, field::LIMIT],
        "Lists the newest memories of a session; none for an unknown one.",
        schema::<wire::SessionMemories<'_>>,
        verb!(session_memories),
    ),
    Route {
        failures: &[404],
        ..post(
            "/memory/forget",
            &[field::MEMORY_ID],
            "Forgets a memory.",
            schema::<wire::Forgotten>,
            verb!(forget),
        )
    },
    Route {
        failures: &[404],
        ..post(
            "/memory/delete",
            &[field::DELETED_ID, field::REASON],
            "Deletes a memory for a reason that the log keeps.",
            schema::<wire::Deleted<'_>>,
            verb!(delete),
        )
    },
    post(
        "/memory/recap",
        &[field::PROJECT, field::SHOWN_SESSION, field::LIMIT],
        "Shows the newest memories as text.",
        schema::<wire::RecapText<'_>>,
        verb!(recap),
    ),
    post(
        "/memory/handoff",
        &[field::PROJECT, field::SHOWN_SESSION, field::LIMIT],
        "Shows the newest memories as text, under the counts of their project.",
        schema::<wire::HandoffText<'_>>,
        verb!(handoff),
    ),
    Route {
        access: Access::Open,
        ..get(
            openapi::TEMPLATE,
            &[],
            "Gives this document.",
            openapi::schema_of_itself,
            Handler::Fixed(openapi::reply),
        )
    },
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
