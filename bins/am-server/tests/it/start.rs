//! Starts that must not happen, and what the user is told.

use std::collections::BTreeSet;
use std::net::TcpListener;

use am_runtime::config::Key;

use crate::client::{get, post};
use crate::process::{Server, command, refused};

#[test]
fn a_port_that_is_taken_is_explained_and_the_store_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    let (code, stderr) = refused(command(home.path()).env("AGENT_MEMORY_PORT", &port));
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.starts_with("[agentmemory] server error: "), "{stderr}");
    let second = format!(
        "[agentmemory] port {port} is already in use \u{2014} if the upstream agentmemory (iii) holds 3111/3112/3113, \
         NEVER kill it; start ours elsewhere: AGENT_MEMORY_PORT=3151 am-server"
    );
    let third = "[agentmemory] then point clients at the port ours runs on: \
                 AGENT_MEMORY_URL=http://127.0.0.1:3151 (example)";
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines.get(1..), Some(&[second.as_str(), third][..]), "{stderr}");
    assert!(!home.path().join("data").exists());
}

#[test]
fn an_unusable_port_names_the_variable_the_value_and_what_is_allowed() {
    let home = tempfile::tempdir().unwrap();
    for value in ["", "abc", "0", "65536", "1.5", "-1"] {
        let (code, stderr) = refused(command(home.path()).env("AGENT_MEMORY_PORT", value));
        assert_eq!(code, Some(78), "{stderr}");
        let told = ["AGENT_MEMORY_PORT", &format!("{value:?}"), "1 to 65535", "\n[agentmemory] hint: "];
        assert!(told.iter().all(|part| stderr.contains(part)), "{value:?}: {stderr}");
    }
    let (code, stderr) = refused(command(home.path()).args(["--port", "x"]));
    assert!(code == Some(2) && stderr.contains("--port"), "{stderr}");
}

#[test]
fn an_open_address_without_a_secret_is_refused() {
    let home = tempfile::tempdir().unwrap();
    for host in ["0.0.0.0", "::"] {
        let (code, stderr) = refused(command(home.path()).args(["--port", "0", "--host", host]));
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains("no secret is set") && stderr.contains("AGENT_MEMORY_SECRET"), "{stderr}");
    }
}

#[test]
fn behind_a_secret_an_open_address_is_fine() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Server::of(
        command(home.path()).args(["--port", "0", "--host", "0.0.0.0"]).env("AGENT_MEMORY_SECRET", "s3cret"),
    );
    let expected = format!("agent-memory REST on http://0.0.0.0:{} (auth: bearer-required)\n", server.port);
    assert_eq!(server.start_line, expected);
    assert_eq!(get(server.port, "/memory/health").status, 401);
    assert_eq!(get(server.port, "/memory/livez").status, 200);
    assert!(server.line().starts_with("GET /memory/health 401 "));
}

#[test]
fn a_store_that_is_none_of_ours_is_refused_and_untouched() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let text = "not a database, and precious to someone ".repeat(100);
    std::fs::write(data.join("memory.db"), &text).unwrap();
    let (code, stderr) = refused(command(home.path()).args(["--port", "0"]));
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("server error: can't open the store") && stderr.contains("hint: "), "{stderr}");
    assert_eq!(std::fs::read_to_string(data.join("memory.db")).unwrap(), text);
}

#[test]
fn settings_that_rank_are_ignored_with_a_warning_where_they_are_unusable() {
    let home = tempfile::tempdir().unwrap();
    let server =
        Server::of(command(home.path()).args(["--port", "0"]).env("AGENT_MEMORY_TTL_DAYS", "forever"));
    assert_eq!(get(server.port, "/memory/livez").status, 200);
    #[cfg(unix)]
    {
        server.signal("-TERM");
        let end = server.end();
        assert!(end.stderr.contains("AGENT_MEMORY_TTL_DAYS") && end.stderr.contains("forever"), "{end:?}");
    }
}

/// Returns the long options that a help text lists.
fn listed(help: &str) -> BTreeSet<String> {
    let words = help
        .lines()
        .filter_map(|line| line.trim_start().split([' ', '=']).find(|word| word.starts_with("--")));
    words.map(str::to_owned).collect()
}

#[test]
fn every_flag_that_a_setting_names_is_there_and_sets_it() {
    let home = tempfile::tempdir().unwrap();
    let help = command(home.path()).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    // The project is for clients: of `am`, not of servers.
    let named = Key::ALL.into_iter().filter(|key| *key != Key::Project).filter_map(Key::flag);
    let named: BTreeSet<String> = named.map(str::to_owned).collect();
    let mut there = listed(&help);
    for other in ["--help", "--version"] {
        assert!(there.remove(other), "{help}");
    }
    assert_eq!(named, there);
    // Nothing but the flag itself is named where its value is unusable; ranking is lenient, a path always usable.
    let lenient = ["--data-dir", "--ttl-days", "--decay-lambda", "--merge-jaccard"];
    for flag in named.iter().filter(|flag| !lenient.contains(&flag.as_str())) {
        let (code, stderr) = refused(command(home.path()).arg(format!("{flag}=/?")));
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.starts_with(&format!("[agentmemory] server error: {flag}: ")), "{stderr}");
    }
}

#[test]
fn metrics_are_served_on_a_listener_of_their_own_when_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::of(command(home.path()).args(["--port", "0", "--metrics-port", &free.to_string()]));
    assert_eq!(post(server.port, "/memory/remember", r#"{"content":"counted"}"#).status, 201);
    assert_eq!(get(server.port, "/metrics").status, 404);
    let metrics = get(free, "/metrics");
    assert_eq!(metrics.status, 200);
    for line in
        [r#"agent_memory_requests_total{route="/memory/remember",status="201"} 1"#, "agent_memory_memories 1"]
    {
        assert!(metrics.body.lines().any(|found| found == line), "{}", metrics.body);
    }
    assert_eq!(get(free, "/memory/livez").status, 404);
}
