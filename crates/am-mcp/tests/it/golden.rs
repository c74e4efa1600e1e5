//! Every case of `mcp.json`, on the contract profile.

use std::collections::HashMap;
use std::sync::Arc;

use am_embed::analysis::Profile;
use am_model::Instant;
use am_store::StoreError;
use am_store::testkit::MemoryStore;
use serde_json::{Value, json};

use crate::support::{Client, service_over, text};

pub(crate) fn golden() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/mcp.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

const PROJECT: &str = "golden-project";

/// Compares values whose texts may hold masks. A mask for ids means the same id wherever it stands.
#[derive(Default)]
pub(crate) struct Masks(HashMap<String, String>);

impl Masks {
    pub(crate) fn check(&mut self, expected: &Value, actual: &Value, at: &str) {
        match (expected, actual) {
            (Value::String(expected), Value::String(actual)) => {
                assert!(self.text(expected, actual), "{at}: expected {expected:?}, got {actual:?}");
            }
            (Value::Array(expected), Value::Array(actual)) => {
                assert_eq!(expected.len(), actual.len(), "{at}: {actual:?}");
                for (position, (expected, actual)) in expected.iter().zip(actual).enumerate() {
                    self.check(expected, actual, &format!("{at}.{position}"));
                }
            }
            (Value::Object(expected), Value::Object(actual)) => {
                let keys =
                    |object: &serde_json::Map<String, Value>| object.keys().cloned().collect::<Vec<_>>();
                assert_eq!(keys(expected), keys(actual), "{at}");
                for (key, expected) in expected {
                    self.check(expected, &actual[key], &format!("{at}.{key}"));
                }
            }
            (Value::Number(expected), Value::Number(actual))
                if at.rsplit_once('.').is_some_and(|(_, key)| key == "score") =>
            {
                let difference = expected.as_f64().unwrap() - actual.as_f64().unwrap();
                assert!(difference.abs() < 1e-5, "{at}: expected {expected}, got {actual}");
            }
            _ => assert_eq!(expected, actual, "{at}"),
        }
    }

    fn text(&mut self, expected: &str, actual: &str) -> bool {
        let Some((before, masked)) = expected.split_once('$') else { return expected == actual };
        let Some(actual) = actual.strip_prefix(before) else { return false };
        let digits = masked.len() - masked.trim_start_matches(char::is_alphabetic).len();
        let (name, mut rest) = masked.split_at(digits);
        let numbered = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let (number, after) = rest.split_at(rest.len() - numbered.len());
        rest = after;
        match name {
            "P" => actual.strip_prefix(PROJECT).is_some_and(|actual| self.text(rest, actual)),
            "time" => actual
                .split_at_checked(24)
                .is_some_and(|(time, actual)| Instant::parse(time).is_some() && self.text(rest, actual)),
            "node" => {
                let left = actual.trim_start_matches(|c: char| c.is_ascii_digit());
                left.len() < actual.len() && self.text(rest, left)
            }
            "uuid" => actual.split_at_checked(36).is_some_and(|(id, actual)| {
                let known = self.0.entry(number.to_owned()).or_insert_with(|| id.to_owned());
                known == id && self.text(rest, actual)
            }),
            "failure" => actual.contains(": ") && rest.is_empty(),
            _ => panic!("an unknown mask: {name}"),
        }
    }
}

async fn check_calls(client: &mut Client, calls: &Value, masks: &mut Masks) {
    for (position, case) in calls.as_array().unwrap().iter().enumerate() {
        let filled: Value =
            serde_json::from_str(&case["arguments"].to_string().replace("$P", PROJECT)).unwrap();
        let mut params = json!({"name": case["tool"], "arguments": filled});
        if !case["meta"].is_null() {
            params["_meta"] = case["meta"].clone();
        }
        let answer = client.ask("tools/call", params).await;
        let result = &answer["result"];
        let at = format!("{position} {}", case["tool"]);
        assert_eq!(result["isError"], case["isError"], "{at}: {answer}");
        assert_eq!(result["structuredContent"], Value::Null, "{at}: the contract has none");
        if let Some(expected) = case["text"].as_str() {
            assert_eq!(text(result), expected, "{at}");
        } else {
            let reply: Value = serde_json::from_str(text(result)).unwrap();
            masks.check(&case["json"], &reply, &at);
        }
    }
}

#[tokio::test]
async fn handshake_and_tools() {
    let golden = golden();
    let store = Arc::new(MemoryStore::new(Profile::Contract));
    let mut client = Client::over(service_over(store).await);
    let answer = client.initialize().await;
    assert_eq!(answer["serverInfo"]["name"], golden["protocol"]["serverName"]);
    assert_eq!(answer["capabilities"], golden["protocol"]["capabilities"]);

    let listed = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let shown: Vec<Value> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            let mut tool = tool.as_object().unwrap().clone();
            assert!(tool.remove("description").is_some_and(|words| !words.as_str().unwrap().is_empty()));
            Value::Object(tool)
        })
        .collect();
    assert_eq!(Value::Array(shown), golden["tools"]);

    assert_eq!(client.ask("ping", json!({})).await["result"], golden["ping"]);
    for method in ["resources/list", "prompts/list", "resources/templates/list", "logging/setLevel", "x/y"] {
        let answer = client.ask(method, json!({"level": "info"})).await;
        assert_eq!(answer["error"], golden["methodNotFound"], "{method}");
    }
}

#[tokio::test]
async fn calls_of_an_open_server_one_with_a_secret_and_one_without_a_store() {
    let golden = golden();
    let store = Arc::new(MemoryStore::new(Profile::Contract));
    let service = service_over(Arc::clone(&store)).await;
    let mut masks = Masks::default();

    let mut open = Client::over(service.clone());
    open.initialize().await;
    check_calls(&mut open, &golden["open"], &mut masks).await;

    let mut guarded = Client::of(Arc::new(service.clone()), Some("zz"));
    guarded.initialize().await;
    guarded.ask("tools/list", json!({})).await;
    check_calls(&mut guarded, &golden["secret"], &mut masks).await;

    store.fail_always(Some(StoreError::Unavailable { detail: "gone".to_owned() }));
    let mut down = Client::over(service);
    down.initialize().await;
    check_calls(&mut down, &golden["storeDown"], &mut masks).await;
    assert_eq!(
        down.said(),
        [
            "[agent-memory mcp] memory_health: Unavailable: the store can't be reached: gone",
            "[agent-memory mcp] memory_save: Unavailable: the store can't be reached: gone",
        ]
    );
}
