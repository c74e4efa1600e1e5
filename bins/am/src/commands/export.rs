//! `am export`: every record as a line of JSON.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use am_model::{StoreId, Verb, WriterId};
use am_service::Record;
use am_store::{Scope, Store as _};
use am_store_sqlite::SqliteStore;
use clap::Args;
use serde_json::json;
use tempfile::NamedTempFile;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::interchange;
use crate::output::{Output, counted, write_json};
use crate::progress::Progress;

/// Log rows read in one step.
const PAGE: usize = 500;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// File to make [default: standard output]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Replace the file where it exists
    #[arg(long, requires = "file")]
    replace: bool,
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let Arguments { file, replace } = arguments;
    let file = file.filter(|file| file.as_os_str() != "-");
    let memory = context.memory().await?;
    let output = context.output;
    let Some(file) = file else {
        let mut sink = io::BufWriter::new(io::stdout().lock());
        export(context, &memory, &mut sink).await?;
        sink.flush()?;
        return Ok(Exit::Success);
    };
    if !replace && file.symlink_metadata().is_ok() {
        let message = format!("{} exists already", file.display());
        return Err(Failure::new(Exit::CannotCreate, message).hint("`--replace` replaces it"));
    }
    // Whole or not at all, and readable for its owner only.
    let failed =
        |error: &io::Error| Failure { exit: Exit::CannotCreate, ..Failure::file("write", &file, error) };
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = NamedTempFile::new_in(directory).map_err(|error| failed(&error))?;
    let exported = {
        let mut sink = io::BufWriter::new(&mut temporary);
        let exported = export(context, &memory, &mut sink).await?;
        sink.flush().map_err(|error| failed(&error))?;
        exported
    };
    temporary.as_file().sync_all().map_err(|error| failed(&error))?;
    let persisted = if replace { temporary.persist(&file) } else { temporary.persist_noclobber(&file) };
    persisted.map_err(|error| failed(&error.error))?;
    say(output, &file, &exported)?;
    Ok(Exit::Success)
}

/// How many records were written.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    sessions: u64,
    memories: u64,
    observations: u64,
    log_entries: u64,
}

fn say(output: Output, file: &Path, written: &Written) -> Result<()> {
    if output.json {
        return write_json(&json!({
            "file": file.display().to_string(),
            "sessions": written.sessions,
            "memories": written.memories,
            "observations": written.observations,
            "logEntries": written.log_entries,
        }));
    }
    output.note(format_args!(
        "exported {}, {}, {} and {} to {}",
        counted(written.sessions, "session", "sessions"),
        counted(written.memories, "memory", "memories"),
        counted(written.observations, "event", "events"),
        counted(written.log_entries, "log row", "log rows"),
        file.display()
    ));
    Ok(())
}

/// Writes the log first, so that an import finds the ids of its rows free, then everything else.
async fn export(
    context: &Context<'_>,
    memory: &crate::context::Memory,
    sink: &mut dyn Write,
) -> Result<Written> {
    let scope = context.scope();
    let unwritable = |error: serde_json::Error| Failure::new(Exit::Failed, error.to_string());
    let identity = memory.store.identity().await?;
    writeln!(sink, "{}", interchange::header(&identity.embedder).map_err(unwritable)?)?;
    let mut written = Written::default();
    // Log rows name no project.
    if scope == Scope::AllProjects {
        written.log_entries = export_log(&memory.store, sink).await?;
    }
    let total = memory.store.statistics().await?.memories;
    let progress = Progress::new(context.output, "exporting", "memories");
    memory
        .service
        .export(&scope, |record| {
            match &record {
                // These were written before.
                Record::Log(_) => return Ok(()),
                Record::Session(_) => written.sessions += 1,
                Record::Memory(_) => written.memories += 1,
                Record::Observation(_) => written.observations += 1,
            }
            progress.set(written.memories, total);
            Ok::<(), Failure>(writeln!(sink, "{}", interchange::write(&record).map_err(unwritable)?)?)
        })
        .await?;
    Ok(written)
}

/// Writes the log, without the import rows at the end of each chain.
///
/// They say how this copy came to be, and nothing follows them yet. Left out, a copy of a copy is equal to the first.
async fn export_log(store: &SqliteStore, sink: &mut dyn Write) -> Result<u64> {
    let mut ends: HashMap<WriterId, i64> = HashMap::new();
    let mut after = Some(StoreId(0));
    while let Some(start) = after {
        let page = store.log_page(start, PAGE).await?;
        after = page.last().filter(|_| page.len() == PAGE).map(|last| last.id);
        for stored in page.into_iter().filter(|stored| stored.entry.verb != Verb::Import) {
            let end = ends.entry(stored.entry.writer).or_default();
            *end = (*end).max(stored.entry.sequence);
        }
    }
    let mut written = 0;
    after = Some(StoreId(0));
    while let Some(start) = after {
        let page = store.log_page(start, PAGE).await?;
        after = page.last().filter(|_| page.len() == PAGE).map(|last| last.id);
        for stored in page {
            if ends.get(&stored.entry.writer).is_none_or(|end| stored.entry.sequence > *end) {
                continue;
            }
            let line = interchange::write(&Record::Log(Box::new(stored)))
                .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
            writeln!(sink, "{line}")?;
            written += 1;
        }
    }
    Ok(written)
}
