//! A client that sees every byte.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A reply as sent.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn parse(received: &[u8]) -> Option<Self> {
        let text = String::from_utf8(received.to_vec()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().unwrap();
        Some(Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() })
    }
}

/// Sends a request over a fresh connection and reads to its end.
pub(crate) fn exchange(mut stream: impl Read + Write, method: &str, path: &str, body: &str) -> Reply {
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut received = vec![];
    stream.read_to_end(&mut received).unwrap();
    Reply::parse(&received).unwrap()
}

pub(crate) fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

pub(crate) fn get(port: u16, path: &str) -> Reply {
    exchange(connect(port), "GET", path, "")
}

pub(crate) fn post(port: u16, path: &str, body: &str) -> Reply {
    exchange(connect(port), "POST", path, body)
}
