//! The agent-memory command line: what a user does with a memory at a terminal or in a script.
//!
//! Owns arguments, texts for people, exit codes, and the formats of export and evaluation. Holds no rule of memory:
//! the verbs are `am-service`'s. Standard output is data, standard error is everything else.

mod cli;
mod commands;
mod context;
mod evaluation;
mod exit;
mod failure;
mod interchange;
mod lines;
mod output;
mod permissions;
mod program;
mod progress;
mod transcript;

use std::process::ExitCode;

fn main() -> ExitCode {
    program::run(std::env::args_os().collect(), &|name| std::env::var_os(name)).into()
}
