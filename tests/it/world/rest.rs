//! am-server, and a client that sees every byte.

use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{ChildStdout, Command};
use std::time::Duration;

use serde_json::Value;

use super::Home;
use super::process::{Heard, Running};

/// A reply as sent.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn parse(received: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(received).ok()?;
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let head = head.to_ascii_lowercase();
        let length: usize =
            head.lines().find_map(|line| line.strip_prefix("content-length: "))?.parse().ok()?;
        (length == body.len()).then(|| Self { status, head, body: body.to_owned() })
    }
}

/// Sends a request over a fresh connection and reads to its end; fails where no whole reply came.
fn exchange(mut stream: impl Read + Write, method: &str, path: &str, body: &str) -> io::Result<Reply> {
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes())?;
    let mut received = vec![];
    stream.read_to_end(&mut received)?;
    Reply::parse(&received).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) process: Running,
    pub(crate) port: u16,
    /// Its access log, which has to be read for the server to go on.
    _output: Option<Heard>,
}

impl Server {
    pub(crate) fn start(home: &Home) -> Self {
        Self::of(home.command("am-server").args(["--port", "0"]))
    }

    /// Starts one whose standard output nobody reads any more once it serves.
    pub(crate) fn start_unheard(home: &Home) -> Self {
        let (process, port, output) = Self::launch(home.command("am-server").args(["--port", "0"]));
        drop(output);
        Self { process, port, _output: None }
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        let (process, port, output) = Self::launch(command);
        Self { process, port, _output: Some(Heard::of(output)) }
    }

    /// Starts a command and waits for its start line.
    fn launch(command: &mut Command) -> (Running, u16, BufReader<ChildStdout>) {
        let mut process = Running::start(command);
        let mut stdout = BufReader::new(process.child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let port = line
            .split_once(" (auth")
            .and_then(|(url, _)| url.rsplit_once(':'))
            .and_then(|(_, port)| port.parse().ok());
        let Some(port) = port else { panic!("no start line: {line:?} {}", process.last_errors()) };
        (process, port, stdout)
    }

    /// Asks, where the server may be gone.
    pub(crate) fn try_ask(port: u16, method: &str, path: &str, body: &str) -> io::Result<Reply> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        exchange(stream, method, path, body)
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        Self::try_ask(self.port, "GET", path, "").unwrap()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        Self::try_ask(self.port, "POST", path, &body.to_string()).unwrap()
    }

    /// Stops it as a user does, and checks that it ended well and had nothing to complain about.
    pub(crate) fn stop(self) {
        assert_eq!(self.stop_and_hear(), "");
    }

    /// Stops it as a user does, and returns what it had to complain about.
    pub(crate) fn stop_and_hear(mut self) -> String {
        self.process.terminate();
        assert_eq!(self.process.wait().code(), Some(0));
        self.process.last_errors()
    }
}
