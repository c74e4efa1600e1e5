//! `am hook`: what am-hook does, for those who have only `am` at hand. Always silent, always exit code 0.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};

use am_hook::program::{self, Settings};
use clap::Parser as _;

use crate::cli::Cli;
use crate::context::Environment;
use crate::exit::Exit;

/// The arguments as `--help` shows them: they are never read by the parser, which could fail.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Dialect of the host [default: that of Claude Code and Codex]
    #[arg(long, value_name = "HOST")]
    agent: Option<String>,
    /// Name of the event, such as `PostToolUse`
    #[arg(value_name = "EVENT")]
    event: Option<String>,
}

pub(crate) fn run(head: &[OsString], tail: Vec<OsString>, environment: Environment<'_>) -> Exit {
    program::silence_panics();
    let globals = Cli::try_parse_from(head).ok().map(|cli| cli.globals);
    let (data_dir, project) = globals.map_or((None, None), |globals| (globals.data_dir, globals.project));
    let lookup = |name: &str| match name {
        "AGENT_MEMORY_DATA_DIR" => data_dir.clone().or_else(|| environment(name)),
        "AGENT_MEMORY_PROJECT" => project.clone().map(Into::into).or_else(|| environment(name)),
        name => environment(name),
    };
    let settings = Settings::from_environment(lookup, std::env::current_dir().ok());
    let input = Some(io::stdin()).filter(|input| !input.is_terminal());
    program::run(tail, settings, input, &mut io::stdout());
    Exit::Success
}
