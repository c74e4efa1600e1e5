//! The OpenAPI document: committed, true, and served.

use std::path::PathBuf;

use am_api::{ApiSettings, ROUTES, openapi};
use serde_json::Value;

use crate::support::{get, over_memory, send};

fn committed() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json"))
}

#[test]
fn the_committed_document_is_that_of_the_routes() {
    let document = openapi();
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        let text = serde_json::to_string_pretty(&document).unwrap() + "\n";
        std::fs::write(committed(), text).unwrap();
    }
    let text = std::fs::read_to_string(committed()).unwrap();
    let same = serde_json::from_str::<Value>(&text).unwrap() == document;
    assert!(same, "docs/openapi.json is out of date: UPDATE_OPENAPI=1 cargo test -p am-api document");
}

#[test]
fn every_route_is_documented_with_its_values_and_replies() {
    let document = openapi();
    for route in &ROUTES {
        let operation = &document["paths"][route.template][route.method.to_ascii_lowercase()];
        let about = format!("{route:?}: {operation}");
        assert!(operation["responses"][route.success.to_string()]["content"].is_object(), "{about}");
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        for field in route.body {
            assert!(body["properties"][field.name]["description"].is_string(), "{about}");
        }
        assert_eq!(body.is_object(), !route.body.is_empty(), "{about}");
        let documented = operation["parameters"].as_array().map_or(0, Vec::len);
        let variables = route.template.matches('{').count();
        assert_eq!(documented, route.query.len() + route.headers.len() + variables, "{about}");
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(entries) => {
                found.extend(entries.get("$ref").and_then(Value::as_str));
                entries.values().for_each(|value| references(value, found));
            }
            Value::Array(elements) => elements.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let document = openapi();
    let mut found = vec![];
    references(&document, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

#[tokio::test]
async fn the_document_is_served_to_everyone() {
    let router = over_memory(ApiSettings { secret: Some("s".to_owned()), ..ApiSettings::default() }).await;
    let reply = send(&router, get("/openapi.json")).await;
    assert_eq!(reply.status, 200);
    assert_eq!(serde_json::from_slice::<Value>(&reply.body).unwrap(), openapi());
}
