//! Environments, and servers that answer what they are told.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use am_runtime::config::{Config, ConfigError, Overrides};

/// Returns the lookup of an environment that has `HOME` and these.
pub(crate) fn environment(variables: &[(&str, &str)]) -> impl Fn(&str) -> Option<OsString> + use<> {
    let mut variables: HashMap<String, OsString> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect();
    variables.entry("HOME".to_owned()).or_insert_with(|| "/home/someone".into());
    move |name| variables.get(name).cloned()
}

pub(crate) fn resolve(variables: &[(&str, &str)], file: Option<&str>) -> Result<Config, ConfigError> {
    Config::resolve(&Overrides::default(), &environment(variables), file)
}

/// Returns a configuration whose data is in `directory`.
pub(crate) fn config_in(directory: &Path, more: &[(&str, &str)]) -> Config {
    let mut variables = vec![("AGENT_MEMORY_DATA_DIR", directory.to_str().unwrap())];
    variables.extend(more);
    resolve(&variables, None).unwrap()
}

/// Reads a request: its head in lower case, and its body.
fn read_request(stream: &mut impl Read) -> Option<(String, String)> {
    let mut received = vec![];
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&received[..end]).into_owned();
            let length: usize = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0);
            if received.len() >= end + 4 + length {
                return Some((head, String::from_utf8_lossy(&received[end + 4..]).into_owned()));
            }
        }
        match stream.read(&mut buffer).unwrap_or(0) {
            0 => return None,
            count => received.extend_from_slice(&buffer[..count]),
        }
    }
}

fn answer(mut stream: impl Read + Write, reply: &str, requests: &std::sync::mpsc::Sender<(String, String)>) {
    if let Some(request) = read_request(&mut stream) {
        drop(requests.send(request));
        drop(stream.write_all(reply.as_bytes()));
    }
}

/// Answers every connection with `reply`; returns the base URL and the requests that came.
pub(crate) fn server(reply: String) -> (String, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _: &TcpStream = &stream;
            answer(stream, &reply, &sender);
        }
    });
    (address, requests)
}

/// The same on a socket.
#[cfg(unix)]
pub(crate) fn socket_server(path: &Path, reply: String) -> Receiver<(String, String)> {
    let listener = std::os::unix::net::UnixListener::bind(path).unwrap();
    let (sender, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &reply, &sender);
        }
    });
    requests
}

pub(crate) fn ours(status: u16, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\nx-agent-memory: 9.9.9\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

pub(crate) fn foreign(status: u16, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}
