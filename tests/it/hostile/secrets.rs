//! The secret, and the texts of users, stand in no log and no message.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use serde_json::json;

use crate::world::{Home, Mcp, Running, eventually};

const SECRET: &str = "tr0ub4dor-and-3-more-words";
const GUESS: &str = "correct-horse-battery";
/// In texts, queries, names of concepts: what a user says.
const SAID: &str = "hunter2-marker";

/// Asserts that neither the secret nor what a user said is in there.
fn is_clean(about: &str, text: &str) {
    for private in [SECRET, GUESS, SAID] {
        assert!(!text.contains(private), "{about}: {private} in {text}");
    }
}

/// A server that writes its log into a file.
struct Logged {
    home: Home,
    process: Running,
    port: u16,
}

impl Logged {
    fn start() -> Self {
        let home = Home::new();
        let mut command = home.command("am-server");
        let log = File::create(home.path().join("log")).unwrap();
        command.args(["--port", "0"]).env("AGENT_MEMORY_SECRET", SECRET).stdout(log);
        let process = Running::start(&mut command);
        let mut server = Self { home, process, port: 0 };
        eventually("the server starts", || {
            let log = server.log();
            let port = log.split_once(" (auth: bearer-required)").and_then(|(url, _)| url.rsplit_once(':'));
            server.port = port.and_then(|(_, port)| port.parse().ok()).unwrap_or(0);
            server.port != 0
        });
        server
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("log")).unwrap()
    }

    fn ask(&self, method: &str, path: &str, authorization: &str, body: &str) -> String {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: {authorization}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }
}

#[test]
fn a_server_tells_its_log_neither_the_secret_nor_what_was_said() {
    let mut server = Logged::start();
    let right = format!("Bearer {SECRET}");
    let save = json!({"content": SAID, "project": "p", "sessionId": "s", "concepts": [SAID]}).to_string();
    let search = json!({"query": SAID, "project": "p"}).to_string();
    for (method, path, authorization, body, status) in [
        ("POST", "/memory/remember", right.as_str(), save.as_str(), "201"),
        ("POST", "/memory/smart-search", &right, &search, "200"),
        ("POST", "/memory/remember", &format!("Bearer {GUESS}"), &save, "401"),
        ("POST", "/memory/remember", &format!("bearer {SECRET}"), &save, "401"),
        ("POST", "/memory/remember", &format!("Basic {SECRET}"), &save, "401"),
        ("GET", &format!("/memory/health?project={SAID}&secret={GUESS}"), &right, "", "200"),
        ("POST", "/memory/remember", &right, &save[..save.len() - 1], "400"),
        ("POST", "/memory/remember", &right, &save.replace("content", SAID), "400"),
        ("POST", &format!("/memory/nothing?{SAID}"), &right, &save, "404"),
    ] {
        let reply = server.ask(method, path, authorization, body);
        assert_eq!(&reply[9..12], status, "{path} {authorization}: {reply}");
        assert!(!reply.contains(SECRET), "{reply}");
        assert!(status != "401" || reply.ends_with(r#"{"error":"unauthorized"}"#), "{reply}");
    }
    let url = format!("http://127.0.0.1:{}", server.port);
    let mut check = server.home.command("am");
    let check = check.args(["check", "--url", &url]).env("AGENT_MEMORY_SECRET", SECRET).output().unwrap();
    assert!(check.status.success(), "{check:?}");
    is_clean("am check", &String::from_utf8_lossy(&[check.stdout, check.stderr].concat()));
    server.process.terminate();
    server.process.wait();
    assert!(server.log().contains("POST /memory/remember 201"), "{}", server.log());
    is_clean("the access log", &server.log());
    is_clean("the error log", &server.process.last_errors());
}

#[test]
fn an_agents_program_tells_neither() {
    let home = Home::new();
    let mut command = home.command("am-mcp");
    command.env("AGENT_MEMORY_SECRET", SECRET);
    let mut mcp = Mcp::of(command);
    let arguments = json!({"content": SAID, "project": "p"});
    for (authorization, accepted) in [(format!("Bearer {SECRET}"), true), (format!("Bearer {GUESS}"), false)]
    {
        let meta = json!({ "authorization": authorization });
        let call = json!({"name": "memory_save", "arguments": arguments, "_meta": meta});
        let answer = mcp.ask("tools/call", &call).unwrap();
        assert_eq!(answer["result"]["isError"] == true, !accepted, "{answer}");
        assert!(!answer.to_string().contains(SECRET), "{answer}");
    }
    mcp.input = None;
    mcp.process.wait();
    is_clean("the error stream", &mcp.process.last_errors());
}

#[test]
fn the_command_line_shows_no_secret() {
    let home = Home::new();
    std::fs::create_dir_all(home.path().join(".config/agent-memory")).unwrap();
    home.am(&["remember", "--project=p", "a memory that is there"]);
    for arguments in [
        &["config", "show", "--origin"][..],
        &["config", "show", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["stats", "--verbose"],
        &["verify"],
        &["search", "--project=p", "memory"],
        &["no-such-command"],
    ] {
        let mut command = home.command("am");
        command.env("AGENT_MEMORY_SECRET", SECRET).env("AGENT_MEMORY_URL", "http://127.0.0.1:9");
        let output = command.args(arguments).output().unwrap();
        is_clean(&arguments.join(" "), &String::from_utf8_lossy(&[output.stdout, output.stderr].concat()));
    }
    let unusable = home.command("am").arg("stats").env("AGENT_MEMORY_TTL_DAYS", "x").output().unwrap();
    assert!(String::from_utf8_lossy(&unusable.stderr).contains("AGENT_MEMORY_TTL_DAYS"), "{unusable:?}");
    is_clean("the export", &home.am(&["export"]).stdout);
}

#[test]
fn a_hook_keeps_no_secret_and_gives_it_to_no_stranger() {
    let home = Home::new();
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    // The user's own word: one plain post, with the secret. It comes to nothing, so the event waits in the spool.
    let url = format!("http://{}", stranger.local_addr().unwrap());
    let stranger = std::thread::spawn(move || {
        let (mut connection, _) = stranger.accept().unwrap();
        let mut head = [0; 2048];
        let length = connection.read(&mut head).unwrap();
        drop(connection.write_all(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n"));
        String::from_utf8_lossy(&head[..length]).into_owned()
    });
    let mut hook = home.command("am-hook");
    hook.arg("PostToolUse")
        .env("AGENT_MEMORY_SECRET", SECRET)
        .env("AGENT_MEMORY_URL", url)
        .stdin(Stdio::piped());
    let mut child = hook.spawn().unwrap();
    let payload = json!({
        "session_id": "s", "cwd": "/w/p", "tool_name": "Bash",
        "tool_input": {"command": SAID}, "tool_response": {"stdout": SAID}, "prompt": SAID,
    });
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    let sent = stranger.join().unwrap();
    assert!(sent.contains(&format!("Bearer {SECRET}")) && !sent.contains(SAID), "{sent}");
    let mut spooled = String::new();
    let mut directories = vec![home.data()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                spooled.push_str(&String::from_utf8_lossy(&std::fs::read(path).unwrap()));
            }
        }
    }
    assert!(spooled.contains("tool used: Bash"), "{spooled}");
    is_clean("the spool", &spooled);
}
