//! `am serve`: what am-server does, for those who have only `am` at hand.

use am_runtime::config::{Key, Overrides};
use clap::Args;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Address to listen on
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// Port to listen on
    #[arg(long, value_name = "PORT")]
    port: Option<String>,
}

impl Arguments {
    /// Adds the flags to those of every command.
    pub(crate) fn add_to(&self, overrides: Overrides) -> Overrides {
        overrides.with(Key::Host, self.host.clone()).with(Key::Port, self.port.clone())
    }
}

pub(crate) fn run(context: Context<'_>) -> Result<Exit> {
    let _ = context;
    Ok(Exit::Success)
}
