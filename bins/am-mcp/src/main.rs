//! The agent-memory MCP server over stdio.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use am_runtime::config::{Config, Key, Overrides};

const USAGE: &str = "\
Usage: am-mcp [--data-dir DIR]

Serves the memory tools to one MCP client over standard input and output.

Options:
  --data-dir DIR  directory of the store, the socket and the spool
  -h, --help      show this
  -V, --version   show the version

Settings come from AGENT_MEMORY_* variables and config.toml.

Exit codes: 0 the client or its host ended it, 1 it failed, 2 the arguments make no sense, 78 a setting is unusable.
";

/// What the arguments ask for.
enum Wanted {
    Serve(Overrides),
    Show(String),
    Nothing { reason: String },
}

fn main() -> ExitCode {
    match wanted(std::env::args_os().skip(1)) {
        Wanted::Serve(overrides) => start(&overrides),
        Wanted::Show(text) => {
            drop(std::io::stdout().write_all(text.as_bytes()));
            ExitCode::SUCCESS
        }
        Wanted::Nothing { reason } => {
            say(&format!("am-mcp: {reason}\n\n{USAGE}"));
            ExitCode::from(2)
        }
    }
}

fn start(overrides: &Overrides) -> ExitCode {
    match Config::load(overrides, &|name| std::env::var_os(name)) {
        Ok(config) => am_mcp_program::run(config).unwrap_or_else(|error| {
            say(&format!("am-mcp: {error:#}\n"));
            ExitCode::FAILURE
        }),
        Err(error) => {
            say(&format!("am-mcp: can't read the settings: {error}\n"));
            if let Some(hint) = error.hint() {
                say(&format!("hint: {hint}\n"));
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn wanted(mut arguments: impl Iterator<Item = OsString>) -> Wanted {
    let mut overrides = Overrides::default();
    while let Some(argument) = arguments.next() {
        let Some(text) = argument.to_str() else {
            return Wanted::Nothing { reason: format!("unknown argument {}", argument.display()) };
        };
        let directory = match text {
            "-h" | "--help" => return Wanted::Show(USAGE.to_owned()),
            "-V" | "--version" => {
                return Wanted::Show(concat!("am-mcp ", env!("CARGO_PKG_VERSION"), "\n").to_owned());
            }
            "--data-dir" => match arguments.next() {
                Some(directory) => directory,
                None => return Wanted::Nothing { reason: "--data-dir requires a value".to_owned() },
            },
            text => match text.strip_prefix("--data-dir=") {
                Some(directory) => directory.into(),
                None => return Wanted::Nothing { reason: format!("unknown argument {text:?}") },
            },
        };
        overrides = overrides.with(Key::DataDir, Some(directory));
    }
    Wanted::Serve(overrides)
}

/// Writes to the error stream; nobody has to read it.
fn say(text: &str) {
    drop(std::io::stderr().write_all(text.as_bytes()));
}
