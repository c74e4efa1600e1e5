//! The MCP server over standard input and output, as `am-mcp` and `am mcp` run it.
//!
//! Owns the life of the process: what starts when, what goes to the error stream, and when it ends. The protocol is
//! `am-mcp`'s, the wiring `am-runtime`'s.

use std::fmt::Display;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use am_hook::spool::Drained;
use am_mcp::{Ended, Note, Options, ServiceSource, Sourced};
use am_runtime::config::Config;
use am_runtime::maintenance;
use am_runtime::open::{Lazy, SMALL_PROJECTION_BYTES};
use am_runtime::spool::Drainer;
use anyhow::Context as _;
use tokio::runtime::{Builder, Runtime};

mod parent;

/// Threads for what blocks: the disk, mostly. Each call needs one at a time, and each keeps some memory for itself.
const BLOCKING_THREADS: usize = 6;

/// Serves until the client closes its stream, the parent dies, or a signal asks for the end.
///
/// Nothing but protocol goes to standard output; the store is opened after the handshake.
///
/// # Errors
/// The runtime can't be made.
pub fn run(config: Config) -> anyhow::Result<ExitCode> {
    // Asked first: a parent that dies while we start is noticed too.
    let parent = parent::Parent::now();
    let journal = Arc::new(Journal::default());
    for warning in &config.warnings {
        say(warning);
    }
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()
        .context("can't start the runtime")?;
    let ended = runtime.block_on(serve(config, parent, &journal));
    leave(runtime);
    Ok(if ended? == Ended::Failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Ends the runtime without waiting for a read of standard input that nothing can end.
fn leave(runtime: Runtime) {
    runtime.shutdown_background();
}

async fn serve(config: Config, parent: parent::Parent, journal: &Arc<Journal>) -> anyhow::Result<Ended> {
    let lazy = Lazy::new(config.clone(), SMALL_PROJECTION_BYTES);
    let secret = config.secret.value.as_ref().map(|secret| secret.expose().to_owned());
    let notes = Arc::new(|note: Note| say(&note));
    let stop = stop(parent)?;
    tokio::spawn(look_after(config, lazy.clone(), Arc::clone(journal)));
    let (input, output) = am_mcp::standard_streams();
    let source = Arc::new(Source { lazy, journal: Arc::clone(journal) });
    Ok(am_mcp::serve(input, output, source, Options { secret, notes }, stop).await)
}

/// Drains the spool and completes erasure, once a client has made us open the store.
async fn look_after(config: Config, lazy: Lazy, journal: Arc<Journal>) {
    let opened = lazy.opened().await;
    let maintained = maintenance::run(config.clone(), opened.clone(), |result| {
        if let Err(error) = result {
            journal.say_once("maintenance", &error);
        }
    });
    let drained = Arc::new(Drainer::new(&config)).run(opened.service, |result| match result {
        Ok(Drained { refused: 0, broken: 0, .. }) => {}
        Ok(Drained { refused, broken, .. }) => say(&format_args!(
            "[agent-memory mcp] spool: {refused} refused and {broken} unreadable deliveries were removed"
        )),
        Err(error) => journal.say_once("spool", &error),
    });
    tokio::join!(maintained, drained);
}

/// Comes true when the process should end.
fn stop(parent: parent::Parent) -> anyhow::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .context("can't listen for signals")?;
    Ok(async move {
        #[cfg(unix)]
        let terminated = terminate.recv();
        #[cfg(not(unix))]
        let terminated = std::future::pending::<()>();
        tokio::select! {
            _ = terminated => {}
            _ = tokio::signal::ctrl_c() => {}
            () = parent.gone() => {}
        }
    })
}

/// The service, opened when a call needs it.
struct Source {
    lazy: Lazy,
    journal: Arc<Journal>,
}

impl ServiceSource for Source {
    fn service(&self) -> Sourced<'_> {
        Box::pin(self.lazy.service(|error| self.journal.say_once("store", &error.note())))
    }
}

/// Writes a line to the error stream. Nobody has to read it: what can't be written is dropped.
fn say(line: &impl Display) {
    drop(writeln!(std::io::stderr().lock(), "{line}"));
}

/// What has been said on the error stream.
#[derive(Debug, Default)]
struct Journal {
    /// What was said last of each subject.
    last: Mutex<Vec<(&'static str, String)>>,
}

impl Journal {
    /// Says what a subject is up to, unless that was the last thing said of it.
    fn say_once(&self, subject: &'static str, words: &impl Display) {
        let words = words.to_string();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.iter().any(|(known, said)| *known == subject && *said == words) {
            return;
        }
        say(&format_args!("[agent-memory mcp] {subject}: {words}"));
        last.retain(|(known, _)| *known != subject);
        last.push((subject, words));
    }
}
