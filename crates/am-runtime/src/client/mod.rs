//! A small blocking HTTP client for our own server: its socket, or a URL.
//!
//! Follows no redirects and uses no proxy: a request goes where the user said, and so does the secret.

mod network;
#[cfg(unix)]
mod socket;
mod spelling;

use std::path::PathBuf;
use std::time::Duration;

use am_hook::places::{DEFAULT_ADDRESS, IDENTITY_HEADER};
use am_hook::url::BaseUrl;
use thiserror::Error;

use crate::config::{Config, Secret};

/// Largest reply that is read, in bytes.
const LARGEST: u64 = 64 << 20;

const LIVEZ: &str = "memory/livez";

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ClientError {
    /// Nobody answered.
    #[error("{target} can't be reached: {detail}")]
    Unreachable {
        /// Who was asked.
        target: String,
        /// What the system said.
        detail: String,
    },
    /// The answer took too long.
    #[error("{target} did not answer in {} ms", .waited.as_millis())]
    TimedOut {
        /// Who was asked.
        target: String,
        /// How long it was given.
        waited: Duration,
    },
    /// The answer is no HTTP, or too large.
    #[error("{target} gave no usable answer: {detail}")]
    Unusable {
        /// Who was asked.
        target: String,
        /// What is wrong with it.
        detail: String,
    },
    /// Whoever answers there is not an agent-memory server; the secret was not sent.
    #[error("{target} is not an agent-memory server")]
    Foreign {
        /// Who was asked.
        target: String,
    },
}

/// A server's answer, of any status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The version of agent-memory that answered; `None` from any other product.
    pub version: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    /// Reads the body as JSON; `None` where it is something else.
    pub fn json(&self) -> Option<serde_json::Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// An agent-memory server of this version.
    Ours {
        /// Its version.
        version: String,
    },
    /// Some other product.
    Foreign,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    #[cfg(unix)]
    Socket(PathBuf),
    Url(BaseUrl),
}

/// A client of one server. Every request is a connection of its own.
#[derive(Clone, Debug)]
pub struct Client {
    target: Target,
    secret: Option<Secret>,
    wait: Duration,
}

/// One request.
struct Request<'a> {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, &'a str)>,
    authorization: Option<String>,
    body: Option<&'a str>,
    wait: Duration,
}

impl Client {
    /// Makes a client of a URL that the user named. The secret goes there unasked.
    pub fn to_url(url: BaseUrl, secret: Option<Secret>, wait: Duration) -> Self {
        Self { target: Target::Url(url), secret, wait }
    }

    /// Makes a client of a server's socket.
    #[cfg(unix)]
    pub fn to_socket(path: PathBuf, secret: Option<Secret>, wait: Duration) -> Self {
        Self { target: Target::Socket(path), secret, wait }
    }

    /// Finds the server of a configuration: the URL that the user named as it stands, else whoever answers on the
    /// socket of the data directory, else on port 3111, if that is one of ours.
    ///
    /// # Errors
    /// Nobody answers on either, or somebody else.
    pub fn find(config: &Config, wait: Duration) -> Result<Self, ClientError> {
        let secret = config.secret.value.clone();
        if let Some(url) = &config.url.value {
            return Ok(Self::to_url(url.base.clone(), secret, wait));
        }
        #[cfg(unix)]
        {
            let client = Self::to_socket(config.socket(), secret.clone(), wait);
            if let Ok(Identity::Ours { .. }) = client.identify() {
                return Ok(client);
            }
        }
        let address = format!("http://{DEFAULT_ADDRESS}");
        let unusable = || ClientError::Unusable { target: address.clone(), detail: "no URL".to_owned() };
        let client = Self::to_url(BaseUrl::parse(&address).ok_or_else(unusable)?, secret, wait);
        match client.identify()? {
            Identity::Ours { .. } => Ok(client),
            Identity::Foreign => Err(ClientError::Foreign { target: client.to_string() }),
        }
    }

    /// Asks who answers, without showing the secret.
    ///
    /// # Errors
    /// Nobody answers.
    pub fn identify(&self) -> Result<Identity, ClientError> {
        let anonymous = Self { secret: None, ..self.clone() };
        match anonymous.get(LIVEZ) {
            Ok(Reply { version: Some(version), .. }) => Ok(Identity::Ours { version }),
            // What is not even HTTP is not ours either.
            Ok(_) | Err(ClientError::Unusable { .. }) => Ok(Identity::Foreign),
            Err(error) => Err(error),
        }
    }

    /// Asks for a route such as `memory/health?project=x`, percent-encoded where it needs to be.
    ///
    /// # Errors
    /// There is no answer; answers of any status are no errors.
    pub fn get(&self, route: &str) -> Result<Reply, ClientError> {
        self.send("GET", route, vec![], None)
    }

    /// Posts JSON to a route such as `memory/search`, with further headers.
    ///
    /// # Errors
    /// There is no answer; answers of any status are no errors.
    pub fn post(
        &self,
        route: &str,
        json: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Reply, ClientError> {
        self.send("POST", route, headers.to_vec(), Some(json))
    }

    fn send(
        &self,
        method: &'static str,
        route: &str,
        headers: Vec<(&'static str, &str)>,
        body: Option<&str>,
    ) -> Result<Reply, ClientError> {
        let path = match &self.target {
            #[cfg(unix)]
            Target::Socket(_) => format!("/{route}"),
            Target::Url(url) => url.path(route),
        };
        let authorization = self.secret.as_ref().map(|secret| format!("Bearer {}", secret.expose()));
        let request = Request { method, path, headers, authorization, body, wait: self.wait };
        match &self.target {
            #[cfg(unix)]
            Target::Socket(socket) => socket::exchange(socket, &request),
            Target::Url(url) => network::exchange(url, &request),
        }
        .map_err(|failure| failure.of(self))
    }
}

impl std::fmt::Display for Client {
    /// Writes the address, without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.target {
            #[cfg(unix)]
            Target::Socket(path) => write!(f, "{}", path.display()),
            Target::Url(url) => f.write_str(network::address(url).trim_end_matches('/')),
        }
    }
}

/// A failure that doesn't know yet whose it is.
enum Failure {
    Unreachable(String),
    TimedOut,
    Unusable(String),
}

impl Failure {
    fn of(self, client: &Client) -> ClientError {
        let target = client.to_string();
        match self {
            Self::Unreachable(detail) => ClientError::Unreachable { target, detail },
            Self::TimedOut => ClientError::TimedOut { target, waited: client.wait },
            Self::Unusable(detail) => ClientError::Unusable { target, detail },
        }
    }
}
