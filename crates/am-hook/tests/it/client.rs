//! Whom a run reaches, whom it trusts, and what it keeps when no one takes the event.

use std::{io::Cursor, path::Path};

use am_hook::{
    places,
    program::{self, Settings},
    spool::{Counters, Spool, SpooledDelivery, Verdict},
};
use tempfile::TempDir;

use crate::support::{self, Behaviour, Listener};

const PAYLOAD: &str = r#"{"cwd":"/srv/app","session_id":"h","tool_name":"Bash","tool_use_id":"toolu_7"}"#;

fn settings(directory: &Path) -> Settings {
    let mut settings = Settings::from_environment(|_| None, Some("/own".into()));
    settings.data_directory = Some(directory.to_owned());
    settings.default_address = support::closed_port();
    settings
}

fn run(settings: &Settings) {
    let mut output = Vec::new();
    program::run(["PostToolUse".into()], settings.clone(), Some(Cursor::new(PAYLOAD)), &mut output);
    assert!(output.is_empty());
}

fn waiting(directory: &Path) -> Vec<SpooledDelivery> {
    let mut waiting = Vec::new();
    Spool::of(directory)
        .drain(|delivery| {
            waiting.push(delivery.clone());
            Verdict::Keep
        })
        .unwrap();
    waiting
}

fn counters(directory: &Path) -> Counters {
    Spool::of(directory).counters().unwrap()
}

/// What a peer is asked that has to show who it is, and does.
const IDENTIFIED: [&str; 2] = ["GET /memory/livez HTTP/1.1", "POST /memory/remember HTTP/1.1"];

fn lines(listener: &Listener) -> Vec<String> {
    listener.take().into_iter().map(|request| request.line).collect()
}

/// Makes a data directory as a server makes it: closed to others.
fn data_directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    directory
}

#[test]
fn nobody_listening_spools_with_key_time_and_no_target() {
    let directory = data_directory();
    run(&settings(&directory.path().join("made/by/us")));
    let waiting = waiting(&directory.path().join("made/by/us"));
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].target, None);
    let delivery = &waiting[0].delivery;
    assert_eq!(delivery.key, "host:PostToolUse:toolu_7");
    assert_eq!((delivery.content.as_str(), delivery.project.as_str()), ("tool used: Bash", "app"));
    assert!(delivery.event_time > 1_600_000_000_000);
}

#[cfg(unix)]
#[test]
fn spooled_text_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let directory = data_directory();
    let place = directory.path().join("new");
    run(&settings(&place));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place), 0o700);
    let spool = place.join(places::SPOOL_NAME);
    assert_eq!(mode(&spool), 0o700);
    for entry in std::fs::read_dir(spool).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

#[cfg(unix)]
#[test]
fn the_socket_comes_first_and_has_the_secret() {
    let directory = data_directory();
    let socket = Listener::on_socket(&directory.path().join(places::SOCKET_NAME), |_| support::ours(201));
    let port = Listener::start(|_| support::ours(201));
    let mut settings = settings(directory.path());
    settings.default_address = port.address;
    settings.secret = Some("s3cret".to_owned());
    run(&settings);
    let requests = socket.take();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].header("authorization"), Some("Bearer s3cret"));
    assert_eq!(requests[0].header("idempotency-key"), Some("host:PostToolUse:toolu_7"));
    assert!(port.take().is_empty());
    assert!(waiting(directory.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn a_socket_others_could_have_made_has_to_show_who_it_is() {
    use std::os::unix::fs::PermissionsExt;
    for secret in [None, Some("s3cret".to_owned())] {
        let directory = data_directory();
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let path = directory.path().join(places::SOCKET_NAME);
        let socket = Listener::on_socket(&path, |_| support::reply(200, "", "{}"));
        let mut settings = settings(directory.path());
        settings.secret.clone_from(&secret);
        run(&settings);
        let requests = socket.take();
        assert_eq!(requests.len(), 1, "{secret:?}");
        assert_eq!(requests[0].line, IDENTIFIED[0]);
        assert_eq!((requests[0].header("authorization"), requests[0].body.as_str()), (None, ""));
        assert_eq!(waiting(directory.path()).len(), 1);

        std::fs::remove_file(&path).unwrap();
        let real = Listener::on_socket(&path, |_| support::ours(201));
        run(&settings);
        assert_eq!(lines(&real), IDENTIFIED, "{secret:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_dead_socket_falls_back_to_the_port() {
    let directory = data_directory();
    drop(std::os::unix::net::UnixListener::bind(directory.path().join(places::SOCKET_NAME)).unwrap());
    let port = Listener::start(|_| support::ours(201));
    let mut settings = settings(directory.path());
    settings.default_address = port.address;
    run(&settings);
    assert_eq!(lines(&port), IDENTIFIED);
    assert!(waiting(directory.path()).is_empty());
}

#[test]
fn a_foreign_server_on_the_port_is_counted_and_the_event_kept() {
    for foreign in
        [support::reply(201, "", "{}"), support::reply(404, "", ""), Behaviour::Reply("+PONG\r\n".into())]
    {
        let directory = data_directory();
        let port = Listener::start(move |_| foreign.clone());
        let mut settings = settings(directory.path());
        settings.default_address = port.address;
        run(&settings);
        let requests = port.take();
        assert_eq!(requests.len(), 1);
        assert_eq!((requests[0].line.as_str(), requests[0].body.as_str()), (IDENTIFIED[0], ""));
        assert_eq!(waiting(directory.path()).len(), 1);
        assert_eq!(counters(directory.path()), Counters { spooled: 1, foreign: 1, ..Counters::default() });
    }
}

#[test]
fn the_default_port_gets_nothing_before_it_has_shown_who_it_is() {
    for secret in [None, Some("s3cret".to_owned())] {
        let directory = data_directory();
        let foreign = Listener::start(|_| support::reply(200, "", "{\"status\":\"ok\"}"));
        let mut settings = settings(directory.path());
        settings.secret.clone_from(&secret);
        settings.default_address = foreign.address;
        run(&settings);
        let requests = foreign.take();
        assert_eq!(requests.len(), 1);
        assert_eq!((requests[0].line.as_str(), requests[0].body.as_str()), (IDENTIFIED[0], ""));
        assert_eq!(requests[0].header("authorization"), None);
        assert_eq!(requests[0].header("idempotency-key"), None);
        assert_eq!(waiting(directory.path()).len(), 1);
        assert_eq!(counters(directory.path()).foreign, 1);

        let real =
            Listener::start(|request| support::ours(if request.line.starts_with("GET") { 200 } else { 201 }));
        settings.default_address = real.address;
        run(&settings);
        let requests = real.take();
        let lines: Vec<&str> = requests.iter().map(|request| request.line.as_str()).collect();
        assert_eq!(lines, IDENTIFIED);
        let authorization = secret.map(|secret| format!("Bearer {secret}"));
        assert_eq!(requests[0].header("authorization"), None);
        assert_eq!(requests[1].header("authorization"), authorization.as_deref());
        assert_eq!(waiting(directory.path()).len(), 1);
    }
}

#[test]
fn the_users_own_url_needs_no_identity_and_is_one_plain_post() {
    let directory = data_directory();
    let server = Listener::start(|_| support::reply(201, "", "{}"));
    let mut settings = settings(directory.path());
    settings.secret = Some("s3cret".to_owned());
    settings.url = Some(format!("http://localhost:{}", server.address.port()));
    run(&settings);
    let requests = server.take();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].header("authorization"), Some("Bearer s3cret"));
    assert!(waiting(directory.path()).is_empty());
}

#[test]
fn the_status_decides_whether_the_event_waits() {
    for (status, kept, refused) in [
        (200, 0, 0),
        (201, 0, 0),
        (204, 0, 0),
        (400, 0, 1),
        (404, 0, 1),
        (413, 0, 1),
        (401, 1, 0),
        (408, 1, 0),
        (429, 1, 0),
        (500, 1, 0),
        (503, 1, 0),
        (302, 1, 0),
    ] {
        let directory = data_directory();
        let server = Listener::start(move |_| support::ours(status));
        let mut settings = settings(directory.path());
        settings.url = Some(server.url());
        run(&settings);
        let waiting = waiting(directory.path());
        assert_eq!(waiting.len(), kept, "{status}");
        assert!(waiting.iter().all(|line| line.target.as_deref() == Some(server.url().as_str())), "{status}");
        assert_eq!(counters(directory.path()).refused, refused, "{status}");
    }
}

#[test]
fn servers_that_hang_or_hang_up_do_not_lose_the_event() {
    for behaviour in [
        Behaviour::Hang,
        Behaviour::Close,
        Behaviour::Reply(String::new()),
        Behaviour::Reply("HTTP/1.1 201 Cre".into()),
    ] {
        for explicit in [false, true] {
            let directory = data_directory();
            let told = behaviour.clone();
            let server = Listener::start(move |_| told.clone());
            let mut settings = settings(directory.path());
            settings.default_address = server.address;
            settings.url = explicit.then(|| server.url());
            run(&settings);
            assert_eq!(waiting(directory.path()).len(), 1, "{behaviour:?} {explicit}");
            assert_eq!(counters(directory.path()).foreign, 0, "{behaviour:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_socket_that_hangs_does_not_lose_the_event() {
    let directory = data_directory();
    let _socket = Listener::on_socket(&directory.path().join(places::SOCKET_NAME), |_| Behaviour::Hang);
    run(&settings(directory.path()));
    assert_eq!(waiting(directory.path()).len(), 1);
}

#[cfg(unix)]
#[test]
fn a_socket_whose_queue_is_full_does_not_lose_the_event() {
    let directory = data_directory();
    let path = directory.path().join(places::SOCKET_NAME);
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    // Nobody accepts: at some point connecting blocks.
    let (queued, full) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut streams = Vec::new();
        while let Ok(stream) = std::os::unix::net::UnixStream::connect(&path) {
            streams.push(stream);
            queued.send(()).unwrap();
        }
    });
    while full.recv_timeout(std::time::Duration::from_millis(500)).is_ok() {}
    run(&settings(directory.path()));
    assert_eq!(waiting(directory.path()).len(), 1);
}

#[test]
fn interim_replies_are_passed_over() {
    let directory = data_directory();
    let server = Listener::start(|_| {
        Behaviour::Reply(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nx-agent-memory: 1\r\ncontent-length: 0\r\n\r\n"
                .into(),
        )
    });
    let mut settings = settings(directory.path());
    settings.default_address = server.address;
    run(&settings);
    assert!(waiting(directory.path()).is_empty());
}

#[test]
fn an_https_url_is_kept_for_those_who_can() {
    let directory = data_directory();
    let mut settings = settings(directory.path());
    settings.url = Some("https://memory.example/team".to_owned());
    run(&settings);
    let waiting = waiting(directory.path());
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].target.as_deref(), Some("https://memory.example/team"));
}

#[test]
fn a_url_that_is_none_sends_nothing_and_counts_what_is_lost() {
    for bad in ["not a url", "http://", "ftp://h", "http://user:password@h", "127.0.0.1:3111"] {
        let directory = data_directory();
        let port = Listener::start(|_| support::ours(201));
        let mut settings = settings(directory.path());
        settings.default_address = port.address;
        settings.url = Some(bad.to_owned());
        run(&settings);
        assert!(port.take().is_empty(), "{bad}");
        assert!(waiting(directory.path()).is_empty(), "{bad}");
        assert_eq!(counters(directory.path()), Counters { refused: 1, ..Counters::default() }, "{bad}");
    }
}

#[test]
fn what_would_not_be_sent_anyway_is_not_counted_as_lost() {
    let directory = data_directory();
    let mut settings = settings(directory.path());
    settings.url = Some("not a url".to_owned());
    let mut output = Vec::new();
    program::run(["Unheard".into()], settings.clone(), Some(Cursor::new(PAYLOAD)), &mut output);
    program::run(["PostToolUse".into()], settings, Some(Cursor::new("{broken")), &mut output);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_secret_that_no_header_carries_is_never_sent() {
    let directory = data_directory();
    let server = Listener::start(|_| support::ours(201));
    let mut settings = settings(directory.path());
    settings.url = Some(server.url());
    settings.secret = Some("a\r\nx-injected: 1".to_owned());
    run(&settings);
    assert!(server.take().is_empty());
    assert_eq!(waiting(directory.path()).len(), 1);
}

#[test]
fn no_data_directory_and_no_server_is_silence() {
    let mut settings = settings(Path::new("/"));
    settings.data_directory = None;
    run(&settings);
}

#[test]
fn a_data_directory_that_can_not_be_made_is_silence() {
    let directory = data_directory();
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    run(&settings(&file.join("below")));
}

#[test]
fn a_host_that_never_ends_its_payload_is_not_waited_for() {
    struct Endless;
    impl std::io::Read for Endless {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            std::thread::sleep(std::time::Duration::from_secs(3600));
            Ok(0)
        }
    }
    let directory = data_directory();
    let mut output = Vec::new();
    let arguments = ["--agent".into(), "antigravity".into(), "Stop".into()];
    program::run(arguments, settings(directory.path()), Some(Endless), &mut output);
    assert_eq!(output, br#"{"decision":"stop"}"#);
}

#[cfg(unix)]
#[test]
fn a_payload_that_comes_late_leaves_less_time_for_the_server() {
    /// A host that takes a second to hand over its payload.
    struct Late(Cursor<&'static str>);
    impl std::io::Read for Late {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.0.position() == 0 {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
            self.0.read(buffer)
        }
    }
    let directory = data_directory();
    // Slow, but quick enough for the payload of a host that does not dawdle.
    let server = Listener::start(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1200));
        support::ours(201)
    });
    let mut settings = settings(directory.path());
    // Another machine, as far as can be told by its name.
    let url = format!("http://0.0.0.0:{}", server.address.port());
    settings.url = Some(url.clone());
    let mut output = Vec::new();
    program::run(["PostToolUse".into()], settings, Some(Late(Cursor::new(PAYLOAD))), &mut output);
    let waiting = waiting(directory.path());
    assert_eq!(waiting.len(), 1, "both together would take longer than a run may");
    assert_eq!(waiting[0].target, Some(url));
}

#[test]
fn arguments_choose_the_dialect() {
    for (arguments, expected) in [
        (vec!["--agent", "antigravity", "Stop"], r#"{"decision":"stop"}"#),
        (vec!["--agent=antigravity", "PostToolUse"], "{}"),
        (vec!["--agent", "antigravity"], "{}"),
        (vec!["--agent", "unheard-of", "Stop"], ""),
        (vec!["--agent"], ""),
        (vec!["Stop"], ""),
    ] {
        let directory = data_directory();
        let mut output = Vec::new();
        let listed = arguments.iter().map(Into::into);
        program::run(listed, settings(directory.path()), Some(Cursor::new("{}")), &mut output);
        assert_eq!(String::from_utf8(output).unwrap(), expected, "{arguments:?}");
    }
}

#[test]
fn a_terminal_sends_nothing() {
    let directory = data_directory();
    let mut output = Vec::new();
    program::run(["Stop".into()], settings(directory.path()), None::<std::io::Empty>, &mut output);
    assert!(output.is_empty());
    assert!(waiting(directory.path()).is_empty());
}

#[test]
fn the_data_directory_follows_the_environment() {
    let directory = |environment: &[(&str, &str)]| {
        places::data_directory(|name| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into())
        })
    };
    assert_eq!(directory(&[("AGENT_MEMORY_DATA_DIR", "/d"), ("HOME", "/h")]), Some("/d".into()));
    assert_eq!(directory(&[]), None);
    if cfg!(all(unix, not(target_os = "macos"))) {
        assert_eq!(directory(&[("HOME", "/h")]), Some("/h/.local/share/agent-memory".into()));
        let both = [("AGENT_MEMORY_DATA_DIR", ""), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(directory(&both), Some("/x/agent-memory".into()));
        assert_eq!(
            directory(&[("XDG_DATA_HOME", "relative"), ("HOME", "/h")]),
            Some("/h/.local/share/agent-memory".into())
        );
    }
}
