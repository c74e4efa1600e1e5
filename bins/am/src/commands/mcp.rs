//! `am mcp`: what am-mcp does, for those who have only `am` at hand.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(context: Context<'_>) -> Result<Exit> {
    let _ = context;
    Ok(Exit::Success)
}
