//! The commands and the options that all of them share.

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    backup, bootstrap, check, completions, config, delete, demo, digest, doctor, eval, export, forget, hook,
    import, index, mcp, purge, remember, restore, search, serve, sessions, stats, summarize, verify,
};
use crate::exit;
use crate::output::Color;

/// A durable memory for coding agents, on your machine
#[derive(Debug, Parser)]
#[command(
    name = "am",
    version,
    after_help = exit::TABLE,
    disable_help_subcommand = true,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct Globals {
    /// Directory of the memory [default: where the platform keeps data]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) data_dir: Option<OsString>,
    /// Project [default: AGENT_MEMORY_PROJECT, else `default`]
    #[arg(long, global = true, value_name = "NAME", value_parser = name, help_heading = "Global options")]
    pub(crate) project: Option<String>,
    /// Write data as JSON
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// Leave out remarks and progress
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(crate) quiet: bool,
    /// Say more
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(crate) verbose: bool,
    /// When to colour the output
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "Global options"
    )]
    pub(crate) color: Color,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what a memory does, on three made-up sessions
    Demo(demo::Arguments),
    /// Make the memory where it is missing, and wait until it answers
    Bootstrap(bootstrap::Arguments),
    /// Run the REST server, as am-server does
    Serve(Box<serve::Arguments>),
    /// Serve the MCP tools over standard input and output, as am-mcp does
    Mcp(mcp::Arguments),
    /// Capture one event of an agent, as am-hook does
    Hook(hook::Arguments),
    /// Save a text
    Remember(remember::Arguments),
    /// Search by keyword, by meaning, or both
    Search(search::Arguments),
    /// Show the newest memories
    Recap(digest::Arguments),
    /// Show the newest memories under the counts of the project
    Handoff(digest::Arguments),
    /// List sessions, or the memories of one session
    Sessions(sessions::Arguments),
    /// Summarise a session and draw lessons from it
    Summarize(summarize::Arguments),
    /// Forget a memory, a session or a captured event for good
    Forget(forget::Arguments),
    /// Delete a memory for a reason that the log keeps
    Delete(delete::Arguments),
    /// Delete the memories past an age
    Purge(purge::Arguments),
    /// Copy the memory into one file
    Backup(backup::Arguments),
    /// Bring a back-up back, after checking it
    Restore(restore::Arguments),
    /// Write every record as a line of JSON
    Export(export::Arguments),
    /// Read an export, or the transcript of an agent
    Import(import::Arguments),
    /// Check a running server from outside, route by route and skill by skill
    Check(check::Arguments),
    /// Measure how well searches find what they should
    Eval(eval::Arguments),
    /// Maintain what searches rest on
    Index(index::Arguments),
    /// Check integrity, log and projections, and complete erasure
    Verify(verify::Arguments),
    /// Show how much the memory holds
    Stats(stats::Arguments),
    /// Look for what is wrong with the installation, and say what to do
    Doctor(doctor::Arguments),
    /// Show the settings
    Config(config::Arguments),
    /// Write the completions of a shell
    Completions(completions::Arguments),
}

/// Reads a name. A blank one is a mistake, such as a variable without a value: nothing else is meant by it.
fn name(text: &str) -> Result<String, &'static str> {
    if am_model::text::trim(text).is_empty() { Err("a name is wanted") } else { Ok(text.to_owned()) }
}

/// Reads a limit of 1 to 100.
pub(crate) fn limit(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|limit| (1..=am_model::LIMIT_MAX).contains(limit))
        .ok_or_else(|| format!("a number from 1 to {} is wanted", am_model::LIMIT_MAX))
}
