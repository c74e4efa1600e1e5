//! The hook with the programs that take in what it captures.

use std::thread;

use am_hook::places::DEFAULT_ADDRESS;
use am_hook::spool::Counters;
use serde_json::{Value, json};

use crate::world::{ForeignServer, Home, Hook, Mcp, PROJECT, Server, eventually};

fn payload(session: &str, more: Value) -> Value {
    let mut payload = json!({"session_id": session, "cwd": format!("/home/user/{PROJECT}")});
    if let (Some(payload), Value::Object(more)) = (payload.as_object_mut(), more) {
        payload.extend(more);
    }
    payload
}

fn tool(session: &str, name: &str, event: &str) -> Value {
    payload(session, json!({"tool_name": name, "tool_use_id": event}))
}

/// Returns the texts of a session's memories, oldest first.
fn listed(home: &Home, session: &str) -> Vec<String> {
    let mut memories = home.memories();
    memories.retain(|stored| stored.memory.session_id.as_str() == session);
    memories.into_iter().map(|stored| stored.memory.content).collect()
}

#[test]
fn a_server_takes_every_event_at_once() {
    let home = Home::new();
    let hook = Hook::new(&home);
    let server = Server::start(&home);
    hook.fire("SessionStart", &payload("s", json!({})));
    hook.fire("PostToolUse", &tool("s", "Grep", "1"));
    hook.fire("Stop", &payload("s", json!({})));
    let expected = ["agent session started", "tool used: Grep", "agent session stopped"];
    let path = format!("/memory/sessions/s/memories?project={}", PROJECT.replace(' ', "%20"));
    let rows = server.get(&path).json();
    let texts: Vec<&str> = rows["memories"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|row| row["content"].as_str().unwrap())
        .collect();
    assert_eq!(texts, expected);
    assert_eq!(home.events(), 3);
    assert!(!home.data().join("spool").exists(), "nothing had to wait");
    server.stop();
}

#[test]
fn without_a_server_an_agents_own_program_takes_them() {
    let home = Home::new();
    let hook = Hook::new(&home);
    hook.fire("SessionStart", &payload("s", json!({})));
    assert_eq!(hook.pending(), 1);
    let mut mcp = Mcp::start(&home);
    mcp.call("memory_health", &json!({}));
    // One was there at the start, one comes while it runs.
    hook.fire("PostToolUse", &tool("s", "Grep", "1"));
    eventually("the spool is empty", || hook.pending() == 0);
    assert_eq!(listed(&home, "s"), ["agent session started", "tool used: Grep"]);
    assert_eq!((home.events(), hook.counters()), (2, Counters { spooled: 2, ..Counters::default() }));
    mcp.close();
}

#[test]
fn an_event_that_fires_twice_counts_once() {
    let home = Home::new();
    let hook = Hook::new(&home);
    // By the host's own id, once through the spool and twice to a server.
    hook.fire("PostToolUse", &tool("s", "Grep", "1"));
    let server = Server::start(&home);
    hook.fire("PostToolUse", &tool("s", "Grep", "1"));
    hook.fire("PostToolUse", &tool("s", "Grep", "1"));
    eventually("the spool is empty", || hook.pending() == 0);
    assert_eq!(home.events(), 1);
    // The same text of another event is the same memory, and evidence again.
    hook.fire("PostToolUse", &tool("s", "Grep", "2"));
    assert_eq!((home.events(), listed(&home, "s").len()), (2, 1));
    // Without an id, by session, event and time: two hosts at once are one, another session is another.
    thread::scope(|scope| {
        for session in ["a", "a", "b"] {
            let hook = &hook;
            scope.spawn(move || hook.fire("Stop", &payload(session, json!({}))));
        }
    });
    assert_eq!(home.events(), 4);
    server.stop();
}

#[test]
fn what_many_programs_drain_at_once_is_delivered_once() {
    const EVENTS: usize = 40;
    let home = Home::new();
    let hook = Hook::new(&home);
    for event in 0..EVENTS {
        hook.fire("PostToolUse", &tool("s", &format!("Tool{event}"), &event.to_string()));
    }
    // Without an id of the host's nothing but the delivery's own key tells that one is the same.
    for session in 0..EVENTS {
        hook.fire("SessionStart", &payload(&format!("session {session}"), json!({})));
    }
    assert_eq!(hook.pending(), 2 * EVENTS as u64);
    let mut interrupted = Server::start(&home);
    drop(interrupted.process.child.kill());
    thread::scope(|scope| {
        let home = &home;
        for _ in 0..3 {
            scope.spawn(move || {
                let mut mcp = Mcp::start(home);
                mcp.call("memory_health", &json!({}));
                eventually("the spool is empty", || Hook::new(home).pending() == 0);
                mcp.close();
            });
        }
        scope.spawn(move || {
            let server = Server::start(home);
            eventually("the spool is empty", || Hook::new(home).pending() == 0);
            server.stop();
        });
        scope.spawn(move || home.am(&["stats", "--json"]).json());
    });
    assert_eq!(home.events(), 2 * EVENTS as u64);
    assert_eq!(listed(&home, "s").len(), EVENTS);
    let counters = hook.counters();
    assert_eq!((counters.refused, counters.broken, counters.dropped), (0, 0, 0), "{counters:?}");
    home.verify();
}

#[test]
fn another_product_on_our_port_gets_no_secret_and_loses_no_event() {
    let home = Home::new();
    let Some(foreign) = ForeignServer::start() else {
        eprintln!("a server of this machine's user has the default port");
        return;
    };
    let hook = Hook::new(&home);
    hook.fire_at_port("PostToolUse", &tool("s", "Grep", "1"));
    hook.fire_with_secret("PostToolUse", &tool("s", "Read", "2"), "hunter2-and-more");
    assert_eq!((hook.pending(), hook.counters().foreign), (2, 2));
    if let Some(requests) = foreign.requests() {
        assert_eq!(requests.len(), 2, "{requests:?}");
        assert!(requests.iter().all(|request| !request.contains("hunter2")), "{requests:?}");
        assert!(
            !requests.iter().any(|request| request.contains("Read")),
            "asked who it is first: {requests:?}"
        );
    }
    let doctor = home.am(&["doctor"]);
    assert!(doctor.stdout.contains("came from another product"), "{doctor:?}");
    assert!(doctor.stdout.contains(&DEFAULT_ADDRESS.to_string()), "{doctor:?}");
    // A command that reads takes them in.
    home.am(&["stats", "--json"]).json();
    assert_eq!((hook.pending(), home.events()), (0, 2));
    assert_eq!(listed(&home, "s"), ["tool used: Grep", "tool used: Read"]);
}
