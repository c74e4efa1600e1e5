//! The blocking client: one observation, one POST, one short wait.
//!
//! The socket in the data directory comes first, then the default TCP address, unless the user named an URL.
//! The default port may belong to another product, so a peer there (and on a socket that others could have
//! made) is asked who it is first: neither text nor secret goes to one without our identity header.

use std::{
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    time::{Duration, Instant},
};

use crate::{
    delivery::Delivery,
    places,
    reply::{self, Channel, NoReply, Reply, Wanted},
    url::BaseUrl,
};

/// Longest wait for a server on this machine.
pub const LOCAL_WAIT: Duration = Duration::from_millis(400);

/// Longest wait for a server the user named that is not on this machine: with it and the spool a run still ends
/// within the contract's 2 s.
pub const REMOTE_WAIT: Duration = Duration::from_millis(1600);

const REMEMBER: &str = "memory/remember";
const LIVEZ: &str = "memory/livez";

/// Whom to send to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// The server of this machine: its socket, else the default address.
    Default {
        /// The socket's path, where the data directory is known.
        socket: Option<PathBuf>,
        /// The TCP address tried when no one listens on the socket.
        address: SocketAddr,
    },
    /// The URL the user named.
    Explicit {
        /// The URL as written.
        text: String,
        /// The URL taken apart.
        url: BaseUrl,
    },
    /// The user named something that is no URL: nothing is sent.
    Nowhere,
}

impl Destination {
    /// Takes the URL a user named: [`Destination::Explicit`], or [`Destination::Nowhere`] when it is none.
    pub fn named(text: &str) -> Self {
        BaseUrl::parse(text).map_or(Self::Nowhere, |url| Self::Explicit { text: text.to_owned(), url })
    }

    /// Gives the longest time to wait for a reply.
    pub fn wait(&self) -> Duration {
        match self {
            Self::Explicit { url, .. } if !url.is_loopback() => REMOTE_WAIT,
            _ => LOCAL_WAIT,
        }
    }
}

/// What became of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// The peer has it (2xx).
    Delivered,
    /// The peer will never take it (4xx but for 401, 408 and 429): sending it again is useless.
    Refused,
    /// Whoever replied is not an agent-memory server.
    Foreign,
    /// No reply, or one that may change: to be sent later.
    Failed,
}

/// Sends a delivery once. Never blocks past `deadline` except in a name lookup or a connect to a socket,
/// which the standard library can't bound: run it on a thread that may be left behind.
pub fn deliver(
    destination: &Destination,
    delivery: &Delivery,
    secret: Option<&str>,
    deadline: Instant,
) -> Attempt {
    let body = delivery.body();
    let post = Post { route: REMEMBER, body: &body, key: Some(&delivery.key), secret, wanted: Wanted::Head };
    match ask(destination, &post, deadline) {
        Ok(reply) => match reply.status {
            200..=299 => Attempt::Delivered,
            401 | 408 | 429 => Attempt::Failed,
            400..=499 => Attempt::Refused,
            _ => Attempt::Failed,
        },
        Err(Unanswered::Foreign) => Attempt::Foreign,
        Err(Unanswered::Failed) => Attempt::Failed,
    }
}

/// A request to one of our routes.
pub(crate) struct Post<'a> {
    pub(crate) route: &'a str,
    pub(crate) body: &'a str,
    pub(crate) key: Option<&'a str>,
    pub(crate) secret: Option<&'a str>,
    pub(crate) wanted: Wanted,
}

/// Why a request has no reply that counts.
#[derive(Debug)]
pub(crate) enum Unanswered {
    Foreign,
    Failed,
}

impl From<std::io::Error> for Unanswered {
    fn from(_: std::io::Error) -> Self {
        Self::Failed
    }
}

impl From<NoReply> for Unanswered {
    fn from(_: NoReply) -> Self {
        Self::Failed
    }
}

/// Sends one request to a destination and gives the reply, if it is one of ours or from the user's own URL.
pub(crate) fn ask(
    destination: &Destination,
    post: &Post<'_>,
    deadline: Instant,
) -> Result<Reply, Unanswered> {
    match destination {
        Destination::Nowhere => Err(Unanswered::Failed),
        Destination::Explicit { url, .. } => ask_explicit(url, post, deadline),
        Destination::Default { socket, address } => {
            #[cfg(unix)]
            if let Some(path) = socket
                && let Ok(mut stream) = std::os::unix::net::UnixStream::connect(path)
            {
                return if crate::private::is_our_own(path) {
                    Ok(post.send(&mut stream, "localhost", deadline)?)
                } else {
                    ask_stranger(&mut stream, "localhost", post, deadline)
                };
            }
            #[cfg(not(unix))]
            let _ = socket;
            let mut stream = TcpStream::connect_timeout(address, reply::remaining(deadline)?)?;
            ask_stranger(&mut stream, &address.to_string(), post, deadline)
        }
    }
}

/// Sends the request as it is: the user's URL is the user's word.
fn ask_explicit(url: &BaseUrl, post: &Post<'_>, deadline: Instant) -> Result<Reply, Unanswered> {
    if url.secure {
        return Err(Unanswered::Failed);
    }
    let addresses = url.addresses()?;
    let connected = addresses
        .iter()
        .find_map(|address| TcpStream::connect_timeout(address, reply::remaining(deadline).ok()?).ok());
    let mut stream = connected.ok_or(Unanswered::Failed)?;
    let request = post.request(&url.path(post.route), &url.authority())?;
    Ok(reply::exchange(&mut stream, request.as_bytes(), post.wanted, deadline)?)
}

/// Sends the request to a peer that has shown who it is: before, on the same connection.
fn ask_stranger(
    channel: &mut dyn Channel,
    host: &str,
    post: &Post<'_>,
    deadline: Instant,
) -> Result<Reply, Unanswered> {
    let identified = |replied: Result<Reply, NoReply>| match replied {
        Ok(reply) if reply.is_ours => Ok(reply),
        Ok(_) | Err(NoReply::NotHttp) => Err(Unanswered::Foreign),
        Err(NoReply::Silence) => Err(Unanswered::Failed),
    };
    let question = format!("GET /{LIVEZ} HTTP/1.1\r\nhost: {host}\r\n\r\n");
    identified(reply::exchange(channel, question.as_bytes(), Wanted::BodyOfOurs, deadline))?;
    identified(post.send(channel, host, deadline))
}

impl Post<'_> {
    fn send(&self, channel: &mut dyn Channel, host: &str, deadline: Instant) -> Result<Reply, NoReply> {
        let request = self.request(&format!("/{}", self.route), host)?;
        reply::exchange(channel, request.as_bytes(), self.wanted, deadline)
    }

    /// Writes the request. Fails for a secret that no header can carry.
    fn request(&self, path: &str, host: &str) -> std::io::Result<String> {
        let mut head = format!(
            "POST {path} HTTP/1.1\r\nhost: {host}\r\nuser-agent: am-hook/{}\r\naccept: application/json\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n",
            env!("CARGO_PKG_VERSION"),
            self.body.len()
        );
        let mut header = |name: &str, value: &str| {
            head.push_str(name);
            head.push_str(": ");
            head.push_str(value);
            head.push_str("\r\n");
        };
        if let Some(key) = self.key {
            header(places::IDEMPOTENCY_HEADER, key);
        }
        if let Some(secret) = self.secret {
            if secret.chars().any(|c| c.is_ascii_control() && c != '\t') {
                return Err(std::io::ErrorKind::InvalidInput.into());
            }
            header("authorization", &format!("Bearer {secret}"));
        }
        head.push_str("\r\n");
        head.push_str(self.body);
        Ok(head)
    }
}
