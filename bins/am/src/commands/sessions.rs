//! `am sessions`: the sessions of a project, or the memories of one.

use am_model::{LIMIT_DEFAULT, SessionId, text};
use am_wire::reply::{SessionMemories, Sessions};
use clap::Args;

use crate::cli;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::{one_line, write_json, write_line};

/// Longest excerpt of a memory, in UTF-16 code units.
const EXCERPT_MAX: usize = 160;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Session whose memories are listed [default: list the sessions]
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    /// Most rows, newest first, 1 to 100
    #[arg(long, value_name = "N", default_value_t = LIMIT_DEFAULT, value_parser = cli::limit)]
    limit: usize,
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let output = context.output;
    let project = context.project();
    let Some(session) = &arguments.session else {
        let sessions = context.memory().await?.service.sessions(&project, arguments.limit).await?;
        if output.json {
            write_json(&Sessions::from(sessions.as_slice()))?;
            return Ok(Exit::Success);
        }
        for session in &sessions {
            let id = one_line(session.session_id.as_str());
            let times = format!("{}  {}", session.started_at, session.updated_at);
            write_line(format_args!("{}  {id}", output.faint(&times)))?;
        }
        if sessions.is_empty() {
            output.note(format_args!("no session in project {:?}", one_line(project.as_str())));
        }
        return Ok(Exit::Success);
    };
    let session_id = SessionId::new(session)?;
    let service = context.memory().await?.service;
    let memories = service.session_memories(&project, &session_id, arguments.limit).await?;
    if output.json {
        write_json(&SessionMemories::from(memories.as_slice()))?;
        return Ok(Exit::Success);
    }
    for memory in &memories {
        let about = format!("{}  {}", memory.created_at, one_line(memory.memory_id.as_str()));
        let content = text::cut_with_ellipsis(&one_line(&memory.content), EXCERPT_MAX);
        let origin = one_line(memory.origin.as_str());
        write_line(format_args!("{}  ({origin}) {content}", output.faint(&about)))?;
    }
    if memories.is_empty() {
        output.note(format_args!("no memory in this session of project {:?}", one_line(project.as_str())));
    }
    Ok(Exit::Success)
}
