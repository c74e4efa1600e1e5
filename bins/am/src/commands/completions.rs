//! `am completions`: a shell's completions.

use std::io::Write as _;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::failure::Result;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit> {
    let mut script = vec![];
    clap_complete::generate(arguments.shell, &mut Cli::command(), "am", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Success)
}
