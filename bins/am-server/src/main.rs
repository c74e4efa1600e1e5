//! The agent-memory daemon: REST on loopback and on a private socket.

use std::process::ExitCode;

use am_runtime::config::Config;
use am_server::{Arguments, ServeError, report, run};
use clap::Parser;

const EXIT_CODES: &str = "\
Exit codes:
   0  it was asked to stop
   1  it could not start
   2  the arguments make no sense
  78  a setting is unusable";

/// Serves the memory of this machine over REST, on loopback and on a private socket in the data directory.
///
/// Flags beat the environment (AGENT_MEMORY_PORT, AGENT_MEMORY_SECRET, ...), which beats config.toml.
#[derive(Parser)]
#[command(name = "am-server", version, after_help = EXIT_CODES)]
struct Program {
    #[command(flatten)]
    arguments: Arguments,
}

fn main() -> ExitCode {
    let Program { arguments } = Program::parse();
    let environment = |name: &str| std::env::var_os(name);
    let served = Config::load(&arguments.overrides(), &environment)
        .map_err(ServeError::from)
        .and_then(|config| run(&config, arguments.launch(&environment)));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
