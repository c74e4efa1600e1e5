//! What the tools say of themselves, and what they do beyond the golden cases.

use std::sync::Arc;

use am_embed::analysis::Profile;
use am_mcp::Note;
use serde_json::{Value, json};

use crate::support::{Client, body, service, text};

/// Bytes of `tools/list` that 3,000 tokens are, at four for each.
const LIST_BYTES: usize = 12_000;

#[tokio::test]
async fn the_list_of_tools_leaves_room_for_the_conversation() {
    for profile in [Profile::Contract, Profile::Default] {
        let mut client = Client::over(service(profile).await);
        let info = client.initialize().await;
        assert!(info["instructions"].as_str().unwrap().len() < 2048);
        let list = client.ask("tools/list", json!({})).await["result"].clone();
        let bytes = list.to_string().len();
        assert!(bytes < LIST_BYTES, "{profile:?}: {bytes}");
        for tool in list["tools"].as_array().unwrap() {
            assert!(tool["description"].as_str().unwrap().len() < 2048);
        }
    }
}

#[tokio::test]
async fn in_the_default_profile_replies_are_structured_as_the_schema_says() {
    let mut client = Client::over(service(Profile::Default).await);
    client.initialize().await;
    let list = client.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let saved =
        client.call("memory_save", json!({"content": "tokio parks on epoll", "sessionId": "s"})).await;
    let id = body(&saved)["id"].clone();
    client.call("memory_save", json!({"content": "another claim, to be deleted", "sessionId": "s"})).await;
    let found = client.call("memory_search", json!({"query": "deleted"})).await;
    let deleted = body(&found)["results"][0]["memoryId"].clone();
    let calls = [
        ("memory_save", json!({"content": "a third one"})),
        ("memory_search", json!({"query": "tokio"})),
        ("memory_smart_search", json!({"query": "tokio", "concepts": ["epoll"]})),
        ("memory_sessions", json!({})),
        ("memory_session_memories", json!({"sessionId": "s"})),
        ("memory_health", json!({})),
        ("memory_recap", json!({})),
        ("memory_handoff", json!({"sessionId": "s"})),
        ("memory_lesson", json!({"content": "a lesson"})),
        ("memory_forget", json!({"memoryId": id})),
        ("memory_delete", json!({"memoryId": deleted, "reason": "wrong"})),
    ];
    for (name, arguments) in calls {
        let result = client.call(name, arguments).await;
        assert_eq!(result["isError"], false, "{name}: {result}");
        assert_eq!(result["structuredContent"], body(&result), "{name}");
        let tool = list.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        conforms(&result["structuredContent"], &tool["outputSchema"], name);
        assert_eq!(tool["annotations"]["openWorldHint"], false);
    }
    let refused = client.call("memory_forget", json!({"memoryId": "no-such"})).await;
    assert_eq!(refused["structuredContent"], Value::Null);
}

/// Checks a value against the few words of JSON Schema that our schemas use.
fn conforms(value: &Value, schema: &Value, at: &str) {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64(),
        "null" => value.is_null(),
        other => panic!("{at}: a type of no value: {other}"),
    };
    match &schema["type"] {
        Value::Array(types) => assert!(types.iter().any(|name| is(name.as_str().unwrap())), "{at}: {value}"),
        name => assert!(is(name.as_str().unwrap()), "{at}: {value}"),
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{at}: {name} is missing");
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        conforms(&value[name], schema, &format!("{at}.{name}"));
    }
    for element in value.as_array().into_iter().flatten() {
        conforms(element, &schema["items"], at);
    }
}

#[tokio::test]
async fn replies_have_the_keys_of_the_contract_in_its_order() {
    let mut client = Client::over(service(Profile::Contract).await);
    client.initialize().await;
    let saved = client
        .call(
            "memory_save",
            json!({"content": "whole numbers", "project": "p", "sessionId": "s", "importance": 1}),
        )
        .await;
    let id = body(&saved)["id"].as_str().unwrap().to_owned();
    assert_eq!(
        text(&saved),
        format!(
            r#"{{"id":"{id}","sessionId":"s","project":"p","concepts":["numbers","whole"],"deduped":false,"consolidated":false}}"#
        )
    );
    let found = client.call("memory_smart_search", json!({"query": "whole", "project": "p"})).await;
    let created = body(&found)["results"][0]["createdAt"].as_str().unwrap().to_owned();
    let row = text(&found);
    assert!(
        row.starts_with(&format!(
            r#"{{"mode":"hybrid","results":[{{"id":"1","memoryId":"{id}","content":"whole numbers","sessionId":"s","origin":"mcp","importance":1,"createdAt":"{created}","score":0."#
        )),
        "{row}"
    );
    assert!(row.contains(r#","distance":0."#), "{row}");
    assert!(row.ends_with(r#","source":"vector","signals":[]}],"signals":[]}"#), "{row}");
    let recap = client.call("memory_recap", json!({"project": "none"})).await;
    assert_eq!(text(&recap), r#"{"recap":"","sessionId":null,"count":0,"signals":[]}"#);
    let handoff = client.call("memory_handoff", json!({"project": "none", "sessionId": "x"})).await;
    assert_eq!(
        text(&handoff),
        r#"{"handoff":"project=none memories=0 sessions=0 recent:","sessionId":"x","counts":{"memories":0,"sessions":0},"signals":[]}"#
    );
}

#[tokio::test]
async fn a_delete_leaves_a_receipt_and_a_line_for_the_error_stream() {
    let mut client = Client::over(service(Profile::Default).await);
    client.initialize().await;
    let saved = client.call("memory_save", json!({"content": "to be deleted"})).await;
    let id = body(&saved)["id"].as_str().unwrap().to_owned();
    let reason = "it is\nwrong \u{feff} and old";
    let deleted =
        client.call("memory_delete", json!({"memoryId": format!(" {id} "), "reason": reason})).await;
    let at = body(&deleted)["receipt"]["deletedAt"].as_str().unwrap().to_owned();
    assert_eq!(body(&deleted), json!({"deleted": true, "receipt": {"memoryId": id, "deletedAt": at}}));
    let line = format!("[agentmemory] delete governance memoryId={id} reason=it is wrong and old at={at}");
    assert_eq!(client.said(), [line]);
    let again = client.call("memory_delete", json!({"memoryId": id, "reason": "r"})).await;
    assert_eq!(text(&again), r#"{"error":"not_found"}"#);
    assert_eq!(client.said().len(), 1);
}

#[test]
fn a_note_is_one_line() {
    let note = Note::Failed { tool: "memory_save", note: "Busy: a\nb".to_owned() };
    assert_eq!(note.to_string(), "[agent-memory mcp] memory_save: Busy: a b");
}

#[tokio::test]
async fn a_client_that_does_not_wait_finds_what_it_saved() {
    let mut client = Client::over(service(Profile::Default).await);
    client.initialize().await;
    let mut lines = String::new();
    for round in 0..20 {
        let content = format!("claim number{round} of the batch word{round}");
        let save = json!({"name": "memory_save", "arguments": {"content": content}});
        let search = json!({"name": "memory_search", "arguments": {"query": format!("word{round}")}});
        for (id, params) in [(100 + round, save), (200 + round, search)] {
            lines +=
                &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string();
            lines += "\n";
        }
    }
    client.send_bytes(lines.as_bytes()).await;
    for _ in 0..40 {
        let answer = client.receive().await;
        if answer["id"].as_u64().unwrap() >= 200 {
            assert_eq!(body(&answer["result"])["results"].as_array().map(Vec::len), Some(1), "{answer}");
        }
    }
}

#[tokio::test]
async fn the_secret_counts_exactly() {
    let service = service(Profile::Default).await;
    let mut client = Client::of(Arc::new(service), Some(" s\u{e9}cret "));
    client.initialize().await;
    for (authorization, admitted) in [
        (json!("Bearer  s\u{e9}cret "), true),
        (json!("Bearer s\u{e9}cret"), false),
        (json!("bearer  s\u{e9}cret "), false),
        (json!(" s\u{e9}cret "), false),
        (json!(["Bearer  s\u{e9}cret "]), false),
        (json!(null), false),
    ] {
        let params = json!({"name": "memory_health", "_meta": {"authorization": authorization}});
        let result = client.ask("tools/call", params).await["result"].clone();
        assert_eq!(result["isError"], !admitted, "{authorization}");
        if !admitted {
            assert_eq!(text(&result), "MCP error -32600: unauthorized");
        }
    }
    assert!(client.said().is_empty());
}
