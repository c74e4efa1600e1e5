//! Why there is no server, and how to say it.

use std::io::{self, Write as _};

use am_runtime::config::ConfigError;
use am_service::ServiceError;
use am_store::StoreError;
use thiserror::Error;

/// Why a server did not start.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The configuration is unusable.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The host has no address.
    #[error("can't find an address of {host}: {source}")]
    Resolve {
        /// The host, as configured.
        host: String,
        /// What the system said.
        source: io::Error,
    },
    /// The address reaches beyond this machine, and nothing keeps others out.
    #[error("refusing to listen on {host}: other machines reach it, and no secret is set")]
    Open {
        /// The host, as configured.
        host: String,
    },
    /// Something else listens there.
    #[error("can't listen on {host}:{port}: {source}")]
    PortTaken {
        /// The host, as configured.
        host: String,
        /// The port.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
    /// The address can't be listened on.
    #[error("can't listen on {host}:{port}: {source}")]
    Bind {
        /// The host, as configured.
        host: String,
        /// The port.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
    /// The store can't be opened. It was left as it was.
    #[error("can't open the store: {0}")]
    Store(#[source] ServiceError),
    /// The system gave no threads or signals.
    #[error("can't start: {0}")]
    System(#[from] io::Error),
}

impl ServeError {
    /// Returns the exit code of a server that did not start: that of [`ConfigError::exit_code`] for unusable
    /// settings, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Config(error) => error.exit_code(),
            _ => 1,
        }
    }

    /// Returns what the user can do, one line each.
    fn hints(&self) -> Vec<String> {
        match self {
            Self::Config(error) => error.hint().map(|hint| format!("hint: {hint}")).into_iter().collect(),
            Self::PortTaken { port, .. } => vec![
                format!(
                    "port {port} is already in use \u{2014} if the upstream agentmemory (iii) holds 3111/3112/3113, \
                     NEVER kill it; start ours elsewhere: AGENT_MEMORY_PORT=3151 am-server"
                ),
                "then point clients at the port ours runs on: AGENT_MEMORY_URL=http://127.0.0.1:3151 (example)"
                    .to_owned(),
            ],
            Self::Open { .. } => vec![
                "hint: set AGENT_MEMORY_SECRET, or listen on 127.0.0.1".to_owned(),
            ],
            Self::Store(ServiceError::Store(StoreError::NewerSchema { .. })) => {
                vec!["hint: a newer version wrote it; update this program".to_owned()]
            }
            Self::Store(_) => {
                vec!["hint: `am doctor` says more; --data-dir or AGENT_MEMORY_DATA_DIR names another place".to_owned()]
            }
            _ => vec![],
        }
    }
}

/// Says on standard error why there is no server, and what can be done.
pub fn report(error: &ServeError) {
    let mut lines = vec![format!("server error: {error}")];
    lines.extend(error.hints());
    for line in lines {
        warn(&line);
    }
}

/// Writes a line for the user on standard error. If no one reads it, that can't be helped.
pub(crate) fn warn(line: &str) {
    drop(writeln!(io::stderr().lock(), "[agentmemory] {line}"));
}
