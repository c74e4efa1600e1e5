//! `am doctor`: what is wrong with the installation, and what to do about it.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use am_embed::analysis::Analysis;
use am_hook::places::DEFAULT_ADDRESS;
use am_hook::spool::{CAPACITY_BYTES, Spool};
use am_hook::url::BaseUrl;
use am_model::{Instant, StoreId};
use am_runtime::client::{Client, ClientError, Identity};
use am_runtime::config::config_file;
use am_runtime::open;
use am_service::{Clock as _, SystemClock};
use am_store::{Scope, Store as _, StoredObservation};
use am_store_sqlite::{FILE_NAME, SqliteStore};
use serde_json::json;
use tokio::task::spawn_blocking;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{bytes, counted, one_line, write_json, write_line};
use crate::permissions::open_to_others;

/// Longest wait for a server.
const WAIT: Duration = Duration::from_secs(1);
/// Events looked at, from the newest on, for the last one of a hook.
const EVENTS: i64 = 200;
/// Hooks that fired within so many days fired lately.
const LATELY_DAYS: f64 = 7.0;
/// Names that earlier products used, which mean nothing here.
const LEGACY: [&str; 6] = [
    "AGENTMEMORY_URL",
    "AGENTMEMORY_PORT",
    "AGENTMEMORY_SECRET",
    "AGENTMEMORY_HOST",
    "AGENTMEMORY_PROJECT",
    "AGENTMEMORY_DATA_DIR",
];

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

/// How a finding is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// Something may be lost or missed.
    Warning,
    /// Something doesn't work.
    Fault,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warning => "warn",
            Self::Fault => "FAIL",
        }
    }
}

#[derive(Clone, Debug)]
struct Finding {
    status: Status,
    subject: &'static str,
    detail: String,
    /// What to do.
    hint: Option<String>,
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, status: Status, subject: &'static str, detail: impl Into<String>) -> &mut Finding {
        self.0.push(Finding { status, subject, detail: detail.into(), hint: None });
        let last = self.0.len() - 1;
        #[expect(clippy::indexing_slicing, reason = "it was just pushed")]
        &mut self.0[last]
    }
}

impl Finding {
    fn hint(&mut self, hint: impl Into<String>) {
        self.hint = Some(hint.into());
    }
}

pub(crate) async fn run(context: &Context<'_>) -> Result<Exit> {
    let mut findings = Findings::default();
    settings(context, &mut findings);
    directory(context, &mut findings);
    let store = store(context, &mut findings).await;
    spool(context, &mut findings);
    if let Some(store) = &store {
        hooks(store, &mut findings).await;
    }
    let config = context.config.clone();
    findings.0.extend(spawn_blocking(move || servers(&config).0).await?);
    show(context, &findings.0)?;
    let fails = findings.0.iter().any(|finding| finding.status == Status::Fault);
    if fails { Err(Failure::shown(Exit::Failed)) } else { Ok(Exit::Success) }
}

fn show(context: &Context<'_>, findings: &[Finding]) -> Result<()> {
    let output = context.output;
    if output.json {
        let listed: Vec<_> = findings
            .iter()
            .map(|finding| {
                json!({
                    "status": finding.status.as_str().to_ascii_lowercase(),
                    "subject": finding.subject,
                    "detail": finding.detail,
                    "hint": finding.hint,
                })
            })
            .collect();
        return write_json(&json!({ "version": env!("CARGO_PKG_VERSION"), "findings": listed }));
    }
    for finding in findings {
        let Finding { subject, detail, .. } = finding;
        let status = finding.status.as_str();
        write_line(format_args!("{status:<5} {}: {detail}", output.strong(subject)))?;
        if let Some(hint) = &finding.hint {
            write_line(format_args!("      hint: {hint}"))?;
        }
    }
    Ok(())
}

fn settings(context: &Context<'_>, findings: &mut Findings) {
    let file = config_file(context.environment);
    let detail = match &file {
        Some(file) if file.exists() => format!("version {}, {}", env!("CARGO_PKG_VERSION"), file.display()),
        _ => format!("version {}, no config.toml", env!("CARGO_PKG_VERSION")),
    };
    findings.add(Status::Ok, "settings", detail);
    for warning in &context.config.warnings {
        findings.add(Status::Warning, "settings", warning.to_string());
    }
    let legacy: Vec<&str> = LEGACY.into_iter().filter(|name| (context.environment)(name).is_some()).collect();
    if !legacy.is_empty() {
        let detail = format!("{} has no effect here", legacy.join(", "));
        findings.add(Status::Note, "settings", detail).hint("the names begin with AGENT_MEMORY_");
    }
    if context.config.secret.value.is_none() && !context.config.is_loopback() {
        findings
            .add(
                Status::Fault,
                "settings",
                "the server is to be reached from elsewhere, but there is no secret",
            )
            .hint("set AGENT_MEMORY_SECRET, or bind 127.0.0.1");
    }
}

fn directory(context: &Context<'_>, findings: &mut Findings) {
    let directory = &context.config.data_dir.value;
    let shown = directory.display();
    let listed = match directory.metadata() {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Ok(metadata) if !metadata.is_dir() => Ok(Some(false)),
        found => found.and_then(|_| directory.read_dir()).map(|_| Some(true)),
    };
    let is_directory = match listed {
        Ok(found) => found,
        Err(error) => {
            let failure = Failure::file("look into", directory, &error);
            findings.add(Status::Fault, "data directory", failure.message.unwrap_or_default()).hint(
                "it has to belong to you: look at its owner and mode, and those of the directories above",
            );
            return;
        }
    };
    let Some(is_directory) = is_directory else {
        findings
            .add(Status::Note, "data directory", format!("{shown} is not there yet"))
            .hint("`am bootstrap` makes it");
        return;
    };
    if !is_directory {
        findings
            .add(Status::Fault, "data directory", format!("{shown} is not a directory"))
            .hint("choose another with `--data-dir` or AGENT_MEMORY_DATA_DIR");
        return;
    }
    findings.add(Status::Ok, "data directory", shown.to_string());
    let private = |path: &Path, what: &'static str, wanted: &str, findings: &mut Findings| {
        if let Some(mode) = open_to_others(path) {
            findings
                .add(Status::Warning, what, format!("others may use {} (mode {mode:o})", path.display()))
                .hint(format!("chmod {wanted} {}", path.display()));
        }
    };
    private(directory, "data directory", "700", findings);
    private(&directory.join(FILE_NAME), "memory", "600", findings);
}

async fn store(context: &Context<'_>, findings: &mut Findings) -> Option<SqliteStore> {
    let opened = match context.is_there() {
        Ok(false) => {
            findings
                .add(Status::Note, "memory", "there is none yet")
                .hint("`am demo` makes one and shows what it does");
            return None;
        }
        Ok(true) => context.existing().await,
        Err(failure) => Err(failure),
    };
    let store = match opened {
        Ok(memory) => memory.store,
        Err(failure) => {
            let finding = findings.add(Status::Fault, "memory", failure.message.unwrap_or_default());
            // The doctor is at work already.
            if let Some(hint) = failure.hints.into_iter().find(|hint| !hint.contains("am doctor")) {
                finding.hint(hint);
            }
            return None;
        }
    };
    match store.identity().await {
        Ok(identity) => {
            let (profile, embedder, schema) = (identity.profile, &identity.embedder, identity.schema_version);
            let detail = format!(
                "{}, made {}, schema {schema}, profile {}, embedder {embedder}",
                identity.uuid,
                identity.created_at,
                profile.as_str()
            );
            findings.add(Status::Ok, "memory", detail);
            let ours = Analysis::new(profile).id();
            if identity.analysis != ours {
                let detail =
                    format!("its texts are analysed by {}, this program has {ours}", identity.analysis);
                findings
                    .add(Status::Warning, "memory", detail)
                    .hint("`am index rebuild` brings them up to date");
            }
            let given = open::embedder(&context.config).id().to_string();
            if given != *embedder {
                let detail = format!("its vectors are of {embedder}, the settings name {given}");
                findings
                    .add(Status::Warning, "memory", detail)
                    .hint("searches by meaning are out until the settings name the memory's own embedder");
            }
        }
        Err(error) => {
            findings.add(Status::Fault, "memory", error.to_string());
        }
    }
    if let Ok(statistics) = store.statistics().await {
        let memories = counted(statistics.memories, "memory", "memories");
        let projects = counted(statistics.projects, "project", "projects");
        let detail = format!("{memories} in {projects}, {} on disk", bytes(statistics.disk_bytes));
        findings.add(Status::Ok, "memory", detail);
    }
    let asked = store.clone();
    if let Ok(Ok(true)) = spawn_blocking(move || asked.erasure_pending()).await {
        findings
            .add(Status::Warning, "erasure", "bytes of something forgotten may still be on disk")
            .hint("`am verify` completes the erasure");
    }
    Some(store)
}

fn spool(context: &Context<'_>, findings: &mut Findings) {
    for directory in context.config.spool_directories() {
        let spool = Spool::of(&directory);
        let (pending, counters) = match (spool.pending(), spool.counters()) {
            (Ok(pending), Ok(counters)) => (pending, counters),
            (Err(error), _) | (_, Err(error)) => {
                findings
                    .add(Status::Fault, "spool", error.to_string())
                    .hint("what hooks capture is lost while it can't be used");
                continue;
            }
        };
        let waiting = counted(pending.deliveries, "event waits", "events wait");
        let detail = format!("{waiting} ({}), {} in all", bytes(pending.bytes), counters.spooled);
        if pending.bytes > CAPACITY_BYTES / 2 {
            findings
                .add(Status::Warning, "spool", detail)
                .hint("`am stats` takes them in; a running server or an agent's am-mcp does it by itself");
        } else {
            findings.add(Status::Ok, "spool", detail);
        }
        if counters.dropped > 0 {
            let lost = counted(counters.dropped, "event was lost", "events were lost");
            findings
                .add(Status::Warning, "spool", format!("{lost} because it was full"))
                .hint("keep `am serve` running, or connect am-mcp to the agent");
        }
        if counters.foreign > 0 {
            let replies = counted(counters.foreign, "reply", "replies");
            findings
                .add(Status::Warning, "spool", format!("{replies} on our port came from another product"))
                .hint("leave it running; start ours elsewhere and set AGENT_MEMORY_URL");
        }
        if counters.refused > 0 {
            let refused = counted(counters.refused, "event was refused", "events were refused");
            findings
                .add(Status::Warning, "spool", format!("{refused}: by a server, or for a URL that is none"))
                .hint("look at AGENT_MEMORY_URL where the agent runs its hooks");
        }
        if counters.broken > 0 {
            let broken = counted(counters.broken, "line was unreadable", "lines were unreadable");
            findings.add(Status::Note, "spool", format!("{broken} and removed"));
        }
    }
}

/// Looks for the last event that a hook brought.
async fn hooks(store: &SqliteStore, findings: &mut Findings) {
    let newest = match newest_events(store).await {
        Ok(newest) => newest,
        Err(error) => {
            findings.add(Status::Fault, "hooks", error.to_string());
            return;
        }
    };
    let Some(last) = newest.into_iter().rev().find(|event| event.observation.origin.is_hook()) else {
        findings
            .add(Status::Note, "hooks", "none has brought an event yet")
            .hint("hooks/README.md of the sources shows how to wire an agent");
        return;
    };
    let observation = last.observation;
    let (origin, project) = (one_line(observation.origin.as_str()), one_line(observation.project.as_str()));
    let detail = format!("the last event is {origin} of project {project:?}, {}", observation.at);
    if days_ago(observation.at) > LATELY_DAYS {
        findings.add(Status::Note, "hooks", detail).hint("if agents ran since, look at their hook settings");
    } else {
        findings.add(Status::Ok, "hooks", detail);
    }
}

fn days_ago(at: Instant) -> f64 {
    SystemClock.now().days_since(at)
}

/// Reads the newest events: pages go up by id, so the last id is searched for first.
async fn newest_events(
    store: &SqliteStore,
) -> std::result::Result<Vec<StoredObservation>, am_store::StoreError> {
    let (mut known, mut beyond) = (0_i64, 1_i64 << 40);
    while known + 1 < beyond {
        let middle = i64::midpoint(known, beyond);
        if store.observations_page(&Scope::AllProjects, StoreId(middle - 1), 1).await?.is_empty() {
            beyond = middle;
        } else {
            known = middle;
        }
    }
    let after = StoreId((known - EVENTS).max(0));
    store.observations_page(&Scope::AllProjects, after, EVENTS as usize).await
}

/// Asks who answers where our clients look.
fn servers(config: &am_runtime::config::Config) -> Findings {
    let mut findings = Findings::default();
    if let Some(url) = &config.url.value {
        let client = Client::to_url(url.base.clone(), None, WAIT);
        say_who(&mut findings, "server", &url.text, client.identify(), true);
        return findings;
    }
    #[cfg(unix)]
    {
        let socket = config.socket();
        if socket.exists() {
            let shown = socket.display().to_string();
            let client = Client::to_socket(socket, None, WAIT);
            match client.identify() {
                Err(_) => {
                    let detail = format!("nobody listens on {shown}: a server ended without removing it");
                    findings.add(Status::Note, "socket", detail);
                }
                found => say_who(&mut findings, "socket", &shown, found, true),
            }
        }
    }
    let address = format!("http://{}:{}", DEFAULT_ADDRESS.ip(), DEFAULT_ADDRESS.port());
    if let Some(base) = BaseUrl::parse(&address) {
        say_who(&mut findings, "port", &address, Client::to_url(base, None, WAIT).identify(), false);
    }
    findings
}

fn say_who(
    findings: &mut Findings,
    subject: &'static str,
    place: &str,
    found: std::result::Result<Identity, ClientError>,
    wanted: bool,
) {
    let ours = env!("CARGO_PKG_VERSION");
    match found {
        Ok(Identity::Ours { version }) if version == ours => {
            findings.add(Status::Ok, subject, format!("{place} is agent-memory {version}"));
        }
        Ok(Identity::Ours { version }) => {
            let version = one_line(&version);
            findings
                .add(Status::Warning, subject, format!("{place} is agent-memory {version}, this is {ours}"))
                .hint("restart the server after an upgrade");
        }
        Ok(Identity::Foreign) => {
            findings
                .add(Status::Warning, subject, format!("{place} belongs to another product"))
                .hint("NEVER kill it; `am serve --port 3151`, then AGENT_MEMORY_URL=http://127.0.0.1:3151");
        }
        Err(error) if wanted => {
            findings.add(Status::Fault, subject, error.to_string()).hint("`am serve` starts a server");
        }
        Err(_) => {
            findings
                .add(Status::Note, subject, format!("nobody answers on {place}"))
                .hint("no server is needed for MCP and `am`; `am serve` starts one");
        }
    }
}
