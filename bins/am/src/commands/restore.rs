//! `am restore`: a back-up comes back, after it was checked.

use std::path::PathBuf;

use am_store::{Store as _, StoreError};
use am_store_sqlite::RestoreOptions;
use clap::Args;
use serde_json::json;
use tokio::task::spawn_blocking;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{counted, write_json};
use crate::progress::Progress;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// File that `am backup` made
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace a memory that holds something
    #[arg(long)]
    replace: bool,
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let Arguments { file, replace } = arguments;
    // Before anything is made: a mistyped name must not leave an empty memory behind.
    std::fs::File::open(&file).map_err(|error| Failure::file("open", &file, &error))?;
    let memory = context.memory_or_new().await?;
    let output = context.output;
    let (store, source) = (memory.store.clone(), file.clone());
    let restored = spawn_blocking(move || {
        let progress = Progress::new(output, "restoring", "pages");
        store.restore(&source, RestoreOptions { replace }, &mut |done, total| progress.set(done, total))
    })
    .await?;
    restored.map_err(|error| {
        let occupied = matches!(error, StoreError::Invalid { .. }) && !replace;
        let mut failure = Failure::from(error);
        failure.hints.clear();
        if occupied {
            failure = failure.hint("`--replace` replaces it; `am backup FILE` keeps a copy of it first");
        }
        failure.context(format_args!("can't restore {}", file.display()))
    })?;
    let statistics = memory.store.statistics().await?;
    let memories = statistics.memories;
    if output.json {
        write_json(&json!({ "restored": true, "memories": memories, "sessions": statistics.sessions }))?;
    } else {
        output.note(format_args!("restored {}", counted(memories, "memory", "memories")));
    }
    Ok(Exit::Success)
}
