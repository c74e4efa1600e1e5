//! Whole conversations, in both eras, with well and badly behaved clients.

use serde_json::{Value, json};

use crate::support::{Program, modern_meta};

#[test]
fn a_client_of_the_older_era_saves_finds_and_forgets() {
    let home = tempfile::tempdir().unwrap();
    let mut program = Program::start(home.path());
    assert_eq!(program.initialize()["serverInfo"]["name"], "agent-memory");
    let tools = program.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(tools.as_array().map(Vec::len), Some(11));
    let saved = program.call("memory_save", json!({"content": "tokio parks on epoll", "project": "p"}));
    let found = program.call("memory_smart_search", json!({"query": "epoll", "project": "p"}));
    assert_eq!(found["results"][0]["memoryId"], saved["id"]);
    assert_eq!(program.call("memory_forget", json!({"memoryId": saved["id"]})), json!({"forgotten": true}));
    assert_eq!(program.finish(), (Some(0), vec![], String::new()));
}

#[test]
fn a_client_of_the_newer_era_needs_no_handshake() {
    let home = tempfile::tempdir().unwrap();
    let mut program = Program::start(home.path());
    let found = program.ask("server/discover", json!({"_meta": modern_meta()}));
    assert!(found["result"]["supportedVersions"].is_array(), "{found}");
    let arguments = json!({"content": "a claim", "project": "p"});
    let saved = program
        .ask("tools/call", json!({"_meta": modern_meta(), "name": "memory_save", "arguments": arguments}));
    assert_eq!(saved["result"]["isError"], false, "{saved}");
    assert_eq!(program.finish(), (Some(0), vec![], String::new()));
}

#[test]
fn a_second_client_goes_on_where_the_first_one_stopped() {
    let home = tempfile::tempdir().unwrap();
    let mut first = Program::start(home.path());
    first.initialize();
    let saved = first.call("memory_save", json!({"content": "kept for the next session"}));
    assert_eq!(first.finish().0, Some(0));
    let mut second = Program::start(home.path());
    second.initialize();
    let found = second.call("memory_search", json!({"query": "session"}));
    assert_eq!(found["results"][0]["memoryId"], saved["id"]);
}

#[test]
fn a_noisy_client_hears_nothing_but_protocol() {
    let home = tempfile::tempdir().unwrap();
    let mut program = Program::start(home.path());
    program.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    program.send_bytes(b"garbage\n");
    assert_eq!(program.receive()["error"]["code"], -32700);
    program.send_bytes(b"\0\xff\xfe\n");
    assert_eq!(program.receive()["error"]["code"], -32700);
    program.initialize();
    program.send_bytes(b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n");
    assert_eq!(program.receive()["error"]["code"], -32600);
    program.send_bytes(&vec![b'x'; 9 << 20]);
    program.send_bytes(b"\n");
    assert_eq!(program.receive()["error"]["code"], -32600);
    assert_eq!(
        program.ask("no/such", json!({}))["error"],
        json!({"code": -32601, "message": "Method not found"})
    );
    program
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1234}}));
    let saved = program.call("memory_save", json!({"content": "a\0b \u{1f600}", "sessionId": "s"}));
    assert_eq!(saved["deduped"], false);
    let listed = program.call("memory_session_memories", json!({"sessionId": "s"}));
    assert_eq!(listed["memories"][0]["content"], "a\0b \u{1f600}");
    // What UTF-8 can't say is replaced, not cut off.
    program.send_bytes(
        b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\",\"params\":{\"name\":\"memory_save\",\
          \"arguments\":{\"content\":\"one\xff two\\ud800 three\",\"sessionId\":\"t\"}}}\n",
    );
    assert_eq!(program.receive()["result"]["isError"], false);
    let listed = program.call("memory_session_memories", json!({"sessionId": "t"}));
    assert_eq!(listed["memories"][0]["content"], "one\u{fffd} two\u{fffd} three");
    assert_eq!(program.finish(), (Some(0), vec![], String::new()));
}

#[test]
fn a_pipe_of_lines_is_answered_to_the_end() {
    let home = tempfile::tempdir().unwrap();
    let mut program = Program::start(home.path());
    let call = |id: u64, name: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    program.send(&call(1, "memory_save", json!({"content": "one line after the other"})));
    program.send(&call(2, "memory_search", json!({"query": "line"})));
    program.close_input();
    let answers = [program.receive(), program.receive()];
    let second = answers.iter().find(|answer| answer["id"] == 2).unwrap();
    assert_eq!(
        second["result"]["structuredContent"]["results"].as_array().map(Vec::len),
        Some(1),
        "{second}"
    );
    assert_eq!(program.wait().code(), Some(0));
}
