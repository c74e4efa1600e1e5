//! `am purge`: memories past an age, with the messages and lines of the contract.

use std::ffi::OsString;
use std::fmt::Write as _;

use am_model::Project;
use am_service::Service;
use am_store::Scope;
use clap::Args;
use serde_json::json;

use crate::context::{Context, caller};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{error_line, one_line, write_json, write_line};
use crate::program::takes_value;

/// The usage line under every mistake.
pub(crate) const USAGE: &str = "usage: am purge --days N (--project NAME | --all) [--dry-run]";

/// The arguments as `--help` shows them. They are read by [`read`], whose messages are the contract's.
#[derive(Debug, Args)]
#[command(override_usage = "am purge --days N (--project NAME | --all) [--dry-run]")]
pub(crate) struct Arguments {
    /// Age in days past which memories go, at least 1
    #[arg(long, value_name = "N")]
    days: Option<String>,
    /// Purge every project
    #[arg(long)]
    all: bool,
    /// Write the ids that would go, and delete nothing
    #[arg(long)]
    dry_run: bool,
}

/// What to purge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    days: u32,
    /// `None`: every project.
    project: Option<String>,
    dry_run: bool,
}

/// Reads the arguments after `purge`. Gives the global options among them apart, or what is wrong.
///
/// `head` are the arguments before: a project that is named there counts.
pub(crate) fn read(
    head: &[OsString],
    tail: Vec<OsString>,
) -> std::result::Result<(Vec<OsString>, Request), String> {
    let (mut globals, mut own) = (vec![], vec![]);
    for (position, argument) in head.iter().enumerate() {
        let text = argument.to_string_lossy().into_owned();
        if text == "--project" {
            own.push(text);
            own.extend(head.get(position + 1).map(|value| value.to_string_lossy().into_owned()));
        } else if text.starts_with("--project=") {
            own.push(text);
        }
    }
    let mut arguments = tail.into_iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy().into_owned();
        let name = text.split('=').next().unwrap_or_default();
        match name {
            "--data-dir" | "--color" => {
                let wants_value = takes_value(&argument);
                globals.push(argument);
                globals.extend(arguments.next().filter(|_| wants_value));
            }
            "--json" | "--quiet" | "-q" | "--verbose" | "-v" => globals.push(argument),
            _ => own.push(text),
        }
    }
    Ok((globals, read_own(&own).map_err(|mistake| format!("purge: {}", one_line(&mistake)))?))
}

fn read_own(arguments: &[String]) -> std::result::Result<Request, String> {
    let (mut days, mut project, mut all, mut dry_run) = (None, None, false, false);
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let (name, inline) = match argument.split_once('=') {
            Some((name @ ("--days" | "--project"), value)) => (name, Some(value)),
            _ => (argument.as_str(), None),
        };
        match name {
            "--days" => {
                let value = inline.or_else(|| arguments.next().map(String::as_str)).unwrap_or_default();
                days = Some(read_days(value)?);
            }
            "--project" => {
                let value = inline.or_else(|| arguments.next().map(String::as_str)).unwrap_or_default();
                if am_model::text::trim(value).is_empty() || (inline.is_none() && value.starts_with("--")) {
                    return Err("--project requires a value".to_owned());
                }
                if all {
                    return Err("--all and --project are mutually exclusive".to_owned());
                }
                project = Some(value.to_owned());
            }
            "--all" => {
                if project.is_some() {
                    return Err("--project and --all are mutually exclusive".to_owned());
                }
                all = true;
            }
            "--dry-run" => dry_run = true,
            _ => return Err(format!("unknown argument \"{argument}\"")),
        }
    }
    let days = days.ok_or("missing required --days")?;
    if project.is_none() && !all {
        return Err("exactly one of --project or --all is required".to_owned());
    }
    Ok(Request { days, project, dry_run })
}

/// Reads `[1-9][0-9]{0,5}`.
fn read_days(value: &str) -> std::result::Result<u32, String> {
    let digits = value.len() <= 6 && value.bytes().all(|byte| byte.is_ascii_digit());
    value.parse().ok().filter(|_| digits && !value.starts_with('0')).ok_or_else(|| {
        format!("--days must be an integer >= 1 (got \"{value}\") \u{2014} days=0 would delete EVERYTHING")
    })
}

/// A purge on its way.
struct Purge<'a> {
    context: &'a Context<'a>,
    service: &'a Service,
    request: &'a Request,
    /// `project=.. days=..`, as lines name it.
    label: String,
    deleted: u64,
}

pub(crate) async fn run(context: &Context<'_>, request: Request) -> Result<Exit> {
    let project = match request.project.as_deref().map(Project::new) {
        Some(Ok(project)) => Some(project),
        Some(Err(error)) => {
            error_line(format_args!("purge: {error}"));
            error_line(USAGE);
            return Ok(Exit::Usage);
        }
        None => None,
    };
    let memory = match context.memory_to_forget().await {
        Ok(memory) => memory,
        Err(mut failure) => {
            let note = failure.message.take().unwrap_or_default();
            error_line(format_args!("purge failed: {}", one_line(&note)));
            return Err(failure);
        }
    };
    let name = project.as_ref().map_or_else(|| "all".to_owned(), |project| one_line(project.as_str()));
    let label = format!("project={name} days={}", request.days);
    let service = &memory.service;
    let mut purge = Purge { context, service, request: &request, label, deleted: 0 };
    let scope = project.map_or(Scope::AllProjects, Scope::Project);
    let result = purge.run(&scope).await;
    if !request.dry_run {
        context.erase(&memory).await;
    }
    match result {
        Ok(()) => Ok(Exit::Success),
        Err(failure) => {
            if let Some(message) = failure.message {
                error_line(format_args!("purge failed: {}", one_line(&message)));
            }
            if purge.deleted > 0 {
                purge.finish(" status=partial")?;
            }
            Err(Failure::shown(failure.exit))
        }
    }
}

impl Purge<'_> {
    async fn run(&mut self, scope: &Scope) -> Result<()> {
        let cutoff = self.service.purge_cutoff(self.request.days);
        let dry_run = self.request.dry_run;
        error_line(format_args!("purge-plan {} cutoff={cutoff} dry_run={dry_run}", self.label));
        let projects = self.service.purge_projects(scope).await?;
        if dry_run {
            let mut would_delete = vec![];
            for project in &projects {
                self.service.purge_plan(project, cutoff, |id| would_delete.push(id.clone())).await?;
            }
            if self.context.output.json {
                let ids: Vec<&str> = would_delete.iter().map(am_model::MemoryId::as_str).collect();
                return write_json(&json!({ "wouldDelete": ids }));
            }
            let mut lines = String::new();
            for id in &would_delete {
                // Writing to a string can't fail.
                let _ = writeln!(lines, "{}", one_line(id.as_str()));
            }
            let (label, found, at) = (&self.label, would_delete.len(), self.service.now());
            return write_line(format_args!("{lines}purge-dry-run {label} would-delete={found} at={at}"));
        }
        self.health(&projects, "before").await?;
        for project in &projects {
            let name = one_line(project.as_str());
            let before = self.deleted;
            let deleted = &mut self.deleted;
            let progress = |progress: am_service::PurgeProgress| {
                *deleted = before + progress.deleted;
                let am_service::PurgeProgress { batch, deleted } = progress;
                error_line(format_args!("purge-progress project={name} batch={batch} deleted={deleted}"));
            };
            self.service.purge(&caller(), project, cutoff, progress).await?;
        }
        self.health(&projects, "after").await?;
        self.finish("")
    }

    async fn health(&self, projects: &[Project], phase: &str) -> Result<()> {
        if self.context.output.json {
            return Ok(());
        }
        for project in projects {
            let counts = self.service.counts(project).await?;
            let (name, memories, sessions) = (one_line(project.as_str()), counts.memories, counts.sessions);
            write_line(format_args!(
                "purge-health project={name} phase={phase} memories={memories} sessions={sessions}"
            ))?;
        }
        Ok(())
    }

    fn finish(&self, status: &str) -> Result<()> {
        if self.context.output.json {
            return write_json(&json!({
                "deleted": self.deleted,
                "partial": !status.is_empty(),
            }));
        }
        let Self { label, deleted, .. } = self;
        let at = self.service.now();
        write_line(format_args!("purge {label} deleted={deleted}{status} at={at}"))
    }
}
