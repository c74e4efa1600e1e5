//! `am mcp`: what am-mcp does, for those who have only `am` at hand.

use std::process::ExitCode;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

/// Serves until the client goes. Makes a runtime of its own; standard output carries protocol only.
pub(crate) fn run(context: Context<'_>) -> Result<Exit> {
    match am_mcp_program::run(context.config) {
        Ok(code) if code == ExitCode::SUCCESS => Ok(Exit::Success),
        Ok(_) => Err(Failure::shown(Exit::Failed)),
        Err(error) => Err(Failure::new(Exit::Failed, format!("{error:#}"))),
    }
}
