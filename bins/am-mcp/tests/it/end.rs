//! How it ends: with its client, on a signal, without its parent; never before, and never later.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::{Program, command, modern_meta};

#[test]
fn the_end_of_input_is_the_end() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(Program::start(home.path()).finish(), (Some(0), vec![], String::new()));

    let mut asked = Program::start(home.path());
    asked.ask("server/discover", json!({"_meta": modern_meta()}));
    assert_eq!(asked.finish(), (Some(0), vec![], String::new()));
    assert!(!home.path().join("data").exists(), "whoever only looks leaves nothing behind");
}

#[test]
fn input_that_is_no_pipe_ends_too() {
    let home = tempfile::tempdir().unwrap();
    let output = command(home.path()).stdin(Stdio::null()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout, output.stderr), (Some(0), vec![], vec![]));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_well() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT] {
        let home = tempfile::tempdir().unwrap();
        let mut program = Program::start(home.path());
        program.initialize();
        program.call("memory_save", json!({"content": "before the signal"}));
        let process = rustix::process::Pid::from_child(&program.child);
        rustix::process::kill_process(process, signal).unwrap();
        assert_eq!(program.wait().code(), Some(0));
    }
}

#[cfg(unix)]
#[test]
fn it_does_not_outlive_its_parent() {
    let home = tempfile::tempdir().unwrap();
    // Its input stays open, as it does when another child of the dead parent holds the other end.
    let input = home.path().join("input");
    let made = Command::new("mkfifo").arg(&input).status().unwrap();
    assert!(made.success());
    let held = std::fs::OpenOptions::new().read(true).write(true).open(&input).unwrap();
    let script = r#""$0" <"$1" >/dev/null & echo $!; read -r _"#;
    let mut parent = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_am-mcp")])
        .arg(&input)
        .env("HOME", home.path())
        .env("AGENT_MEMORY_DATA_DIR", home.path().join("data"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(parent.stdout.take().unwrap()), &mut line)
        .unwrap();
    let process = rustix::process::Pid::from_raw(line.trim_ascii().parse().unwrap()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert!(rustix::process::test_kill_process(process).is_ok(), "it lives while its parent does");
    drop(parent.stdin.take());
    parent.wait().unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while rustix::process::test_kill_process(process).is_ok() && !is_zombie(process) {
        assert!(std::time::Instant::now() < deadline, "it lives on");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    drop(held);
}

/// Returns whether a process has ended and only waits for whoever inherited it to notice.
#[cfg(unix)]
fn is_zombie(process: rustix::process::Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    stat.is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z')))
}

#[test]
fn a_client_that_stops_listening_ends_it_quietly() {
    let home = tempfile::tempdir().unwrap();
    let mut child = command(home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    // The input stays open.
    let output = child.wait_with_output();
    drop(input);
    let output = output.unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
}
