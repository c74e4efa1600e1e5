//! `am config show`: the settings, and where each comes from.

use am_runtime::config::config_file;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::{one_line, write_json, write_line};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show every setting
    Show {
        /// Say where each value comes from
        #[arg(long)]
        origin: bool,
    },
}

pub(crate) fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let Action::Show { origin } = arguments.action;
    let shown = context.config.show();
    if context.output.json {
        let settings: Vec<_> = shown
            .iter()
            .map(|shown| json!({ "key": shown.key.name(), "value": shown.value, "origin": shown.origin }))
            .collect();
        write_json(&json!({ "settings": settings }))?;
        return Ok(Exit::Success);
    }
    for setting in shown {
        let line = format!("{} = {}", setting.key.name(), one_line(&setting.value));
        let line = line.trim_end_matches(' ');
        if origin {
            let from = context.output.faint(&format!("# {}", setting.origin));
            write_line(format_args!("{line}  {from}"))?;
        } else {
            write_line(line)?;
        }
    }
    if let Some(file) = config_file(context.environment).filter(|_| origin) {
        let there = if file.exists() { "read" } else { "not there" };
        context.output.note(format_args!("file: {} ({there})", file.display()));
    }
    Ok(Exit::Success)
}
