//! `am restore`: a back-up comes back, after it was checked.

use std::path::{Path, PathBuf};

use am_runtime::config::Config;
use am_runtime::open;
use am_service::ServiceError;
use am_store::{Store as _, StoreError};
use am_store_sqlite::{FILE_NAME, RestoreOptions, SqliteStore};
use clap::Args;
use serde_json::json;
use tokio::task::spawn_blocking;

use crate::context::{Context, Memory};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{Output, counted, warn, write_json};
use crate::progress::Progress;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// File that `am backup` made
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace a memory that holds something, or is damaged
    #[arg(long)]
    replace: bool,
    /// Take a back-up that fails its verification, where there is no better one
    #[arg(long)]
    accept_faults: bool,
}

/// What stood in the way.
enum Obstacle {
    /// The memory that is there can't be used.
    Memory(ServiceError),
    /// The back-up did not come in.
    BackUp(StoreError),
}

impl Obstacle {
    /// Returns whether the memory that is there may be damaged; where the back-up is, it will show elsewhere.
    fn may_be_damage(&self) -> bool {
        matches!(
            self,
            Self::Memory(ServiceError::Store(StoreError::Damaged { .. } | StoreError::Foreign))
                | Self::BackUp(StoreError::Damaged { .. } | StoreError::Foreign)
        )
    }
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let Arguments { file, replace, accept_faults } = arguments;
    // Before anything is made: a mistyped name must not leave an empty memory behind.
    std::fs::File::open(&file).map_err(|error| Failure::file("open", &file, &error))?;
    context.is_there()?;
    let options = RestoreOptions { replace, accept_faults };
    let output = context.output;
    let (memory, damaged) = match in_place(context, &file, options).await {
        Ok(memory) => (memory, None),
        Err(obstacle) if replace && obstacle.may_be_damage() => {
            let (memory, damaged) = instead(context, &file, options).await?;
            (memory, Some(damaged))
        }
        Err(Obstacle::Memory(error)) => return Err(context.cannot_open(error)),
        Err(Obstacle::BackUp(error)) => {
            let occupied = matches!(error, StoreError::Invalid { .. }) && !replace;
            let failure = cannot_restore(&file, options, error);
            return Err(if occupied {
                failure.hint("`--replace` replaces it; `am backup FILE` keeps a copy of it first")
            } else {
                failure
            });
        }
    };
    let statistics = memory.store.statistics().await?;
    let memories = statistics.memories;
    if output.json {
        let mut shown = json!({ "restored": true, "memories": memories, "sessions": statistics.sessions });
        if let (Some(damaged), Some(shown)) = (&damaged, shown.as_object_mut()) {
            shown.insert("damaged".to_owned(), damaged.to_string_lossy().into());
        }
        write_json(&shown)?;
    } else {
        output.note(format_args!("restored {}", counted(memories, "memory", "memories")));
    }
    if let Some(damaged) = damaged {
        warn(format_args!("the damaged memory is in {} and still holds text", damaged.display()));
        output
            .hint("remove it, with the files of its name that end with -wal and -shm, once it is not needed");
    }
    Ok(Exit::Success)
}

/// Restores into the memory that is there, or a new one.
async fn in_place(
    context: &Context<'_>,
    file: &Path,
    options: RestoreOptions,
) -> std::result::Result<Memory, Obstacle> {
    let memory = context.open().await.map_err(Obstacle::Memory)?;
    // What opens may still be damaged further on.
    memory.store.statistics().await.map_err(|error| Obstacle::Memory(error.into()))?;
    context.take_in(&memory).await;
    restore(memory.store.clone(), file, options, context.output).await.map_err(Obstacle::BackUp)?;
    Ok(memory)
}

/// Restores beside a memory that is damaged, which is moved out of the way. Returns where it is now.
async fn instead(context: &Context<'_>, file: &Path, options: RestoreOptions) -> Result<(Memory, PathBuf)> {
    let directory = &context.config.data_dir.value;
    // First elsewhere: a damaged memory is worth more than a damaged back-up.
    let trial = tempfile::Builder::new()
        .prefix("restore-")
        .tempdir_in(directory)
        .map_err(|error| Failure::file("make a directory in", directory, &error))?;
    let mut config: Config = context.config.clone();
    config.data_dir.value = trial.path().to_owned();
    let tried = match spawn_blocking(move || open::open_store(&config, open::SMALL_PROJECTION_BYTES)).await? {
        Ok(store) => restore(store, file, options, context.output).await,
        Err(error) => Err(error),
    };
    tried.map_err(|error| cannot_restore(file, options, error))?;
    trial.close().map_err(|error| Failure::file("remove the trial in", directory, &error))?;

    let damaged = set_aside(directory)?;
    let failed = |failure: Failure| {
        failure.hint(format!("the damaged memory is in {}; nothing is in its place yet", damaged.display()))
    };
    let memory = context.open().await.map_err(|error| failed(context.cannot_open(error)))?;
    let restored = restore(memory.store.clone(), file, options, context.output).await;
    restored.map_err(|error| failed(cannot_restore(file, options, error)))?;
    Ok((memory, damaged))
}

async fn restore(
    store: SqliteStore,
    file: &Path,
    options: RestoreOptions,
    output: Output,
) -> std::result::Result<(), StoreError> {
    let source = file.to_owned();
    let restored = spawn_blocking(move || {
        let progress = Progress::new(output, "restoring", "pages");
        store.restore(&source, options, &mut |done, total| progress.set(done, total))
    });
    restored.await.unwrap_or_else(|_| {
        Err(StoreError::Unavailable { detail: "stopped before the work was done".to_owned() })
    })
}

fn cannot_restore(file: &Path, options: RestoreOptions, error: StoreError) -> Failure {
    let may_have_faults = matches!(error, StoreError::Damaged { .. }) && !options.accept_faults;
    let mut failure = Failure::from(error);
    failure.hints.clear();
    if may_have_faults {
        failure = failure.hint("`--accept-faults` takes a back-up with faults, where there is no better one");
    }
    failure.context(format_args!("can't restore {}", file.display()))
}

/// Moves the files of the memory to names that are free, and returns where the main one is.
fn set_aside(directory: &Path) -> Result<PathBuf> {
    // As the engine names them, so that it finds the log of what was moved. The main one last: a new memory must not
    // come to stand beside an old log.
    const ENDINGS: [&str; 3] = ["-wal", "-shm", ""];
    let named = |number: u64, ending: &str| {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        directory.join(format!("{FILE_NAME}.damaged{number}{ending}"))
    };
    let is_free =
        |number: u64| ENDINGS.iter().all(|ending| named(number, ending).symlink_metadata().is_err());
    let mut number = 1;
    while !is_free(number) {
        number += 1;
    }
    for ending in ENDINGS {
        let file = directory.join(format!("{FILE_NAME}{ending}"));
        match std::fs::rename(&file, named(number, ending)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            moved => moved.map_err(|error| Failure::file("move", &file, &error))?,
        }
    }
    Ok(named(number, ""))
}
