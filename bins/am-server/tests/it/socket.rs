//! The private socket in the data directory.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use crate::client::{exchange, get};
use crate::process::{Server, command};

fn alive(socket: &Path) -> u16 {
    exchange(UnixStream::connect(socket).unwrap(), "GET", "/memory/livez", "").status
}

#[test]
fn only_the_owner_may_connect() {
    let home = tempfile::tempdir().unwrap();
    let _server = Server::start(home.path());
    let data = home.path().join("data");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&data), mode(&data.join("am.sock"))), (0o700, 0o600));
    assert_eq!(alive(&data.join("am.sock")), 200);
}

#[test]
fn the_host_says_nothing_there() {
    use std::io::{Read as _, Write as _};

    let home = tempfile::tempdir().unwrap();
    let _server = Server::start(home.path());
    let mut stream = UnixStream::connect(home.path().join("data/am.sock")).unwrap();
    stream
        .write_all(b"GET /memory/livez HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut received = String::new();
    stream.read_to_string(&mut received).unwrap();
    assert!(received.starts_with("HTTP/1.1 200 "), "{received}");
}

#[test]
fn a_second_server_leaves_the_socket_to_the_first() {
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("data/am.sock");
    let first = Server::start(home.path());
    let second = Server::start(home.path());
    let inode = socket.metadata().unwrap().ino();
    assert_eq!(get(second.port, "/memory/livez").status, 200);
    second.signal("-TERM");
    let end = second.end();
    assert!(end.stderr.contains("another server has "), "{end:?}");
    assert_eq!((end.code, socket.metadata().unwrap().ino()), (Some(0), inode));
    assert_eq!((alive(&socket), get(first.port, "/memory/livez").status), (200, 200));
}

#[test]
fn what_a_dead_server_left_is_taken_over() {
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("data/am.sock");
    let killed = Server::start(home.path());
    killed.signal("-KILL");
    assert_eq!(killed.end().code, None);
    assert!(socket.exists());
    let server = Server::start(home.path());
    assert_eq!(alive(&socket), 200);
    server.signal("-TERM");
    assert_eq!(server.end().stderr, "");
    assert!(!socket.exists());
}

#[test]
fn a_socket_that_answers_is_left_alone_whoever_has_it() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let _other = UnixListener::bind(data.join("am.sock")).unwrap();
    let server = Server::start(home.path());
    assert_eq!(get(server.port, "/memory/livez").status, 200);
    server.signal("-TERM");
    assert!(server.end().stderr.contains("another server has "));
    assert!(data.join("am.sock").exists());
}

#[test]
fn a_path_too_long_for_a_socket_is_a_warning() {
    let home = tempfile::tempdir().unwrap();
    let long = home.path().join("d".repeat(120));
    let mut command = command(&long);
    let server = Server::of(command.args(["--port", "0"]));
    assert_eq!(get(server.port, "/memory/livez").status, 200);
    server.signal("-TERM");
    let end = server.end();
    assert!(end.code == Some(0) && end.stderr.contains("reached over TCP only"), "{end:?}");
}
