//! What arguments may be, and what is said of those that may not.

use am_embed::analysis::Profile;
use serde_json::{Value, json};

use crate::support::{Client, body, service, text};

/// Returns what is wrong with the arguments, as the result says it.
async fn issues(client: &mut Client, tool: &str, arguments: Value) -> String {
    let result = client.call(tool, arguments).await;
    assert_eq!(result["isError"], true, "{result}");
    let prefix = format!("MCP error -32602: Input validation error: Invalid arguments for tool {tool}: ");
    text(&result).strip_prefix(&prefix).unwrap_or_else(|| panic!("{result}")).to_owned()
}

#[tokio::test]
async fn every_mistake_is_named_with_its_place() {
    let mut client = Client::over(service(Profile::Default).await);
    client.initialize().await;
    for (tool, arguments, expected) in [
        ("memory_save", json!({"content": 5}), "Expected string, received number at content"),
        (
            "memory_save",
            json!({"content": "x", "concepts": ["a", " ", 1]}),
            "String must contain at least 1 character(s) at concepts.1; Expected string, received number at concepts.2",
        ),
        (
            "memory_lesson",
            json!({"content": "x", "importance": -0.1}),
            "Number must be greater than or equal to 0 at importance",
        ),
        (
            "memory_search",
            json!({"query": "q", "limit": 0.5}),
            "Expected integer, received float at limit; Number must be greater than or equal to 1 at limit",
        ),
        ("memory_session_memories", json!({}), "Required at sessionId"),
        ("memory_delete", json!({}), "Required at memoryId; Required at reason"),
    ] {
        assert_eq!(issues(&mut client, tool, arguments).await, expected);
    }
}

#[tokio::test]
async fn values_at_the_edge_are_taken() {
    let mut client = Client::over(service(Profile::Default).await);
    client.initialize().await;
    for (tool, arguments) in [
        ("memory_save", json!({"content": "\u{1f600}".repeat(100_000)})),
        ("memory_save", json!({"content": format!(" {} ", "a b ".repeat(10)), "importance": 0})),
        ("memory_save", json!({"content": "all of it", "concepts": vec!["c"; 64], "importance": 1.0})),
        ("memory_search", json!({"query": "x".repeat(10_000), "limit": 100.0})),
        ("memory_health", json!({})),
    ] {
        let result = client.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
    }
    let answer = client.ask("tools/call", json!({"name": "memory_health"})).await;
    assert_eq!(answer["result"]["isError"], false, "missing arguments are none: {answer}");
    let answer = client.ask("tools/call", json!({"name": "memory_health", "arguments": null})).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

#[tokio::test]
async fn a_forbidden_key_of_a_lesson_is_dropped_and_names_are_trimmed() {
    let mut client = Client::over(service(Profile::Default).await);
    client.initialize().await;
    let saved = client
        .call(
            "memory_lesson",
            json!({"content": " pin it ", "origin": "rest", "project": " p ", "sessionId": "\ts"}),
        )
        .await;
    assert_eq!(body(&saved)["project"], "p");
    assert_eq!(body(&saved)["sessionId"], "s");
    let found = client.call("memory_session_memories", json!({"project": "p", "sessionId": "s"})).await;
    assert_eq!(body(&found)["memories"][0]["origin"], "lesson");
    assert_eq!(body(&found)["memories"][0]["content"], "pin it");
}
