//! One HTTP/1.1 request and its reply over a connected stream, with a deadline and bounds.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use crate::places;

const LARGEST_HEAD: usize = 16 * 1024;
const LARGEST_BODY: usize = 4 * 1024 * 1024;

/// A connected stream whose waits can be bounded.
pub(crate) trait Channel: Read + Write {
    /// Bounds each following read and write.
    fn bound(&self, wait: Duration) -> io::Result<()>;
}

impl Channel for TcpStream {
    fn bound(&self, wait: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(wait))?;
        self.set_write_timeout(Some(wait))
    }
}

#[cfg(unix)]
impl Channel for std::os::unix::net::UnixStream {
    fn bound(&self, wait: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(wait))?;
        self.set_write_timeout(Some(wait))
    }
}

/// What a peer replied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    /// Status code, 200 to 999.
    pub(crate) status: u16,
    /// Whether the reply carries our identity header.
    pub(crate) is_ours: bool,
    /// The body, where it was asked for.
    pub(crate) body: Vec<u8>,
}

/// How much of a reply is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The head tells all.
    Head,
    /// The body too.
    Body,
    /// The body too, if the head says that the peer is ours.
    BodyOfOurs,
}

/// Why there is no reply.
#[derive(Debug)]
pub(crate) enum NoReply {
    /// The peer was too slow, closed early or was never there.
    Silence,
    /// The peer speaks something other than HTTP.
    NotHttp,
}

impl From<io::Error> for NoReply {
    fn from(_: io::Error) -> Self {
        Self::Silence
    }
}

/// Gives the time left until a deadline; an error when there is none.
pub(crate) fn remaining(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Sends a request and reads what is wanted of the reply.
pub(crate) fn exchange(
    channel: &mut dyn Channel,
    request: &[u8],
    wanted: Wanted,
    deadline: Instant,
) -> Result<Reply, NoReply> {
    channel.bound(remaining(deadline)?)?;
    channel.write_all(request)?;
    let mut received = Vec::new();
    loop {
        let head_end = loop {
            if let Some(end) = find(&received, b"\r\n\r\n") {
                break end;
            }
            let looks_like_http = b"HTTP/1.".iter().zip(&received).all(|(expected, byte)| expected == byte);
            if received.len() > LARGEST_HEAD || !looks_like_http {
                return Err(NoReply::NotHttp);
            }
            if read_some(channel, &mut received, deadline)? == 0 {
                return Err(NoReply::Silence);
            }
        };
        let head = Head::parse(received.get(..head_end).unwrap_or_default()).ok_or(NoReply::NotHttp)?;
        received.drain(..head_end + 4);
        // Interim replies (1xx) only announce the real one.
        if head.status >= 200 {
            let body = match wanted {
                Wanted::Body => read_body(channel, received, &head, deadline)?,
                Wanted::BodyOfOurs if head.is_ours => read_body(channel, received, &head, deadline)?,
                Wanted::Head | Wanted::BodyOfOurs => Vec::new(),
            };
            return Ok(Reply { status: head.status, is_ours: head.is_ours, body });
        }
    }
}

fn read_some(channel: &mut dyn Channel, received: &mut Vec<u8>, deadline: Instant) -> io::Result<usize> {
    let mut buffer = [0; 4096];
    loop {
        channel.bound(remaining(deadline)?)?;
        match channel.read(&mut buffer) {
            Ok(count) => {
                received.extend_from_slice(buffer.get(..count).unwrap_or_default());
                return Ok(count);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn read_body(
    channel: &mut dyn Channel,
    mut received: Vec<u8>,
    head: &Head,
    deadline: Instant,
) -> Result<Vec<u8>, NoReply> {
    loop {
        if head.is_chunked {
            if let Some(body) = unchunk(&received)? {
                return Ok(body);
            }
        } else if let Some(length) = head.length
            && received.len() >= length
        {
            received.truncate(length);
            return Ok(received);
        }
        if received.len() > LARGEST_BODY {
            return Err(NoReply::NotHttp);
        }
        if read_some(channel, &mut received, deadline)? == 0 {
            let is_whole = !head.is_chunked && head.length.is_none();
            return if is_whole { Ok(received) } else { Err(NoReply::Silence) };
        }
    }
}

/// Joins the chunks of a body; `None` while the last one has not come.
fn unchunk(mut rest: &[u8]) -> Result<Option<Vec<u8>>, NoReply> {
    let mut body = Vec::new();
    loop {
        let Some(line_end) = find(rest, b"\r\n") else { return Ok(None) };
        let (line, after) = rest.split_at(line_end);
        let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let size = std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| usize::from_str_radix(digits, 16).ok())
            .filter(|size| *size <= LARGEST_BODY)
            .ok_or(NoReply::NotHttp)?;
        if size == 0 {
            return Ok(Some(body));
        }
        let Some(chunk) = after.get(2..2 + size) else { return Ok(None) };
        body.extend_from_slice(chunk);
        let Some(next) = after.get(2 + size + 2..) else { return Ok(None) };
        rest = next;
    }
}

/// The parts of a reply's head that matter.
struct Head {
    status: u16,
    is_ours: bool,
    is_chunked: bool,
    length: Option<usize>,
}

impl Head {
    fn parse(head: &[u8]) -> Option<Self> {
        let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let status_line = lines.next()?.strip_prefix(b"HTTP/1.")?;
        let status = std::str::from_utf8(status_line.get(2..5)?).ok()?.parse().ok()?;
        let mut parsed = Self { status, is_ours: false, is_chunked: false, length: None };
        for line in lines {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let (name, value) = line.split_at(colon);
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            if name.eq_ignore_ascii_case(places::IDENTITY_HEADER.as_bytes()) {
                parsed.is_ours = true;
            } else if name.eq_ignore_ascii_case(b"content-length") {
                parsed.length = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
            } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
                parsed.is_chunked = value.to_ascii_lowercase().ends_with(b"chunked");
            }
        }
        (parsed.status >= 100).then_some(parsed)
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
