//! Servers: ours, others, and none.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Stdio};

use crate::support::{Am, assert_shown};

/// `am serve` on a port of its own, ended with this value.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(am: &Am) -> Self {
        let mut child = am.command().args(["serve", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.split(' ').find(|word| word.starts_with("http://")).unwrap().to_owned();
        Self { child, url }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn without_port(url: &str, shown: &str) -> String {
    shown.replace(url, "[URL]")
}

#[test]
fn a_running_server_is_checked_and_left_clean() {
    let am = Am::new();
    let served = Served::start(&am);
    let ran = am.run(["check", "--url", &served.url]);
    assert_shown("check", &am, &without_port(&served.url, &ran.shown()));
    let json = am.run(["check", "--json", "--url", &served.url]).ok().json();
    let counted =
        |list: &str| json[list].as_array().unwrap().iter().filter(|entry| entry["ok"] == true).count();
    assert_eq!((counted("routes"), counted("skills")), (12, 8));
    let stats = am.run(["stats", "--json"]).ok().json();
    assert_eq!((&stats["memories"], &stats["sessions"]), (&0.into(), &1.into()));
    // Found by itself too, over its socket.
    am.run(["check"]).ok();
}

#[test]
fn a_secret_is_needed_where_the_server_wants_one() {
    let am = Am::new().with("AGENT_MEMORY_SECRET", "open sesame");
    let served = Served::start(&am);
    am.run(["check", "--url", &served.url]).ok();
    let stranger = Am::new();
    let ran = stranger.run(["check", "--url", &served.url]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("FAIL  route /memory/remember: 401"), "{ran:?}");
    assert!(ran.stdout.contains("ok    route /memory/livez"), "{ran:?}");
    let wrong = Am::new().with("AGENT_MEMORY_SECRET", "open barley");
    let ran = wrong.run(["check", "--url", &served.url]);
    assert_eq!((ran.code, ran.stdout.matches("401").count()), (1, 1), "{ran:?}");
    assert!(ran.stdout.contains("401: it refuses the secret"), "{ran:?}");
    let json = wrong.run(["check", "--json", "--url", &served.url]).json();
    assert_eq!(json["routes"].as_array().unwrap().len(), 2, "{json}");
}

#[test]
fn another_product_is_told_apart_and_gets_no_secret() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let length = stream.read(&mut request).unwrap();
        let body = "{\"status\":\"ok\"}";
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        drop(listener);
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    let am = Am::new().with("AGENT_MEMORY_SECRET", "open sesame");
    let ran = am.run(["check", "--url", &url]);
    assert_shown("check-foreign", &am, &without_port(&url, &ran.shown()));
    let heard = heard.join().unwrap();
    assert!(heard.starts_with("GET /memory/livez ") && !heard.contains("sesame"), "{heard}");
}

#[test]
fn the_doctor_knows_the_server_by_its_socket() {
    let am = Am::new();
    let _served = Served::start(&am);
    let json = am.run(["doctor", "--json"]).json();
    let socket =
        json["findings"].as_array().unwrap().iter().find(|finding| finding["subject"] == "socket").unwrap();
    assert_eq!(socket["status"], "ok", "{json}");
}

#[test]
fn a_save_through_one_door_is_found_through_the_other() {
    let am = Am::new();
    let served = Served::start(&am);
    am.remember("p", "s", "saved beside a running server");
    assert_eq!(am.found("p", "beside"), ["saved beside a running server"]);
    am.run(["check", "--url", &served.url]).ok();
    assert_eq!(am.run(["verify", "--json"]).ok().json()["ok"], true);
}

#[test]
fn what_is_forgotten_beside_a_running_server_leaves_the_disk() {
    let am = Am::new();
    let id = am.remember("agent-memory-check", "s", "a passphrase: heliotrope");
    let served = Served::start(&am);
    // The server searches the project first, and keeps what it needs for the next search.
    am.run(["check", "--url", &served.url]).ok();
    let forgotten = am.run(["forget", "--json", &id]).ok().json();
    assert_eq!(forgotten["erasurePending"], false);
    assert!(!am.holds_bytes("heliotrope"));
    am.run(["check", "--url", &served.url]).ok();
    assert_eq!(am.run(["verify", "--json"]).ok().json()["erasurePending"], false);
}

#[test]
fn a_taken_port_is_explained() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = Am::new().run(["serve", "--port", &port]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(
        ran.stderr.contains(&format!("port {port} is already in use")) && ran.stderr.contains("NEVER kill")
    );
}

#[test]
fn mcp_speaks_protocol_only_and_ends_with_its_input() {
    let am = Am::new().with("AGENT_MEMORY_TTL_DAYS", "soon");
    let call = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"memory_save\",\
                \"arguments\":{\"content\":\"told over mcp\",\"project\":\"p\"}}}\n";
    let ran = am.run_with_input(["mcp"], call.as_bytes()).ok();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 1, "{ran:?}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(lines[0]).unwrap()["id"], 1);
    assert_eq!(am.found("p", "told"), ["told over mcp"]);
}
