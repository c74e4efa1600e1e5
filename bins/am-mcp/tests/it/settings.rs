//! What the user may set, and what is said where that can't be.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::support::{Program, command};

fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn an_unusable_setting_is_named_and_nothing_starts() {
    let home = tempfile::tempdir().unwrap();
    let (code, output, errors) = run(command(home.path()).env("AGENT_MEMORY_PROFILE", "turbo"));
    assert_eq!((code, output.as_str()), (Some(78), ""));
    for part in ["AGENT_MEMORY_PROFILE", "\"turbo\"", "default, contract", "hint: "] {
        assert!(errors.contains(part), "{errors}");
    }
    fs::create_dir_all(home.path().join(".config/agent-memory")).unwrap();
    fs::write(home.path().join(".config/agent-memory/config.toml"), "profil = \"contract\"\n").unwrap();
    let (code, _, errors) = run(&mut command(home.path()));
    assert_eq!(code, Some(78));
    assert!(errors.contains("unknown key \"profil\" (did you mean \"profile\"?)"), "{errors}");
    assert!(errors.contains("\nhint: config.toml is in "), "{errors}");
    fs::remove_file(home.path().join(".config/agent-memory/config.toml")).unwrap();
    let (code, _, errors) = run(command(home.path()).arg("--data-dir="));
    assert_eq!(code, Some(2), "as other arguments that make no sense: {errors}");
    assert!(!home.path().join("data").exists());
}

#[test]
fn a_lenient_setting_is_warned_of_once() {
    let home = tempfile::tempdir().unwrap();
    let mut command = command(home.path());
    command.env("AGENT_MEMORY_TTL_DAYS", "soon");
    let mut program = Program::of(command);
    program.initialize();
    program.call("memory_health", json!({}));
    let (code, _, errors) = program.finish();
    assert_eq!(code, Some(0));
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("AGENT_MEMORY_TTL_DAYS: \"soon\""), "{errors}");
}

#[test]
fn the_file_the_environment_and_the_flag_are_heard_in_that_order() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".config/agent-memory")).unwrap();
    fs::write(
        home.path().join(".config/agent-memory/config.toml"),
        "profile = \"contract\"\nsecret = \"zz\"\n",
    )
    .unwrap();
    let mut command = command(home.path());
    command.arg("--data-dir").arg(home.path().join("flagged"));
    let mut program = Program::of(command);
    program.initialize();
    assert_eq!(program.ask("tools/list", json!({}))["result"]["tools"][0].get("outputSchema"), None);
    let refused = program.ask("tools/call", json!({"name": "memory_health"}));
    assert_eq!(refused["result"]["content"][0]["text"], "MCP error -32600: unauthorized");
    let meta = json!({"authorization": "Bearer zz"});
    let healthy = program.ask("tools/call", json!({"name": "memory_health", "_meta": meta}));
    assert_eq!(healthy["result"]["isError"], false);
    drop(program);
    assert!(home.path().join("flagged").exists());
    assert!(!home.path().join("data").exists());
}

#[test]
fn a_store_that_cannot_be_opened_fails_calls_and_not_the_conversation() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("data"), "a file, not a directory").unwrap();
    let mut program = Program::start(home.path());
    program.initialize();
    assert_eq!(program.ask("tools/list", json!({}))["result"]["tools"].as_array().map(Vec::len), Some(11));
    assert_eq!(program.call("memory_save", json!({"content": "x"})), json!({"error": "internal_error"}));
    let found = program.call("memory_search", json!({"query": "x"}));
    let signal = found["signals"][0].as_str().unwrap();
    assert!(signal.starts_with("text: "), "{signal}");
    assert!(!signal.contains('/'), "no path: {signal}");
    assert_eq!(program.call("memory_recap", json!({}))["recap"], "");
    // The trouble is over: the next call works.
    fs::remove_file(home.path().join("data")).unwrap();
    assert_eq!(program.call("memory_save", json!({"content": "x y z"}))["deduped"], false);
    let (code, _, errors) = program.finish();
    assert_eq!(code, Some(0));
    assert_eq!(errors.matches("[agent-memory mcp] store: ").count(), 1, "{errors}");
    assert_eq!(errors.matches("[agent-memory mcp] memory_save: ").count(), 1, "{errors}");
}

#[test]
fn help_version_and_mistakes() {
    let home = tempfile::tempdir().unwrap();
    let (code, output, _) = run(command(home.path()).arg("--help"));
    assert_eq!(code, Some(0));
    assert!(output.starts_with("Usage: am-mcp"), "{output}");
    let (code, output, _) = run(command(home.path()).arg("--version"));
    assert_eq!((code, output), (Some(0), format!("am-mcp {}\n", env!("CARGO_PKG_VERSION"))));
    for arguments in [&["--nope"][..], &["--data-dir"], &["serve"]] {
        let (code, output, errors) = run(command(home.path()).args(arguments));
        assert_eq!((code, output.as_str()), (Some(2), ""));
        assert!(errors.contains("Usage: am-mcp"), "{errors}");
    }
}
