//! Requests over the socket of a server on this machine: HTTP/1.1, one request for each connection.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Instant;

use super::{Failure, IDENTITY_HEADER, LARGEST, Reply, Request};

/// Largest head of a reply, in bytes.
const LARGEST_HEAD: usize = 64 << 10;

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Self::TimedOut,
            ErrorKind::UnexpectedEof => Self::Unusable("the answer ends early".to_owned()),
            _ => Self::Unreachable(error.to_string()),
        }
    }
}

pub(super) fn exchange(socket: &Path, request: &Request<'_>) -> Result<Reply, Failure> {
    let deadline = Instant::now() + request.wait;
    let mut stream = Bounded { stream: UnixStream::connect(socket)?, deadline };
    let head = head(request)?;
    // A server that refuses early has answered already when it stops reading.
    let written = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(request.body.unwrap_or_default().as_bytes()));
    let replied = reply(&mut stream);
    match (written, replied) {
        (_, Ok(reply)) => Ok(reply),
        (Err(error), Err(_)) => Err(error.into()),
        (Ok(()), Err(failure)) => Err(failure),
    }
}

fn head(request: &Request<'_>) -> Result<String, Failure> {
    let mut head = format!("{} {} HTTP/1.1\r\n", request.method, request.path);
    let mut headers = vec![
        ("host", "localhost"),
        ("connection", "close"),
        ("user-agent", concat!("agent-memory/", env!("CARGO_PKG_VERSION"))),
    ];
    headers.extend(&request.headers);
    headers.extend(request.authorization.as_deref().map(|value| ("authorization", value)));
    let length = request.body.map(|body| body.len().to_string());
    if let Some(length) = &length {
        headers.push(("content-type", "application/json"));
        headers.push(("content-length", length));
    }
    // A line end inside a value would start another header, white space in a path another word.
    let unwritable = |(_, value): &(&str, &str)| value.contains(|c: char| c.is_ascii_control() && c != '\t');
    if headers.iter().any(unwritable) || request.path.contains(|c: char| !c.is_ascii_graphic()) {
        return Err(Failure::Unreachable("the request can't be written".to_owned()));
    }
    for (name, value) in headers {
        for piece in [name, ": ", value, "\r\n"] {
            head.push_str(piece);
        }
    }
    head.push_str("\r\n");
    Ok(head)
}

fn reply(stream: &mut Bounded) -> Result<Reply, Failure> {
    let unusable = |detail: &str| Failure::Unusable(detail.to_owned());
    let mut received = Vec::new();
    let end = loop {
        if let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if received.len() > LARGEST_HEAD {
            return Err(unusable("its head is too large"));
        }
        read_some(stream, &mut received)?;
    };
    let body = received.split_off(end + 4);
    let head = String::from_utf8_lossy(&received);
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.strip_prefix("HTTP/1."))
        .and_then(|rest| rest.split(' ').nth(1)?.parse().ok())
        .ok_or_else(|| unusable("it is no HTTP"))?;
    let (mut version, mut length) = (None, None);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim_ascii();
        if name.eq_ignore_ascii_case(IDENTITY_HEADER) {
            version = Some(value.to_owned());
        } else if name.eq_ignore_ascii_case("content-length") {
            length = Some(value.parse::<u64>().map_err(|_| unusable("its length is no number"))?);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(unusable("it comes in an encoding that our servers don't use"));
        }
    }
    if length.is_some_and(|length| length > LARGEST) {
        return Err(unusable("it is too large"));
    }
    let body = rest(stream, body, length)?;
    Ok(Reply { status, version, body })
}

/// Reads a body of a stated length, or to the end.
fn rest(stream: &mut Bounded, mut body: Vec<u8>, length: Option<u64>) -> Result<Vec<u8>, Failure> {
    if let Some(length) = length {
        let missing = length.saturating_sub(body.len() as u64);
        if Read::by_ref(stream).take(missing).read_to_end(&mut body)? < missing as usize {
            return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
        }
        body.truncate(length as usize);
    } else {
        Read::by_ref(stream).take(LARGEST + 1).read_to_end(&mut body)?;
        if body.len() as u64 > LARGEST {
            return Err(Failure::Unusable("it is too large".to_owned()));
        }
    }
    Ok(body)
}

fn read_some(stream: &mut Bounded, received: &mut Vec<u8>) -> Result<(), Failure> {
    let mut buffer = [0; 8192];
    let count = stream.read(&mut buffer)?;
    if count == 0 {
        return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
    }
    received.extend(buffer.iter().take(count));
    Ok(())
}

/// A stream that gives up at a deadline.
struct Bounded {
    stream: UnixStream,
    deadline: Instant,
}

impl Bounded {
    fn remaining(&self) -> io::Result<std::time::Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.remaining()?))?;
        self.stream.read(buffer)
    }
}

impl Write for Bounded {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.remaining()?))?;
        self.stream.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
