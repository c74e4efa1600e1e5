//! A server's day, and its end.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use crate::client::{connect, get, post};
use crate::process::Server;

#[test]
fn what_is_saved_is_found_and_every_request_is_a_line() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Server::start(home.path());
    let expected = format!("agent-memory REST on http://127.0.0.1:{} (auth: open)\n", server.port);
    assert_eq!(server.start_line, expected);

    let saved =
        post(server.port, "/memory/remember", r#"{"content":"The queue drains in batches","project":"p"}"#);
    assert_eq!(saved.status, 201, "{saved:?}");
    assert!(
        saved.head.contains(concat!("\r\nx-agent-memory: ", env!("CARGO_PKG_VERSION"))),
        "{}",
        saved.head
    );
    let found = post(server.port, "/memory/search", r#"{"query":"queue","project":"p"}"#);
    assert!(found.body.contains("The queue drains in batches"), "{}", found.body);
    assert_eq!(get(server.port, "/memory/sessions?project=secret").status, 200);

    let id = saved.body.split('"').nth(3).unwrap();
    let body = format!(r#"{{"memoryId":"{id}","reason":"out \u001b[31m of\ndate"}}"#);
    assert_eq!(post(server.port, "/memory/delete", &body).status, 200);

    assert!(server.line().starts_with("POST /memory/remember 201 "));
    assert!(server.line().starts_with("POST /memory/search 200 "));
    assert!(server.line().starts_with("GET /memory/sessions 200 "), "the query is not logged");
    let governed = server.line();
    let expected =
        format!("[agentmemory] delete governance memoryId={id} reason=out \u{fffd}[31m of date at=20");
    assert!(governed.starts_with(&expected), "{governed}");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_at_once_whatever_clients_do() {
    for signal in ["-TERM", "-INT"] {
        let home = tempfile::tempdir().unwrap();
        let server = Server::start(home.path());
        assert_eq!(post(server.port, "/memory/remember", r#"{"content":"kept"}"#).status, 201);
        // An idle connection, one in the middle of a head, one in the middle of a body.
        let idle = connect(server.port);
        let mut head = connect(server.port);
        head.write_all(b"GET /memory/livez HTTP/1.1\r\n").unwrap();
        let mut body = connect(server.port);
        let start = "POST /memory/recap HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                     content-length: 100\r\n\r\n{";
        body.write_all(start.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let port = server.port;
        server.signal(signal);
        let end = server.end();
        assert_eq!(end.code, Some(0), "{end:?}");
        assert_eq!(end.stderr, "");
        assert!(end.stdout.starts_with("POST /memory/remember 201 "), "{end:?}");
        assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
        assert!(!home.path().join("data/am.sock").exists());
        drop((idle, head, body));

        let again = Server::start(home.path());
        assert!(post(again.port, "/memory/search", r#"{"query":"kept"}"#).body.contains("\"kept\""));
    }
}

#[cfg(unix)]
#[test]
fn what_was_begun_is_answered_before_the_end() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path());
    let content = "word ".repeat(1_000);
    let body = format!(r#"{{"content":"{content}"}}"#);
    let mut stream = connect(server.port);
    let head = format!(
        "POST /memory/remember HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let (last, first) = body.as_bytes().split_last().unwrap();
    stream.write_all(first).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    server.signal("-TERM");
    stream.write_all(&[*last]).unwrap();
    let mut received = String::new();
    stream.read_to_string(&mut received).unwrap();
    assert!(received.starts_with("HTTP/1.1 201 "), "{received}");
    assert_eq!(server.end().code, Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn systemd_hears_of_the_start_and_the_end() {
    use std::os::unix::net::UnixDatagram;

    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("notify");
    let systemd = UnixDatagram::bind(&path).unwrap();
    systemd.set_read_timeout(Some(crate::process::PATIENCE)).unwrap();
    let mut command = crate::process::command(home.path());
    let server = Server::of(command.args(["--port", "0"]).env("NOTIFY_SOCKET", &path));
    let heard = || {
        let mut buffer = [0; 64];
        let length = systemd.recv(&mut buffer).unwrap();
        String::from_utf8(buffer.iter().take(length).copied().collect()).unwrap()
    };
    assert_eq!(heard(), "READY=1");
    server.signal("-TERM");
    assert_eq!(heard(), "STOPPING=1");
    assert_eq!(server.end().code, Some(0));
}

fn delivery(key: &str, event_time: i64) -> am_hook::delivery::Delivery {
    am_hook::delivery::Delivery {
        content: "tool used: Grep".to_owned(),
        project: "p".to_owned(),
        session_id: "s".to_owned(),
        origin: "hook:PostToolUse".to_owned(),
        key: key.to_owned(),
        event_time,
    }
}

/// Waits until the session's memories tell of a search.
fn await_memory(server: &Server) {
    let deadline = Instant::now() + crate::process::PATIENCE;
    loop {
        let listed = get(server.port, "/memory/sessions/s/memories?project=p");
        if listed.body.contains("tool used: Grep") {
            break;
        }
        assert!(Instant::now() < deadline, "{listed:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_hooks_left_in_the_spool_becomes_memory() {
    let home = tempfile::tempdir().unwrap();
    let spool = am_hook::spool::Spool::of(&home.path().join("data"));
    spool.append(&delivery("host:PostToolUse:1", 1_700_000_000_000), None).unwrap();
    let server = Server::start(home.path());
    await_memory(&server);
}

#[tokio::test]
async fn what_is_forwarded_to_another_server_happened_when_it_happened() {
    use am_store::Store as _;

    const TIMES: [i64; 3] = [1_700_000_000_000, 1_700_000_060_000, 1_700_000_061_000];
    let (there, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let target = Server::start(there.path());
    let url = format!("http://127.0.0.1:{}/", target.port);
    let spool = am_hook::spool::Spool::of(&here.path().join("data"));
    // Equal in all but their times: the last two are one event of two hosts, the first one is not.
    for (number, time) in (1..).zip(TIMES) {
        spool.append(&delivery(&format!("delivery:{number}"), time), Some(&url)).unwrap();
    }
    let _forwarder = Server::start(here.path());
    let deadline = Instant::now() + crate::process::PATIENCE;
    while spool.pending().unwrap().deliveries > 0 {
        assert!(Instant::now() < deadline, "{:?}", spool.counters());
        std::thread::sleep(Duration::from_millis(20));
    }
    await_memory(&target);
    let store = am_store_sqlite::SqliteStore::open(
        &there.path().join("data"),
        am_store_sqlite::OpenOptions::default(),
    )
    .unwrap();
    let evidence =
        store.observations_page(&am_store::Scope::AllProjects, am_model::StoreId(0), 10).await.unwrap();
    let times: Vec<i64> = evidence.iter().map(|row| row.observation.at.millis()).collect();
    assert_eq!(times, TIMES[..2]);
    assert_eq!(spool.counters().unwrap().refused, 0);
}
