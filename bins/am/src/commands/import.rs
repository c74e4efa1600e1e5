//! `am import`: an export comes in. A broken line costs itself, not the others.

use std::path::PathBuf;

use am_service::{Imported, Record, ServiceError};
use am_store::StoreError;
use clap::{Args, Subcommand};
use serde_json::json;

use super::import_transcript;
use crate::context::{Context, Memory, caller};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::interchange::{self, Line, Unreadable};
use crate::lines::{self, LINE_MAX, Lines, Next};
use crate::output::{Output, bytes, counted, error_line, write_json};
use crate::progress::Progress;

/// Most records, and about how many bytes of them, go into one commit.
const BATCH: usize = 200;
const BATCH_BYTES: usize = 4 << 20;
/// Broken lines that are named; further ones are only counted.
const NAMED: usize = 20;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_precedence_over_arg = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) source: Option<Source>,
    /// File that `am export` made, `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Source {
    /// Save what an agent and its user wrote, from the transcript of a session (JSON lines)
    Transcript(import_transcript::Arguments),
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let file = match (arguments.source, arguments.file) {
        (Some(Source::Transcript(arguments)), _) => return import_transcript::run(context, arguments).await,
        (None, Some(file)) => file,
        (None, None) => return Err(Failure::usage("no file is named")),
    };
    let (reader, size) = lines::open(&file)?;
    let mut lines = Lines::new(reader);
    let memory = context.memory_or_new().await?;
    let mut import = Import::new(context.output, &memory);
    let progress = Progress::new(context.output, "importing", "bytes");
    loop {
        let next =
            lines.next().map_err(|error| Failure::new(Exit::Failed, format!("can't read on: {error}")))?;
        match next {
            Next::End => break,
            Next::TooLarge => {
                import.broken(lines.number, format!("larger than {}", bytes(LINE_MAX as u64)));
            }
            Next::Line => import.take(lines.number, &lines.line).await?,
        }
        progress.set(lines.bytes, size);
    }
    import.flush().await?;
    drop(progress);
    import.finish()
}

fn show_broken(number: u64, detail: &str) {
    error_line(format_args!("line {number}: {detail}"));
}

/// An import on its way.
struct Import<'a> {
    output: Output,
    memory: &'a Memory,
    /// Who made the vectors of the records that follow; nobody known, until a header says so.
    embedder: String,
    batch: Vec<(u64, Record)>,
    batch_bytes: usize,
    imported: Imported,
    broken: Vec<(u64, String)>,
    more_broken: u64,
    /// Whether a line was of an export. Until then broken lines are not shown: the file may be something else.
    is_export: bool,
}

impl<'a> Import<'a> {
    fn new(output: Output, memory: &'a Memory) -> Self {
        Self {
            output,
            memory,
            embedder: String::new(),
            batch: vec![],
            batch_bytes: 0,
            imported: Imported::default(),
            broken: vec![],
            more_broken: 0,
            is_export: false,
        }
    }

    async fn take(&mut self, number: u64, line: &[u8]) -> Result<()> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let read = interchange::read(line);
        if read.is_ok() && !self.is_export {
            self.is_export = true;
            for (number, detail) in &self.broken {
                show_broken(*number, detail);
            }
        }
        match read {
            Ok(Line::Header { embedder }) => {
                self.flush().await?;
                self.embedder = embedder;
            }
            Ok(Line::Record(record)) => {
                self.batch.push((number, record));
                self.batch_bytes += line.len();
                if self.batch.len() >= BATCH || self.batch_bytes >= BATCH_BYTES {
                    self.flush().await?;
                }
            }
            Err(Unreadable::Broken(detail)) => self.broken(number, detail),
            Err(Unreadable::Newer(version)) => {
                let message = format!("line {number}: this is an export of version {version}");
                return Err(Failure::new(Exit::Failed, message).hint("upgrade agent-memory to read it"));
            }
        }
        Ok(())
    }

    fn broken(&mut self, number: u64, detail: String) {
        if self.broken.len() < NAMED {
            if self.is_export {
                show_broken(number, &detail);
            }
            self.broken.push((number, detail));
        } else {
            self.more_broken += 1;
        }
    }

    /// Commits the batch; what can't be right in it is left out.
    async fn flush(&mut self) -> Result<()> {
        let mut batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        while !batch.is_empty() {
            let records = batch.iter().map(|(_, record)| record.clone()).collect();
            match self.commit(records).await {
                Ok(()) => return Ok(()),
                Err(ServiceError::Record { position, detail }) if (1..=batch.len()).contains(&position) => {
                    let (number, _) = batch.remove(position - 1);
                    self.broken(number, detail.to_owned());
                }
                // The store doesn't say which one it refuses.
                Err(ServiceError::Store(StoreError::Invalid { .. })) => return self.one_by_one(batch).await,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn one_by_one(&mut self, batch: Vec<(u64, Record)>) -> Result<()> {
        for (number, record) in batch {
            match self.commit(vec![record]).await {
                Ok(()) => {}
                Err(
                    error @ (ServiceError::Record { .. } | ServiceError::Store(StoreError::Invalid { .. })),
                ) => {
                    self.broken(number, error.to_string());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn commit(&mut self, records: Vec<Record>) -> std::result::Result<(), ServiceError> {
        let imported = self.memory.service.import(&caller(), records, &self.embedder).await?;
        self.imported.memories += imported.memories;
        self.imported.observations += imported.observations;
        self.imported.skipped += imported.skipped;
        Ok(())
    }

    fn finish(self) -> Result<Exit> {
        let Imported { memories, observations, skipped } = self.imported;
        let broken = self.broken.len() as u64 + self.more_broken;
        if self.output.json {
            let lines: Vec<_> =
                self.broken.iter().map(|(line, detail)| json!({ "line": line, "detail": detail })).collect();
            write_json(&json!({
                "memories": memories,
                "observations": observations,
                "skipped": skipped,
                "broken": broken,
                "brokenLines": lines,
            }))?;
        } else {
            self.output.note(format_args!(
                "imported {} and {}; {} there already",
                counted(memories, "memory", "memories"),
                counted(observations, "event", "events"),
                counted(skipped, "record was", "records were")
            ));
        }
        if broken == 0 {
            return Ok(Exit::Success);
        }
        if !self.is_export {
            return Err(Failure::new(Exit::Failed, "no line of this is a record that `am export` wrote")
                .hint("`am import transcript --file FILE` reads the transcript of an agent"));
        }
        error_line(format_args!(
            "error: {} left out",
            counted(broken, "broken line was", "broken lines were")
        ));
        Err(Failure::shown(Exit::Failed))
    }
}
