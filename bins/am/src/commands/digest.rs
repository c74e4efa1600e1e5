//! `am recap` and `am handoff`: the newest memories as text.

use am_model::{LIMIT_DEFAULT, SessionId};
use am_service::Digest;
use am_wire::reply::{HandoffText, RecapText};
use clap::Args;

use super::search::show_signals;
use crate::cli;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::{harmless, write_json, write_line};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Session to show [default: the newest ones]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Most sessions, and most memories of each, 1 to 100
    #[arg(long, value_name = "N", default_value_t = LIMIT_DEFAULT, value_parser = cli::limit)]
    limit: usize,
}

impl Arguments {
    fn digest(&self, context: &Context<'_>) -> Result<Digest> {
        let session_id = self.session.as_deref().map(SessionId::new).transpose()?;
        Ok(Digest { project: context.project(), session_id, limit: self.limit })
    }
}

pub(crate) async fn recap(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let digest = arguments.digest(context)?;
    let recap = context.memory().await?.service.recap(digest).await;
    if context.output.json {
        write_json(&RecapText::from(&recap))?;
        return Ok(Exit::Success);
    }
    if recap.count > 0 {
        write_line(harmless(&recap.text))?;
    } else {
        context.output.note("nothing to show");
    }
    show_signals(&recap.signals);
    Ok(Exit::Success)
}

pub(crate) async fn handoff(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let digest = arguments.digest(context)?;
    let handoff = context.memory().await?.service.handoff(digest).await;
    if context.output.json {
        write_json(&HandoffText::from(&handoff))?;
        return Ok(Exit::Success);
    }
    write_line(harmless(&handoff.text))?;
    show_signals(&handoff.signals);
    Ok(Exit::Success)
}
