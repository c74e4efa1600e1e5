//! Whatever is saved, asked and sent, the surfaces over one store say the same, and none of them fails.

use std::sync::Arc;

use am_api::{ApiSettings, Router, router};
use am_embed::hash::HashEmbedder;
use am_hook::dialect::{Dialect, Surroundings, observe};
use am_mcp::Options;
use am_model::text::trim;
use am_service::{Service, Settings, SystemClock};
use am_store_sqlite::{OpenOptions, SqliteStore};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tower::Service as _;

/// Both surfaces over one embedded store, in this process.
struct Surfaces {
    router: Router,
    lines: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    _directory: TempDir,
}

impl Surfaces {
    async fn open() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(directory.path(), OpenOptions::default()).unwrap());
        let embedder = Arc::new(HashEmbedder::new());
        let service =
            Service::open(store, embedder, Arc::new(SystemClock), Settings::default()).await.unwrap();
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (reader, writer) = tokio::io::split(theirs);
        let options = Options { secret: None, notes: Arc::new(|note| panic!("{note}")) };
        let source = Arc::new(service.clone());
        tokio::spawn(am_mcp::serve(reader, writer, source, options, std::future::pending()));
        let (reader, writer) = tokio::io::split(ours);
        let router = router(service, ApiSettings::default());
        let mut surfaces = Self { router, lines: BufReader::new(reader), writer, _directory: directory };
        let client = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        surfaces.ask("initialize", &hello).await;
        surfaces
    }

    /// Posts a body; every reply is JSON and none is a failure of ours.
    async fn post(&mut self, path: &str, key: Option<&str>, body: Vec<u8>) -> (u16, Value) {
        let mut request =
            Request::post(path).header("host", "localhost").header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Full::new(Bytes::from(body))).unwrap();
        let response = self.router.call(request).await.unwrap();
        let status = response.status().as_u16();
        assert!(status < 500, "{path}: {status}");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap())
    }

    async fn ask(&mut self, method: &str, params: &Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params});
        self.writer.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        self.hear(method).await
    }

    /// Returns the answer to a request; those to messages that were no request of ours are errors.
    async fn hear(&mut self, id: &str) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).await.unwrap() > 0, "the conversation has ended");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Calls a tool; returns whether it refused, and what it said.
    async fn call(&mut self, tool: &str, arguments: &Value) -> (bool, Value) {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments})).await;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(!text.contains("internal_error"), "{answer}");
        let said = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        (answer["result"]["isError"] == true, said)
    }
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test)
}

/// Texts as people and attackers write them.
fn text() -> impl Strategy<Value = String> {
    let scripts = prop_oneof![
        "[a-z]{1,8}",
        "[\u{4e00}-\u{4e40}]{1,6}",
        "[а-я]{1,8}",
        "[ก-ฮ]{1,8}",
        "[\u{1f600}-\u{1f610}\u{200d}\u{1f3fb}]{1,5}",
        "[a-z\u{300}-\u{304}]{1,8}",
        "[!-/:-@\\[-`{-~]{1,6}",
        "[0-9]{1,3}\\.[0-9]{1,3}",
        prop::sample::select(vec![
            "\0",
            "\u{feff}",
            "\r\n",
            "\u{202e}",
            "AND",
            "NEAR(",
            "\"",
            "--",
            "\u{10ffff}",
            "_",
            "İ"
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    (prop::collection::vec(scripts, 0..8), prop::sample::select(vec![" ", "", "/", "\n"]))
        .prop_map(|(words, between)| words.join(between))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_surfaces_say_the_same(
        saves in prop::collection::vec((text(), text(), any::<bool>()), 1..10),
        queries in prop::collection::vec(text(), 1..6),
        concept in text(),
    ) {
        run(async {
            let mut surfaces = Surfaces::open().await;
            for (content, session, by_rest) in &saves {
                let arguments = json!({"content": content, "sessionId": session, "project": "p"});
                let is_valid = !trim(content).is_empty() && !trim(session).is_empty();
                let (refused, reply) = if *by_rest {
                    let (status, reply) = surfaces.post("/memory/remember", None, arguments.to_string().into()).await;
                    (status != 201, reply)
                } else {
                    surfaces.call("memory_save", &arguments).await
                };
                assert_eq!(!refused, is_valid, "{content:?} {session:?}: {reply}");
                if is_valid && reply["deduped"] == false && reply["consolidated"] == false {
                    let session = json!({"sessionId": session, "project": "p"});
                    let (_, listed) = surfaces.call("memory_session_memories", &session).await;
                    assert_eq!(listed["memories"][0]["content"], trim(content), "kept whole");
                    assert_eq!(listed["memories"][0]["memoryId"], reply["id"]);
                }
            }
            let contents = saves.iter().map(|(content, ..)| content);
            for query in queries.iter().chain(contents) {
                for (route, tool) in [("search", "memory_search"), ("smart-search", "memory_smart_search")] {
                    let mut arguments = json!({"query": query, "project": "p", "limit": 20});
                    if route == "smart-search" && !trim(&concept).is_empty() {
                        arguments["concepts"] = json!([concept]);
                    }
                    let path = format!("/memory/{route}");
                    let (status, by_rest) = surfaces.post(&path, None, arguments.to_string().into()).await;
                    let (refused, by_tool) = surfaces.call(tool, &arguments).await;
                    let is_valid = !trim(query).is_empty();
                    assert_eq!((status == 200, !refused), (is_valid, is_valid), "{query:?}: {by_rest} {by_tool}");
                    if is_valid {
                        assert_eq!(by_rest["signals"], json!([]), "{query:?}");
                        assert_eq!(by_rest, by_tool, "{query:?}");
                    }
                }
            }
        });
    }

    #[test]
    fn what_a_hook_makes_of_a_payload_is_always_taken(
        event in prop::sample::select(vec![
            "SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "PreCompact", "Stop", "SessionEnd",
        ]),
        members in prop::collection::vec((prop::sample::select(vec![
            "tool_name", "session_id", "cwd", "tool_use_id", "tool_input", "conversationId", "workspacePaths", "toolCall",
        ]), member()), 0..8),
        antigravity in any::<bool>(),
        project in prop::option::of(text()),
        long in prop::option::of((0..3_usize, 1..2_000_usize)),
    ) {
        run(async {
            let mut surfaces = Surfaces::open().await;
            let members: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            let mut payload = format!("{{{}}}", members.join(","));
            if let Some((place, count)) = long {
                let name = ["tool_name", "session_id", "cwd"][place];
                let value = Value::from("\u{1f469}\u{200d}\u{1f4bb}\u{301}".repeat(count));
                payload = format!("{{\"{name}\":{value},\"tool_name\":\"Bash\"}}");
            }
            let dialect = if antigravity { Dialect::Antigravity } else { Dialect::Contract };
            let around =
                Surroundings { project: project.as_deref(), name_files: true, directory: Some("/w/\u{0}x"), now: 0 };
            let Some(delivery) = observe(dialect, event, payload.as_bytes(), &around) else { return };
            for round in 0..2 {
                let body = delivery.body().into_bytes();
                let (status, reply) = surfaces.post("/memory/remember", Some(&delivery.key), body).await;
                assert_eq!(status, 201, "{payload}: {delivery:?}: {reply}");
                assert_eq!(reply["deduped"], round == 1, "{payload}: {reply}");
                // Nothing of it is cut or changed on the way, but for a blank where the hook has cut.
                let names = json!([reply["project"], reply["sessionId"]]);
                assert_eq!(names, json!([trim(&delivery.project), trim(&delivery.session_id)]), "{payload}");
            }
            let session = json!({"sessionId": delivery.session_id, "project": delivery.project});
            let (_, listed) = surfaces.call("memory_session_memories", &session).await;
            let contents: Vec<&Value> =
                listed["memories"].as_array().unwrap().iter().map(|row| &row["content"]).collect();
            assert_eq!(contents, [trim(&delivery.content)], "{payload}");
        });
    }

    #[test]
    fn a_request_with_wrong_bytes_in_it_is_answered(
        route in prop::sample::select(vec![
            "remember", "lesson", "search", "smart-search", "forget", "delete", "recap", "handoff",
        ]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..8),
    ) {
        run(async {
            let mut surfaces = Surfaces::open().await;
            let whole = json!({
                "content": "some text", "query": "some", "project": "p", "sessionId": "s", "limit": 10,
                "concepts": ["a", "b"], "importance": 0.5, "memoryId": "x", "reason": "because",
            });
            let mut body = whole.to_string().into_bytes();
            for (place, byte, kind) in changes {
                let place = place.index(body.len());
                match kind {
                    0 => body[place] = byte,
                    1 => drop(body.remove(place)),
                    2 => body.insert(place, byte),
                    _ => body.truncate(place + 1),
                }
                if body.is_empty() {
                    body.push(b'x');
                }
            }
            let (status, reply) = surfaces.post(&format!("/memory/{route}"), None, body.clone()).await;
            assert!(status < 300 || reply["error"].is_string(), "{status}: {reply}");
            let tool = format!("memory_{}", route.replace("remember", "save").replace('-', "_"));
            let head = format!(
                r#"{{"jsonrpc":"2.0","id":"changed","method":"tools/call","params":{{"name":"{tool}","arguments":"#
            );
            let line = [head.as_bytes(), &body, b"}}\n"].concat();
            surfaces.writer.write_all(&line).await.unwrap();
            surfaces.ask("ping", &json!({})).await;
        });
    }
}

/// A member of a payload: JSON, sometimes with what only JSON can hold.
fn member() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => text().prop_map(|text| Value::from(text).to_string()),
        1 => Just(r#""\ud83d half""#.to_owned()),
        1 => Just("null".to_owned()),
        1 => Just("1e999".to_owned()),
        1 => (0..500_usize).prop_map(|depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth))),
        1 => text().prop_map(|text| json!({"name": text, "file_path": text, "args": {"file": text}}).to_string()),
        1 => text().prop_map(|text| json!([text, text]).to_string()),
    ]
}
