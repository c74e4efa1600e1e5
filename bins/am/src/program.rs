//! From arguments and environment to a command and its exit code.

use std::ffi::{OsStr, OsString};

use am_runtime::config::{Config, Key, Overrides};
use clap::Parser as _;

use crate::cli::{Cli, Command};
use crate::commands;
use crate::context::{Context, Environment};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{Output, error_line, warn};

/// Runs `am`.
pub(crate) fn run(arguments: Vec<OsString>, environment: Environment<'_>) -> Exit {
    let (head, tail) = split(arguments);
    match head.last().and_then(|command| command.to_str()) {
        // What a host calls must never fail or print, whatever the arguments are.
        Some("hook") if !asks_for_help(&tail) => commands::hook::run(&head, tail, environment),
        // The contract says what each mistake is answered with.
        Some("purge") if !asks_for_help(&tail) => match commands::purge::read(&head, tail) {
            Ok((globals, request)) => {
                let globals = globals.into_iter().chain(head.into_iter().skip(1));
                let arguments = std::iter::once(OsString::from("am")).chain(globals).collect();
                finish(start(arguments, Some(request), environment))
            }
            Err(mistake) => {
                error_line(mistake);
                error_line(commands::purge::USAGE);
                Exit::Usage
            }
        },
        _ => finish(start([head, tail].concat(), None, environment)),
    }
}

/// Splits the arguments after the command.
fn split(mut arguments: Vec<OsString>) -> (Vec<OsString>, Vec<OsString>) {
    let mut position = 1;
    while let Some(argument) = arguments.get(position) {
        if !argument.as_encoded_bytes().starts_with(b"-") {
            position += 1;
            break;
        }
        position += if takes_value(argument) { 2 } else { 1 };
    }
    let tail = arguments.split_off(position.min(arguments.len()));
    (arguments, tail)
}

/// Returns whether the next argument is the value of this global option.
pub(crate) fn takes_value(argument: &OsStr) -> bool {
    ["--data-dir", "--project", "--color"].iter().any(|option| argument == *option)
}

fn asks_for_help(tail: &[OsString]) -> bool {
    tail.iter().any(|argument| argument == "--help" || argument == "-h")
}

fn finish(result: Result<Exit>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(Failure { exit, message, hints }) => {
            if let Some(message) = message {
                error_line(format_args!("error: {message}"));
            }
            for hint in hints {
                error_line(format_args!("hint: {hint}"));
            }
            exit
        }
    }
}

fn start(
    arguments: Vec<OsString>,
    purge: Option<commands::purge::Request>,
    environment: Environment<'_>,
) -> Result<Exit> {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Where standard error is gone, nobody can be told.
            drop(error.print());
            return Ok(if error.use_stderr() { Exit::Usage } else { Exit::Success });
        }
    };
    let keeps_contract = matches!(
        cli.command,
        Command::Purge(_)
            | Command::Summarize(_)
            | Command::Import(commands::import::Arguments { source: Some(_), .. })
    );
    let result = execute(cli, purge, environment);
    if keeps_contract { result.map_err(within_contract) } else { result }
}

/// Keeps to the exit codes 0, 1 and 2.
fn within_contract(mut failure: Failure) -> Failure {
    if !matches!(failure.exit, Exit::Success | Exit::Usage) {
        failure.exit = Exit::Failed;
    }
    failure
}

fn execute(cli: Cli, purge: Option<commands::purge::Request>, environment: Environment<'_>) -> Result<Exit> {
    let Cli { globals, command } = cli;
    if globals.project.is_some() && !takes_project(&command) {
        return Err(Failure::usage("`--project` means nothing to this command"));
    }
    let is_set = |name: &str| environment(name).is_some_and(|value| !value.is_empty());
    let output = Output::new(globals.json, globals.quiet, globals.color, is_set);
    let given = match &command {
        Command::Serve(arguments) => arguments.overrides(),
        _ => Overrides::default(),
    };
    let overrides = given.with(Key::DataDir, globals.data_dir).with(Key::Project, globals.project);
    if let Command::Completions(arguments) = command {
        return commands::completions::run(&arguments);
    }
    let config = Config::load(&overrides, environment)?;
    let context = Context { config, output, environment, verbose: globals.verbose };
    match command {
        Command::Serve(arguments) => commands::serve::run(&context, &arguments),
        Command::Mcp(_) => commands::mcp::run(context),
        command => {
            for warning in &context.config.warnings {
                warn(warning);
            }
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .build()
                .map_err(|error| Failure::new(Exit::Failed, format!("can't start: {error}")))?;
            runtime.block_on(dispatch(command, purge, &context))
        }
    }
}

/// Returns whether a command is about a project that can be chosen. Ignoring a choice would be a silent surprise.
fn takes_project(command: &Command) -> bool {
    match command {
        Command::Remember(_)
        | Command::Search(_)
        | Command::Recap(_)
        | Command::Handoff(_)
        | Command::Sessions(_)
        | Command::Summarize(_)
        | Command::Forget(_)
        | Command::Delete(_)
        | Command::Purge(_)
        | Command::Export(_)
        | Command::Stats(_)
        | Command::Hook(_)
        | Command::Config(_) => true,
        Command::Import(arguments) => arguments.source.is_some(),
        Command::Demo(_)
        | Command::Bootstrap(_)
        | Command::Serve(_)
        | Command::Mcp(_)
        | Command::Backup(_)
        | Command::Restore(_)
        | Command::Check(_)
        | Command::Eval(_)
        | Command::Index(_)
        | Command::Verify(_)
        | Command::Doctor(_)
        | Command::Completions(_) => false,
    }
}

async fn dispatch(
    command: Command,
    purge: Option<commands::purge::Request>,
    context: &Context<'_>,
) -> Result<Exit> {
    match command {
        Command::Demo(_) => commands::demo::run(context).await,
        Command::Bootstrap(_) => commands::bootstrap::run(context).await,
        Command::Remember(arguments) => commands::remember::run(context, arguments).await,
        Command::Search(arguments) => commands::search::run(context, arguments).await,
        Command::Recap(arguments) => commands::digest::recap(context, arguments).await,
        Command::Handoff(arguments) => commands::digest::handoff(context, arguments).await,
        Command::Sessions(arguments) => commands::sessions::run(context, arguments).await,
        Command::Summarize(arguments) => commands::summarize::run(context, arguments).await,
        Command::Forget(arguments) => commands::forget::run(context, arguments).await,
        Command::Delete(arguments) => commands::delete::run(context, arguments).await,
        Command::Purge(_) => match purge {
            Some(request) => commands::purge::run(context, request).await,
            None => Err(Failure::usage("`purge` comes right after the global options")),
        },
        Command::Backup(arguments) => commands::backup::run(context, arguments).await,
        Command::Restore(arguments) => commands::restore::run(context, arguments).await,
        Command::Export(arguments) => commands::export::run(context, arguments).await,
        Command::Import(arguments) => commands::import::run(context, arguments).await,
        Command::Check(arguments) => commands::check::run(context, arguments).await,
        Command::Eval(arguments) => commands::eval::run(context, arguments).await,
        Command::Index(arguments) => commands::index::run(context, arguments).await,
        Command::Verify(_) => commands::verify::run(context).await,
        Command::Stats(_) => commands::stats::run(context).await,
        Command::Doctor(_) => commands::doctor::run(context).await,
        Command::Config(arguments) => commands::config::run(context, arguments),
        // These run without this runtime.
        Command::Hook(_) | Command::Completions(_) | Command::Serve(_) | Command::Mcp(_) => Ok(Exit::Success),
    }
}
