//! What a command works with: the configuration, the output, and the memory once it is opened.

use std::ffi::OsString;
use std::fs::File;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use am_hook::spool::Spool;
use am_model::{Actor, Channel, Project};
use am_runtime::config::{Config, Origin};
use am_runtime::maintenance::{self, Maintained};
use am_runtime::open;
use am_runtime::spool::Drainer;
use am_service::{Caller, Service, ServiceError};
use am_store::{Scope, StoreError};
use am_store_sqlite::{FILE_NAME, Maintenance};
use tokio::task::spawn_blocking;

use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{Output, counted, warn};

/// Longest wait for the spool before a command that reads.
const DRAIN_WAIT: Duration = Duration::from_secs(2);
/// Longest wait for the spool before something is forgotten: what waits must not bring it back.
const DRAIN_WAIT_TO_FORGET: Duration = Duration::from_secs(30);

/// The values of the environment by name.
pub(crate) type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// What a command works with.
pub(crate) struct Context<'a> {
    pub(crate) config: Config,
    pub(crate) output: Output,
    pub(crate) environment: Environment<'a>,
    /// Whether the user wants to be told more.
    pub(crate) verbose: bool,
}

/// The memory, open.
pub(crate) type Memory = open::Opened;

impl Context<'_> {
    /// Returns the project of the command.
    pub(crate) fn project(&self) -> Project {
        self.config.project.value.clone().unwrap_or_else(Project::unnamed)
    }

    /// Returns the project where the user named it for this very command, else all of them.
    ///
    /// A variable that is set for good must not narrow a copy by surprise.
    pub(crate) fn scope(&self) -> Scope {
        match (&self.config.project.value, self.config.project.origin) {
            (Some(project), Origin::Flag) => Scope::Project(project.clone()),
            _ => Scope::AllProjects,
        }
    }

    /// Opens the memory, which must be there, with what hooks have left for it.
    pub(crate) async fn memory(&self) -> Result<Memory> {
        let memory = self.existing().await?;
        self.take_in(&memory).await;
        Ok(memory)
    }

    /// Opens the memory, made where it is missing, with what hooks have left for it.
    pub(crate) async fn memory_or_new(&self) -> Result<Memory> {
        self.is_there()?;
        let memory = self.open().await.map_err(|error| self.cannot_open(error))?;
        self.take_in(&memory).await;
        Ok(memory)
    }

    /// Takes in what hooks have left for the memory.
    pub(crate) async fn take_in(&self, memory: &Memory) {
        self.drain(&memory.service, DRAIN_WAIT).await;
    }

    /// Opens the memory to forget something: nothing that waits may bring it back.
    pub(crate) async fn memory_to_forget(&self) -> Result<Memory> {
        let memory = self.existing().await?;
        // The verbs take in what waits by themselves; here it is done before, to say what is left.
        self.drain(&memory.service, DRAIN_WAIT_TO_FORGET).await;
        let waiting = self.waiting();
        if waiting > 0 {
            let events = counted(waiting, "captured event waits", "captured events wait");
            warn(format_args!("{events} in the spool and may bring text back later"));
        }
        Ok(memory)
    }

    /// Opens the memory as it is.
    pub(crate) async fn existing(&self) -> Result<Memory> {
        if !self.is_there()? && self.waiting() == 0 {
            let message = format!("there is no memory in {}", self.config.data_dir.value.display());
            return Err(Failure::new(Exit::Failed, message)
                .hint("`am demo` makes one and shows what it does, `am bootstrap` makes an empty one"));
        }
        self.open().await.map_err(|error| {
            let read_only = matches!(error, ServiceError::Store(StoreError::ReadOnly));
            let mut failure = self.cannot_open(error);
            if read_only {
                // Whoever only reads did not want to write anything.
                failure.message = Some("the store is read-only".to_owned());
                failure = failure.context(self.opening());
            }
            failure
        })
    }

    /// Returns whether there is a memory. Called before it is opened only: closing the file drops locks of this process.
    pub(crate) fn is_there(&self) -> Result<bool> {
        let directory = &self.config.data_dir.value;
        match File::open(directory.join(FILE_NAME)).and_then(|file| file.metadata()) {
            Ok(metadata) => Ok(metadata.len() > 0),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
            Err(error) => Err(Failure::file("look into", directory, &error)),
        }
    }

    /// Says of a failure that it was in the way of opening the memory.
    pub(crate) fn cannot_open(&self, error: ServiceError) -> Failure {
        Failure::from(error).context(self.opening())
    }

    fn opening(&self) -> String {
        format!("can't open the memory in {}", self.config.data_dir.value.display())
    }

    /// Opens the memory, made where it is missing, as it is.
    pub(crate) async fn open(&self) -> std::result::Result<Memory, ServiceError> {
        let opened = open::open(&self.config, open::SMALL_PROJECTION_BYTES).await?;
        if let Some(Maintained::Rebuilt { memories }) = maintenance::upgrade(&self.config, &opened).await? {
            let memories = counted(memories, "memory", "memories");
            self.output.note(format_args!("derived the index of {memories} anew for this version"));
        }
        Ok(opened)
    }

    /// Takes in what hooks have left. What fails waits on: the command goes on without it.
    async fn drain(&self, service: &Service, wait: Duration) {
        let drainer = Arc::new(Drainer::new(&self.config));
        match tokio::time::timeout(wait, drainer.drain(service)).await {
            Ok(Ok(drained)) if self.verbose && drained.delivered > 0 => {
                self.output.note(format_args!(
                    "took in {}",
                    counted(drained.delivered, "captured event", "captured events")
                ));
            }
            Ok(Ok(_)) => {}
            Ok(Err(error)) => warn(error),
            Err(_) => warn("captured events are still waiting in the spool"),
        }
    }

    /// Counts the captured events that wait for this memory.
    fn waiting(&self) -> u64 {
        let spools = self.config.spool_directories();
        let pending = spools.iter().filter_map(|directory| Spool::of(directory).pending().ok());
        pending.map(|pending| pending.deliveries).sum()
    }

    /// Completes the erasure of what was just forgotten, and returns whether it is still pending.
    pub(crate) async fn erase(&self, memory: &Memory) -> bool {
        let store = memory.store.clone();
        let maintained = spawn_blocking(move || store.maintain()).await;
        let pending = !matches!(maintained, Ok(Ok(Maintenance { erasure_pending: false, .. })));
        if pending {
            warn("bytes of what was forgotten may still be on disk");
            self.output.hint("`am verify` completes the erasure, when no other program reads the memory");
        }
        pending
    }
}

/// Returns who the log says changed something.
pub(crate) fn caller() -> Caller {
    Caller { channel: Channel::Cli, actor: Actor(Channel::Cli.as_str().to_owned()) }
}
