//! Both eras, and peers that don't keep to either.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use am_embed::analysis::Profile;
use am_mcp::{Ended, ServiceSource, Sourced};
use am_service::{Service, ServiceError};
use serde_json::{Value, json};

use crate::support::{Client, body, initialize_params, modern_meta, service};

#[tokio::test]
async fn the_older_era_negotiates_its_version() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client = Client::over(service(Profile::Default).await);
        let answer = client.ask("initialize", initialize_params(asked)).await;
        assert_eq!(answer["result"]["protocolVersion"], agreed, "{asked}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "agent-memory");
        assert_eq!(answer["result"]["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(client.ask("ping", json!({})).await["result"], json!({}), "{asked}");
        let list = client.ask("tools/list", json!({})).await["result"].clone();
        assert_eq!(list.as_object().unwrap().keys().collect::<Vec<_>>(), ["tools"], "{asked}");
    }
}

#[tokio::test]
async fn the_newer_era_discovers_lists_and_calls_without_a_handshake() {
    let mut client = Client::over(service(Profile::Default).await);
    let found = client.ask("server/discover", json!({"_meta": modern_meta()})).await["result"].clone();
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{found}");
    assert_eq!(found["capabilities"], json!({"tools": {"listChanged": true}}));
    assert!(found["instructions"].as_str().unwrap().len() < 2048);
    assert!(found["ttlMs"].as_u64().unwrap() > 0, "{found}");
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "agent-memory", "{found}");

    let list = client.ask("tools/list", json!({"_meta": modern_meta()})).await["result"].clone();
    assert_eq!(list["tools"].as_array().map(Vec::len), Some(11));
    assert_eq!(list["resultType"], "complete", "{list}");
    assert!(list["ttlMs"].as_u64().unwrap() > 0);

    let params = json!({
        "_meta": modern_meta(), "name": "memory_save", "arguments": {"content": "a claim of the newer era"}
    });
    let saved = client.ask("tools/call", params).await["result"].clone();
    assert_eq!(saved["resultType"], "complete");
    assert_eq!(body(&saved)["deduped"], false);

    let ping = client.ask("ping", json!({"_meta": modern_meta()})).await;
    assert_eq!(
        ping["error"],
        json!({"code": -32601, "message": "Method not found"}),
        "it went with that era"
    );
}

#[tokio::test]
async fn who_listens_for_changes_is_acknowledged_and_let_go_at_the_end() {
    let mut client = Client::over(service(Profile::Default).await);
    let wanted = json!({"toolsListChanged": true, "promptsListChanged": true});
    let params = json!({"_meta": modern_meta(), "notifications": wanted});
    client
        .send(&json!({"jsonrpc": "2.0", "id": 5, "method": "subscriptions/listen", "params": params}))
        .await;
    let acknowledged = client.receive().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({"toolsListChanged": true}), "{acknowledged}");
    let list = client.ask("tools/list", json!({"_meta": modern_meta()})).await;
    assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(11), "nothing waits for it");
    let (ended, rest) = client.close().await;
    assert_eq!(ended, Ended::Closed);
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["id"], 5);
}

#[tokio::test]
async fn an_unknown_version_is_refused_and_a_discovery_without_metadata_is_explained() {
    let mut client = Client::over(service(Profile::Default).await);
    let mut meta = modern_meta();
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let answer = client.ask("tools/list", json!({"_meta": meta})).await;
    assert!(answer["error"]["data"]["supported"].is_array(), "{answer}");
    let answer = client.ask("server/discover", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn a_lone_discovery_ends_well() {
    let mut client = Client::over(service(Profile::Default).await);
    client.ask("server/discover", json!({"_meta": modern_meta()})).await;
    assert_eq!(client.close().await, (Ended::Closed, vec![]));
    assert_eq!(Client::over(service(Profile::Default).await).close().await.0, Ended::Closed);
}

#[tokio::test]
async fn what_makes_no_sense_is_answered_or_ignored_and_never_the_end() {
    let mut client = Client::over(service(Profile::Default).await);
    // Before the handshake, too.
    for ignored in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7}),
        json!({"jsonrpc": "2.0", "method": "notifications/ours", "params": [1]}),
        json!({"jsonrpc": "2.0", "method": "tools/call"}),
        json!({"jsonrpc": "2.0", "id": 99, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "m"}}),
        json!({"jsonrpc": "2.0", "error": {"code": 1, "message": "m"}}),
    ] {
        client.send(&ignored).await;
    }
    client.send_bytes(b"\n\r\n  \n").await;
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}), "none of these has an answer");
    client.initialize().await;

    for (line, id, code) in [
        ("garbage", Value::Null, -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":", Value::Null, -32700),
        ("\0\0", Value::Null, -32700),
        ("[]", Value::Null, -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null, -32600),
        ("1", Value::Null, -32600),
        ("null", Value::Null, -32600),
        (r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#, json!(5), -32600),
        (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, json!("a"), -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null, -32600),
        (r#"{"jsonrpc":"2.0","id":{"x":1},"method":"ping"}"#, Value::Null, -32600),
        (
            r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"memory_save","arguments":[1]}}"#,
            json!(6),
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{}}}"#, json!(7), -32602),
        (r#"{"jsonrpc":"2.0","id":8,"method":"tools/call"}"#, json!(8), -32602),
        (r#"{"jsonrpc":"2.0","id":9,"method":"initialize","params":{}}"#, json!(9), -32602),
        (
            r#"{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"memory_save","arguments":{"content":1e999}}}"#,
            json!(10),
            -32700,
        ),
    ] {
        client.send_bytes(format!("{line}\n").as_bytes()).await;
        let answer = client.receive().await;
        assert_eq!(answer.get("id"), Some(&id), "{line}: {answer}");
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    let saved = client.call("memory_save", json!({"content": "still here"})).await;
    assert_eq!(saved["isError"], false);
}

#[tokio::test]
async fn a_message_without_end_costs_no_memory_and_a_deep_one_no_stack() {
    let mut client = Client::over(service(Profile::Default).await);
    client.initialize().await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"memory_save","arguments":{{"content":{}{}}}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    client.send_bytes(format!("{deep}\n").as_bytes()).await;
    let answer = client.receive().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(3), &json!(-32700)), "{answer}");

    let piece = vec![b'x'; 1 << 20];
    for _ in 0..9 {
        client.send_bytes(&piece).await;
    }
    client.send_bytes(b"\n").await;
    let answer = client.receive().await;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn calls_under_way_are_answered_before_the_end() {
    let mut client = Client::over(service(Profile::Default).await);
    client.initialize().await;
    for id in 0..10 {
        let params =
            json!({"name": "memory_save", "arguments": {"content": format!("claim {id} with words")}});
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).await;
    }
    // The last message lacks its line feed.
    client.send_bytes(br#"{"jsonrpc":"2.0","id":10,"method":"ping"}"#).await;
    let (ended, rest) = client.close().await;
    assert_eq!(ended, Ended::Closed);
    let mut ids: Vec<u64> = rest.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..=10).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_cancelled_request_has_no_answer() {
    let gate = Arc::new(tokio::sync::Notify::new());
    let source = Gated { gate: Arc::clone(&gate), service: service(Profile::Default).await };
    let mut client = Client::of(Arc::new(source), None);
    client.initialize().await;
    let params = json!({"name": "memory_health", "arguments": {}});
    client.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params})).await;
    client
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}))
        .await;
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    gate.notify_waiters();
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn stopping_ends_the_conversation() {
    let mut client = Client::over(service(Profile::Default).await);
    client.initialize().await;
    client.stop.take().unwrap().send(()).unwrap();
    assert_eq!(client.served.await.unwrap(), Ended::Stopped);
}

struct Gated {
    gate: Arc<tokio::sync::Notify>,
    service: Service,
}

impl ServiceSource for Gated {
    fn service(&self) -> Sourced<'_> {
        Box::pin(async {
            self.gate.notified().await;
            Ok(self.service.clone())
        })
    }
}

/// A source that counts, and fails as often as it is told.
struct Counting {
    asked: AtomicUsize,
    failures: Mutex<usize>,
    service: Service,
}

impl ServiceSource for Counting {
    fn service(&self) -> Sourced<'_> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut failures = self.failures.lock().unwrap();
        let fails = *failures > 0;
        *failures = failures.saturating_sub(1);
        let service = if fails { Err(ServiceError::Stopped) } else { Ok(self.service.clone()) };
        Box::pin(std::future::ready(service))
    }
}

#[tokio::test]
async fn a_handshake_does_not_ask_for_the_store() {
    let source = Arc::new(Counting {
        asked: AtomicUsize::new(0),
        failures: Mutex::new(0),
        service: service(Profile::Default).await,
    });
    let mut client = Client::of(Arc::clone(&source) as Arc<dyn ServiceSource>, None);
    client.ask("server/discover", json!({"_meta": modern_meta()})).await;
    client.ask("initialize", initialize_params("2025-11-25")).await;
    client.ask("ping", json!({})).await;
    let unknown = client.call("memory_nope", json!({})).await;
    assert_eq!(unknown["isError"], true);
    client.call("memory_save", json!({})).await;
    assert_eq!(source.asked.load(Ordering::Relaxed), 0);
    client.call("memory_health", json!({})).await;
    assert_eq!(source.asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_source_that_fails_fails_the_call_and_not_the_next_one() {
    let service = service(Profile::Default).await;
    let source = Counting { asked: AtomicUsize::new(0), failures: Mutex::new(2), service };
    let mut client = Client::of(Arc::new(source), None);
    let list = client.ask("tools/list", json!({})).await;
    assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(11), "tools are listed all the same");
    let failed = client.call("memory_health", json!({})).await;
    assert_eq!(failed["isError"], true);
    assert_eq!(body(&failed), json!({"error": "internal_error"}));
    assert_eq!(
        client.said(),
        ["[agent-memory mcp] memory_health: Stopped: stopped before the work was done"]
    );
    assert_eq!(client.call("memory_health", json!({})).await["isError"], false);
}
