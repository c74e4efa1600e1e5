//! The OpenAPI document, made from the table of routes.

use std::borrow::Cow;
use std::sync::OnceLock;

use am_wire::field::Field;
use am_wire::reply;
use http::StatusCode;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::handler::{Outcome, Reply};
use crate::route::{Access, ROUTES, Route};

/// Where the document is served.
pub(crate) const TEMPLATE: &str = "/openapi.json";

/// Makes the OpenAPI 3.1 document of every route.
pub fn openapi() -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        })
        .for_serialize()
        .into_generator();
    let error = generator.subschema_for::<reply::Error<'_>>();
    let mut paths = Map::new();
    for route in &ROUTES {
        let operations = paths.entry(route.template).or_insert_with(|| json!({}));
        if let Value::Object(operations) = operations {
            let method = route.method.to_ascii_lowercase();
            operations.insert(method, operation(route, &error, &mut generator));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "agent-memory",
            "summary": "A durable memory that agents, scripts and programs share.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "http://127.0.0.1:3111", "description": "The default address of am-server." }],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "secret": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The server's secret. Servers without one answer everyone.",
                },
            },
        },
    })
}

fn operation(route: &Route, error: &Schema, generator: &mut SchemaGenerator) -> Value {
    let mut operation = Map::new();
    operation.insert("summary".to_owned(), route.summary.into());
    operation.insert("operationId".to_owned(), operation_id(route).into());
    operation.insert("responses".to_owned(), responses(route, error, generator));
    let parameters = parameters(route);
    if !parameters.is_empty() {
        operation.insert("parameters".to_owned(), parameters.into());
    }
    if !route.body.is_empty() {
        let body = json!({
            "required": true,
            "description": format!("At most {} bytes.", route.body_max),
            "content": { "application/json": { "schema": object_schema(route.body) } },
        });
        operation.insert("requestBody".to_owned(), body);
    }
    if route.access == Access::Secret {
        operation.insert("security".to_owned(), json!([{}, { "secret": [] }]));
    }
    operation.into()
}

/// Names an operation after its path: `smartSearch`, `sessionsMemories`.
fn operation_id(route: &Route) -> String {
    let path = route.template.trim_start_matches("/memory").trim_end_matches(".json");
    let words = path.split(['/', '-']).filter(|word| !word.is_empty() && !word.starts_with('{'));
    words
        .enumerate()
        .map(|(position, word)| {
            let mut letters = word.chars();
            match letters.next() {
                Some(first) if position > 0 => first.to_ascii_uppercase().to_string() + letters.as_str(),
                _ => word.to_owned(),
            }
        })
        .collect()
}

fn parameters(route: &Route) -> Vec<Value> {
    let variable = route.template.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    let in_path = variable.map(|(name, _)| {
        json!({
            "name": name,
            "in": "path",
            "required": true,
            "schema": { "type": "string", "minLength": 1 },
        })
    });
    let in_query = route.query.iter().map(|field| {
        json!({
            "name": field.name,
            "in": "query",
            "required": field.required,
            "description": field.about,
            "schema": field.rule.schema(),
        })
    });
    let in_headers = route.headers.iter().map(|(name, about)| {
        json!({
            "name": name,
            "in": "header",
            "required": false,
            "description": about,
            "schema": { "type": "string" },
        })
    });
    in_path.into_iter().chain(in_query).chain(in_headers).collect()
}

fn responses(route: &Route, error: &Schema, generator: &mut SchemaGenerator) -> Value {
    let body = |description: &str, schema: &Schema| {
        json!({
            "description": description,
            "content": { "application/json": { "schema": schema } },
        })
    };
    let mut responses = Map::new();
    responses.insert(route.success.to_string(), body("Success.", &(route.schema)(generator)));
    let mut failures = vec![403, 405];
    failures.extend(route.failures);
    if route.access == Access::Secret {
        failures.extend([401, 500, 503]);
    }
    if !route.query.is_empty() {
        failures.push(400);
    }
    if !route.body.is_empty() {
        failures.extend([400, 408, 413, 415]);
    }
    for status in failures {
        let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        responses.insert(status.to_string(), body(&format!("{}.", reason.unwrap_or("Failure")), error));
    }
    responses.into()
}

/// Describes a body: fields of the table, and no others.
fn object_schema(fields: &[Field]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| {
            let mut schema = field.rule.schema();
            if let Value::Object(schema) = &mut schema {
                schema.insert("description".to_owned(), field.about.into());
            }
            (field.name.to_owned(), schema)
        })
        .collect();
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// The document itself, as a reply.
pub(crate) struct Document;

impl JsonSchema for Document {
    fn schema_name() -> Cow<'static, str> {
        "Document".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "description": "An OpenAPI 3.1 document." })
    }
}

/// Gives the document, written once.
pub(crate) fn document() -> Outcome {
    static DOCUMENT: OnceLock<Vec<u8>> = OnceLock::new();
    let body = DOCUMENT.get_or_init(|| serde_json::to_vec(&openapi()).unwrap_or_default()).clone();
    if body.is_empty() {
        Err(Failure::Internal("the document can't be written"))
    } else {
        Ok(Reply { status: StatusCode::OK, body })
    }
}
