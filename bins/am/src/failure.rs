//! Why a command failed: a message, hints on what to do, and the exit code.

use std::io;
use std::path::Path;

use am_hook::spool::SpoolError;
use am_model::InvalidValue;
use am_runtime::client::ClientError;
use am_runtime::config::ConfigError;
use am_service::ServiceError;
use am_store::StoreError;

use crate::exit::Exit;

/// What helps where the memory itself is damaged.
const BRING_BACK: &str = "`am restore FILE --replace` brings a back-up back and keeps the damaged file aside";

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// What failed, on one line without a full stop; `None` where everything is said already.
    pub(crate) message: Option<String>,
    pub(crate) hints: Vec<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: Some(message.into()), hints: vec![] }
    }

    /// Makes the failure of a command that has shown itself what is wrong.
    pub(crate) fn shown(exit: Exit) -> Self {
        Self { exit, message: None, hints: vec![] }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says of which attempt the failure is.
    pub(crate) fn context(mut self, attempt: impl std::fmt::Display) -> Self {
        self.message = self.message.map(|message| format!("{attempt}: {message}"));
        self
    }

    /// Makes the failure to read or write a file of the user's.
    pub(crate) fn file(attempt: &str, path: &Path, error: &io::Error) -> Self {
        let exit = match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Exit::NoPermission,
            io::ErrorKind::StorageFull | io::ErrorKind::AlreadyExists => Exit::CannotCreate,
            _ => Exit::Failed,
        };
        Self::new(exit, format!("can't {attempt} {}: {error}", path.display()))
    }
}

/// Failures of standard output. A reader that has seen enough is no failure.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::shown(Exit::Success),
            io::ErrorKind::StorageFull => Self::new(Exit::CannotCreate, error.to_string()),
            _ => Self::new(Exit::Failed, format!("can't write the output: {error}")),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        let failure = |exit| Self::new(exit, message.clone());
        match &error {
            StoreError::Unavailable { detail } => {
                let denied = detail.to_ascii_lowercase().replace(' ', "").contains("permissiondenied");
                let exit = if denied { Exit::NoPermission } else { Exit::Unavailable };
                failure(exit).hint("`am doctor` looks at the data directory and says more")
            }
            StoreError::Busy { .. } => failure(Exit::Temporary).hint("another program is writing; try again"),
            StoreError::Full | StoreError::NoWrites => failure(Exit::CannotCreate)
                .hint("make room on the disk of the data directory; what is stored is safe"),
            StoreError::ReadOnly => failure(Exit::NoPermission).hint(
                "SQLite's write-ahead log needs write access to the data directory and what is in it, even to read",
            ),
            StoreError::NewerSchema { .. } => {
                failure(Exit::Failed).hint("it was left untouched; upgrade agent-memory to use it")
            }
            StoreError::Foreign => {
                failure(Exit::Failed).hint("choose another directory with `--data-dir`").hint(format!(
                    "or, if it was a memory of yours and its beginning is damaged: {BRING_BACK}"
                ))
            }
            StoreError::Damaged { .. } => failure(Exit::Failed).hint(BRING_BACK),
            StoreError::EmbedderMismatch { .. } => failure(Exit::Configuration),
            StoreError::Outdated { .. } => failure(Exit::Temporary).hint(
                "another version of agent-memory uses this store; upgrade the older one, then try again",
            ),
            StoreError::Invalid { .. } => failure(Exit::Failed),
        }
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Store(error) => error.into(),
            ServiceError::Invalid(error) => error.into(),
            ServiceError::EventKey => Self::usage(error.to_string()),
            ServiceError::Contended { .. } => Self::new(Exit::Temporary, error.to_string()),
            error => Self::new(Exit::Failed, error.to_string()),
        }
    }
}

impl From<InvalidValue> for Failure {
    fn from(error: InvalidValue) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let exit = if error.is_of_a_flag() { Exit::Usage } else { Exit::Configuration };
        Self { hints: error.hint().into_iter().collect(), ..Self::new(exit, error.to_string()) }
    }
}

impl From<SpoolError> for Failure {
    fn from(error: SpoolError) -> Self {
        Self::new(Exit::Failed, error.to_string())
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let exit = match &error {
            ClientError::Foreign { .. } | ClientError::Unusable { .. } => Exit::Failed,
            ClientError::Unreachable { .. } | ClientError::TimedOut { .. } => Exit::Unavailable,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<tokio::task::JoinError> for Failure {
    fn from(_: tokio::task::JoinError) -> Self {
        Self::new(Exit::Failed, "stopped before the work was done")
    }
}
