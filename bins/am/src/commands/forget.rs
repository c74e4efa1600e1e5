//! `am forget`: a memory, a session or a captured event, for good.

use am_model::{MemoryId, SessionId};
use am_service::Forgotten;
use clap::Args;
use serde_json::json;

use crate::context::{Context, caller};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{counted, write_json};

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Arguments {
    /// Memory to forget
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Session to forget: its memories, its parts of merged ones, its events
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Captured event to forget, by its key
    #[arg(long, value_name = "KEY")]
    observation: Option<String>,
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let caller = caller();
    let project = context.project();
    let Arguments { id, session, observation } = arguments;
    let id = id.as_deref().map(MemoryId::new).transpose()?;
    let session = session.as_deref().map(SessionId::new).transpose()?;
    let memory = context.memory_to_forget().await?;
    let service = &memory.service;
    let forgotten = match (id, session, observation) {
        (Some(id), _, _) => {
            let found = service.forget(&caller, &id).await?;
            Forgotten { memories: found.then_some(id).into_iter().collect(), ..Forgotten::default() }
        }
        (_, Some(session), _) => service.forget_session(&caller, &project, &session).await?,
        (_, _, Some(key)) => service.forget_observation(&caller, &project, &key).await?,
        (None, None, None) => return Err(Failure::usage("there is nothing to forget")),
    };
    // What an interrupted run has forgotten leaves the disk too.
    let erasure_pending = context.erase(&memory).await;
    if context.output.json {
        let names = |ids: &[MemoryId]| ids.iter().map(|id| id.as_str().to_owned()).collect::<Vec<_>>();
        write_json(&json!({
            "forgotten": !forgotten.is_empty(),
            "memories": names(&forgotten.memories),
            "derived": names(&forgotten.derived),
            "rewritten": names(&forgotten.rewritten),
            "observations": forgotten.observations,
            "erasurePending": erasure_pending,
        }))?;
    }
    if forgotten.is_empty() {
        let failure = if context.output.json {
            Failure::shown(Exit::Failed)
        } else {
            Failure::new(Exit::Failed, "nothing of that name is there")
        };
        return Err(failure);
    }
    context.output.note(format_args!("forgot {}", in_words(&forgotten)));
    Ok(Exit::Success)
}

fn in_words(forgotten: &Forgotten) -> String {
    let memories = |ids: &[MemoryId]| counted(ids.len() as u64, "memory", "memories");
    let mut parts = vec![memories(&forgotten.memories)];
    if !forgotten.derived.is_empty() {
        parts.push(format!("{} that quoted what went", memories(&forgotten.derived)));
    }
    if !forgotten.rewritten.is_empty() {
        parts.push(format!("parts of {}", memories(&forgotten.rewritten)));
    }
    if forgotten.observations > 0 {
        parts.push(format!("the text of {}", counted(forgotten.observations, "event", "events")));
    }
    parts.join(", ")
}
