//! The program as a host runs it: a process with arguments, an environment and a payload.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "shared with the library's tests, which use all of it")]
#[path = "../../../../crates/am-hook/tests/it/support.rs"]
mod support;

use std::{
    collections::BTreeSet,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
};

use am_hook::spool::{Spool, Verdict};
use proptest::prelude::*;
use serde_json::Value;
use support::Listener;

const GOLDEN: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/hook.json"));

fn program(directory: &Path, arguments: &[&str], environment: &[(String, String)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_am-hook"));
    command
        .args(arguments)
        .env_clear()
        .env("AGENT_MEMORY_DATA_DIR", directory.join("data"))
        .envs(environment.iter().cloned())
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(mut command: Command, input: &[u8]) -> Output {
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn drain(directory: &Path) -> Vec<String> {
    let mut keys = Vec::new();
    Spool::of(&directory.join("data"))
        .drain(|waiting| {
            keys.push(waiting.delivery.key.clone());
            Verdict::Delivered
        })
        .unwrap();
    keys
}

#[test]
fn every_golden_case() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 124);
    let listener = Listener::start(|_| support::ours(201));
    let directory = tempfile::tempdir().unwrap();
    let own = directory.path().join("own place");
    std::fs::create_dir(&own).unwrap();
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let arguments: Vec<&str> =
            case["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap()).collect();
        let command = program(&own, &arguments, &support::golden_environment(case, &listener));
        let output = run(command, &support::golden_input(case));
        assert_eq!(i64::from(output.status.code().unwrap()), case["exit"].as_i64().unwrap(), "{name}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), case["stdout"].as_str().unwrap(), "{name}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), case["stderr"].as_str().unwrap(), "{name}");
        support::assert_golden_request(case, &listener.take(), "own place");
    }
}

#[test]
fn many_hooks_at_once_spool_each_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let url = vec![("AGENT_MEMORY_URL".to_owned(), format!("http://{}", support::closed_port()))];
    let children: Vec<_> = (0..40)
        .map(|number| {
            let mut child = program(directory.path(), &["PostToolUse"], &url).spawn().unwrap();
            let payload = format!(r#"{{"tool_name":"Bash","tool_use_id":"toolu_{number}"}}"#);
            child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
            child
        })
        .collect();
    let mut keys = Vec::new();
    for mut child in children {
        assert!(child.wait().unwrap().success());
        // Drain beside those that still append.
        keys.extend(drain(directory.path()));
    }
    keys.extend(drain(directory.path()));
    assert_eq!(keys.len(), 40);
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), 40);
}

#[test]
fn antigravity_is_answered_whatever_happens() {
    let directory = tempfile::tempdir().unwrap();
    for (event, input, expected) in [
        ("Stop", "{}", r#"{"decision":"stop"}"#),
        ("Stop", "{broken", r#"{"decision":"stop"}"#),
        ("PostToolUse", "", "{}"),
        ("PreInvocation", "\u{0}", "{}"),
        ("Unheard", "[]", "{}"),
    ] {
        let url = vec![("AGENT_MEMORY_URL".to_owned(), format!("http://{}", support::closed_port()))];
        let command = program(directory.path(), &["--agent", "antigravity", event], &url);
        let output = run(command, input.as_bytes());
        assert!(output.status.success(), "{event}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{event}");
        assert!(output.stderr.is_empty(), "{event}");
    }
}

#[test]
fn the_agent_may_be_named_before_or_after_the_event() {
    for (arguments, expected) in [
        (&["Stop", "--agent", "antigravity"][..], r#"{"decision":"stop"}"#),
        (&["Stop", "--agent=antigravity"], r#"{"decision":"stop"}"#),
        (&["--agent=antigravity", "Stop", "more"], r#"{"decision":"stop"}"#),
        (&["PostToolUse", "more", "--agent", "antigravity"], "{}"),
        (&["Stop", "--agent", "unheard"], ""),
        (&["Stop", "--agent"], ""),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let url = vec![("AGENT_MEMORY_URL".to_owned(), format!("http://{}", support::closed_port()))];
        let input = r#"{"conversationId":"c","session_id":"s","toolCall":{"name":"Read"}}"#;
        let output = run(program(directory.path(), arguments, &url), input.as_bytes());
        assert!(output.status.success(), "{arguments:?}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{arguments:?}");
        let mut sessions = vec![];
        let drained = Spool::of(&directory.path().join("data")).drain(|waiting| {
            sessions.push(waiting.delivery.session_id.clone());
            Verdict::Delivered
        });
        drained.unwrap();
        assert_eq!(sessions.join(" "), if expected.is_empty() { "" } else { "c" }, "{arguments:?}");
    }
}

#[test]
fn streams_that_are_closed_are_no_failure() {
    let directory = tempfile::tempdir().unwrap();
    let url = vec![("AGENT_MEMORY_URL".to_owned(), "nonsense".to_owned())];
    for arguments in [&["Stop"][..], &["--agent", "antigravity", "Stop"]] {
        let mut command = program(directory.path(), arguments, &url);
        let mut child = command.stdin(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        drop(child.stderr.take());
        assert!(child.wait().unwrap().success());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_payload_is_met_with_silence(
        event in prop_oneof![Just("PostToolUse"), Just("Stop"), Just("x")],
        tool in any::<String>(),
        noise in proptest::collection::vec(any::<u8>(), 0..2000),
        as_json in any::<bool>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let url = vec![("AGENT_MEMORY_URL".to_owned(), format!("http://{}", support::closed_port()))];
        let input = if as_json {
            serde_json::json!({"tool_name": tool, "cwd": String::from_utf8_lossy(&noise)}).to_string().into_bytes()
        } else {
            noise
        };
        let output = run(program(directory.path(), &[event], &url), &input);
        prop_assert!(output.status.success());
        prop_assert!(output.stdout.is_empty() && output.stderr.is_empty());
    }
}
