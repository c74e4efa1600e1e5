//! One connection that is kept open, and requests on it one after the other.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};

/// A connection to a server of this machine.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    authority: String,
    /// What was read of a reply, kept for its memory.
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects to a port on loopback.
    ///
    /// # Errors
    /// Nobody accepts.
    pub fn open(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, authority: format!("127.0.0.1:{port}"), buffer: vec![0; 64 << 10] })
    }

    /// Gets a path and returns the body.
    ///
    /// # Errors
    /// The connection breaks, or the answer is not 200.
    pub fn get(&mut self, path: &str) -> io::Result<String> {
        let head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.authority);
        self.exchange(&head)
    }

    /// Posts JSON to a path and returns the body.
    ///
    /// # Errors
    /// As [`Connection::get`].
    pub fn post(&mut self, path: &str, body: &str) -> io::Result<String> {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.authority,
            body.len()
        );
        self.exchange(&request)
    }

    /// Searches a project by one of the two routes.
    ///
    /// # Errors
    /// As [`Connection::get`].
    pub fn search(&mut self, route: &str, project: &str, query: &str) -> io::Result<String> {
        self.post(&format!("/memory/{route}"), &format!(r#"{{"query":"{query}","project":"{project}"}}"#))
    }

    fn exchange(&mut self, request: &str) -> io::Result<String> {
        self.stream.write_all(request.as_bytes())?;
        let mut filled = 0;
        loop {
            if filled == self.buffer.len() {
                self.buffer.resize(filled * 2, 0);
            }
            let read = self.stream.read(self.buffer.get_mut(filled..).unwrap_or_default())?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            filled += read;
            let text = String::from_utf8_lossy(self.buffer.get(..filled).unwrap_or_default());
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .and_then(|(_, value)| value.trim_ascii().parse::<usize>().ok())
                .ok_or_else(|| io::Error::other("a reply without a length"))?;
            if body.len() < length {
                continue;
            }
            if head.starts_with("HTTP/1.1 200") {
                return Ok(body.to_owned());
            }
            return Err(io::Error::other(text.into_owned()));
        }
    }
}
