//! `am import transcript`: what an agent and its user wrote becomes memories, with the lines of the contract.

use std::path::PathBuf;
use std::time::Duration;

use am_model::{CaptureLevel, Instant, ORIGIN_MAX, Origin, SessionId, text};
use am_service::{Event, Remember, Service, ServiceError};
use clap::Args;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::context::{Context, caller};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lines::{self, Lines, Next};
use crate::output::{error_line, one_line, write_json, write_line};
use crate::progress::Progress;
use crate::transcript::{self, Row};

/// Longest wait for one row.
const WAIT: Duration = Duration::from_secs(15);

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Transcript: one JSON object on each line
    #[arg(long, value_name = "FILE")]
    file: PathBuf,
    /// Session to save into [default: a new one]
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// Save nothing
    #[arg(long)]
    dry_run: bool,
    /// Save what the user wrote too
    #[arg(long)]
    include_prompts: bool,
}

/// A row, and the line that it is from.
struct Found {
    row: Row,
    line: u64,
    event: Event,
}

#[derive(Default)]
struct Transcript {
    lines: u64,
    parsed: u64,
    skipped_prompts: u64,
    found: Vec<Found>,
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let session_id = arguments.session_id.as_deref().map(SessionId::new).transpose()?;
    let session_id = session_id.unwrap_or_else(SessionId::random);
    let project = context.project();
    // The contract: a file that can't be read is a mistake in the arguments.
    let transcript = read(&arguments).map_err(|failure| Failure { exit: Exit::Usage, ..failure })?;
    let Transcript { lines, parsed, skipped_prompts, found } = transcript;
    let (name, session) = (one_line(project.as_str()), one_line(session_id.as_str()));
    error_line(format_args!(
        "import-plan file={} project={name} session={session} lines={lines} rows={} dry_run={}",
        one_line(&arguments.file.to_string_lossy()),
        found.len(),
        arguments.dry_run
    ));
    let output = context.output;
    if arguments.dry_run {
        let rows = found.len();
        if output.json {
            write_json(&json!({ "parsed": parsed, "rows": rows, "skippedPrompts": skipped_prompts }))?;
        } else {
            let at = am_service::Clock::now(&am_service::SystemClock);
            write_line(format_args!(
                "import-dry-run project={name} session={session} parsed={parsed} rows={rows} \
                 skipped_prompts={skipped_prompts} at={at}"
            ))?;
        }
        return Ok(Exit::Success);
    }
    let memory = context.memory_or_new().await?;
    let (mut saved, mut deduped, mut refused) = (0_u64, 0_u64, 0_u64);
    let total = found.len() as u64;
    let progress = Progress::new(output, "importing", "rows");
    for (done, Found { row, line, event }) in (1..).zip(found) {
        let request = Remember {
            content: row.content,
            concepts: vec![],
            project: project.clone(),
            session_id: Some(session_id.clone()),
            origin: Origin::new(text::cut(&row.origin, ORIGIN_MAX))?,
            importance: None,
            event: Some(event),
        };
        match remember(&memory.service, request).await {
            Ok(true) => deduped += 1,
            Ok(false) => saved += 1,
            // One text that is too large costs itself, not the others.
            Err(failure) if failure.exit == Exit::Usage => {
                refused += 1;
                error_line(format_args!("line {line}: {}", failure.message.unwrap_or_default()));
            }
            Err(failure) => return Err(failure.context(format_args!("line {line}"))),
        }
        progress.set(done, total);
    }
    drop(progress);
    if output.json {
        write_json(&json!({
            "saved": saved,
            "deduped": deduped,
            "refused": refused,
            "skippedPrompts": skipped_prompts,
            "project": project.as_str(),
            "sessionId": session_id.as_str(),
        }))?;
    } else {
        let at = memory.service.now();
        write_line(format_args!(
            "import project={name} session={session} saved={saved} deduped={deduped} \
             skipped_prompts={skipped_prompts} at={at}"
        ))?;
    }
    if refused > 0 { Err(Failure::shown(Exit::Failed)) } else { Ok(Exit::Success) }
}

/// Saves a row, and returns whether it was there already.
async fn remember(service: &Service, request: Remember) -> Result<bool> {
    let caller = caller();
    match tokio::time::timeout(WAIT, service.remember(&caller, request)).await {
        Ok(remembered) => Ok(remembered.map_err(|error: ServiceError| Failure::from(error))?.deduped),
        Err(_) => Err(Failure::new(Exit::Temporary, format!("not saved within {} s", WAIT.as_secs()))),
    }
}

fn read(arguments: &Arguments) -> Result<Transcript> {
    let (reader, _) = lines::open(&arguments.file)?;
    let mut lines = Lines::new(reader);
    let mut transcript = Transcript::default();
    loop {
        let next = lines.next().map_err(|error| Failure::file("read", &arguments.file, &error))?;
        match next {
            Next::End => return Ok(transcript),
            Next::TooLarge => transcript.lines += 1,
            Next::Line if lines.line.trim_ascii().is_empty() => {}
            Next::Line => {
                transcript.lines += 1;
                let Ok(value) = serde_json::from_slice::<Value>(&lines.line) else { continue };
                transcript.parsed += 1;
                let found = transcript::rows(&value, arguments.include_prompts);
                transcript.skipped_prompts += u64::from(found.skipped_prompt);
                let key = key(&lines.line);
                let at = value.get("timestamp").and_then(Value::as_str).and_then(Instant::parse);
                for (ordinal, row) in found.rows.into_iter().enumerate() {
                    let level =
                        if row.origin == "import:tool" { CaptureLevel::Minimal } else { CaptureLevel::Full };
                    let event = Event { key: format!("import:{key}:{ordinal}"), at, level };
                    transcript.found.push(Found { row, line: lines.number, event });
                }
            }
        }
    }
}

/// Returns the key of a line: the same line, read again, is the same event.
fn key(line: &[u8]) -> String {
    let digest: [u8; 32] = Sha256::digest(line).into();
    am_model::Digest(digest).to_string()
}
