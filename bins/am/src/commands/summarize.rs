//! `am summarize`: a session in a few lines, and the lessons drawn from it, with the lines of the contract.

use am_model::{LIMIT_MAX, MemoryId, SessionId};
use clap::Args;
use serde_json::json;

use crate::cli;
use crate::context::{Context, caller};
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::{error_line, one_line, write_json, write_line};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Session to summarise
    #[arg(long, visible_alias = "session", value_name = "ID")]
    session_id: String,
    /// Most memories, newest first, 1 to 100
    #[arg(long, value_name = "N", default_value_t = LIMIT_MAX, value_parser = cli::limit)]
    limit: usize,
    /// Save nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let Arguments { session_id, limit, dry_run } = arguments;
    let session_id = SessionId::new(&session_id)?;
    let project = context.project();
    let memory = context.memory().await?;
    let summary = memory.service.summarize(&caller(), &project, &session_id, limit, dry_run).await?;
    let label = format!("project={} session={}", one_line(project.as_str()), one_line(session_id.as_str()));
    let memories = summary.memories;
    error_line(format_args!("summarize-plan {label} memories={memories} dry_run={dry_run}"));
    let output = context.output;
    if output.json {
        let saved: Vec<&str> = summary.saved.iter().map(MemoryId::as_str).collect();
        write_json(&json!({
            "summary": summary.text,
            "lessons": summary.lessons,
            "memories": memories,
            "saved": saved,
        }))?;
        return Ok(Exit::Success);
    }
    let (lessons, at) = (summary.lessons.len(), memory.service.now());
    if dry_run {
        write_line(format_args!("summarize-dry-run {label} memories={memories} lessons={lessons} at={at}"))?;
    } else {
        let saved = summary.saved.len();
        write_line(format_args!("summarize {label} saved={saved} lessons={lessons} at={at}"))?;
    }
    Ok(Exit::Success)
}
