//! The capture hook of agent-memory: `am-hook [--agent antigravity] EVENT`, with the host's JSON on standard
//! input. Always silent, always exit code 0.

use std::{
    env,
    io::{self, IsTerminal},
    process::ExitCode,
};

use am_hook::program::{self, Settings};

fn main() -> ExitCode {
    program::silence_panics();
    let settings = Settings::from_environment(|name| env::var_os(name), env::current_dir().ok());
    let input = Some(io::stdin()).filter(|input| !input.is_terminal());
    program::run(env::args_os().skip(1), settings, input, &mut io::stdout());
    ExitCode::SUCCESS
}
