//! One run of the hook: read an event, send it, spool it when no one takes it, and never be in the way.
//!
//! Nothing here fails or prints: a host must not notice us. The work that may block (standard input, a name
//! lookup, a peer that hangs, a disk) happens on threads which are left behind when their time is up. All of a
//! run shares one limit, from its start.

use std::{
    ffi::OsString,
    io::{Read, Write},
    net::SocketAddr,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant, SystemTime},
};

use crate::{
    client::{self, Attempt, Destination},
    delivery::Delivery,
    dialect::{self, Dialect, Surroundings},
    places,
    recall::{self, Injection},
    spool::{Counters, Spool, SpoolError},
};

/// Longest time for a run. The contract's limit is 2 s, of which the process needs a little to start and end.
const RUN_TIME: Duration = Duration::from_millis(1900);

/// The part of it in which the payload is read and sent. What remains is enough for the spool.
const SEND_TIME: Duration = client::REMOTE_WAIT;

/// How much longer a worker is waited for than it allows itself, so that its own answer is heard.
const SLACK: Duration = Duration::from_millis(20);

/// What a run depends on, as values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `AGENT_MEMORY_PROJECT`.
    pub project: Option<String>,
    /// Whether `AGENT_MEMORY_CAPTURE_PATHS` is `basename`.
    pub name_files: bool,
    /// `AGENT_MEMORY_SECRET`, if not empty.
    pub secret: Option<String>,
    /// `AGENT_MEMORY_URL`, if not blank.
    pub url: Option<String>,
    /// Where socket and spool are.
    pub data_directory: Option<PathBuf>,
    /// The TCP address tried when no one listens on the socket.
    pub default_address: SocketAddr,
    /// The process's working directory.
    pub directory: Option<String>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// What is recalled before a model call.
    pub injection: Injection,
}

impl Settings {
    /// Reads the settings from an environment. `lookup` gives the value of a variable.
    pub fn from_environment(lookup: impl Fn(&str) -> Option<OsString>, directory: Option<PathBuf>) -> Self {
        let text = |name: &str| lookup(name).map(|value| value.to_string_lossy().into_owned());
        Self {
            project: text("AGENT_MEMORY_PROJECT"),
            name_files: text("AGENT_MEMORY_CAPTURE_PATHS").as_deref() == Some("basename"),
            secret: text("AGENT_MEMORY_SECRET").filter(|secret| !secret.is_empty()),
            url: text("AGENT_MEMORY_URL").filter(|url| !url.trim_ascii().is_empty()),
            data_directory: places::data_directory(&lookup),
            default_address: places::DEFAULT_ADDRESS,
            directory: directory.map(|path| path.to_string_lossy().into_owned()),
            home: lookup(places::HOME_VARIABLE).filter(|home| !home.is_empty()).map(PathBuf::from),
            injection: Injection::from_environment(&lookup),
        }
    }

    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            project: self.project.as_deref(),
            name_files: self.name_files,
            directory: self.directory.as_deref(),
            now: now(),
        }
    }

    /// Gives whom these settings send to.
    pub fn destination(&self) -> Destination {
        match &self.url {
            Some(text) => Destination::named(text),
            None => Destination::Default {
                socket: self.data_directory.as_ref().map(|directory| directory.join(places::SOCKET_NAME)),
                address: self.default_address,
            },
        }
    }
}

/// Runs the hook for the arguments `[--agent antigravity] EVENT`, in whatever order (further ones are ignored).
///
/// `input` is the host's payload, `None` when standard input is a terminal. Only what the host's dialect
/// requires is written to `output`. Always returns, within two seconds from its start whatever host, server and
/// disk do, and catches panics (see [`silence_panics`]).
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    settings: Settings,
    input: Option<impl Read + Send + 'static>,
    output: &mut dyn Write,
) {
    let start = Instant::now();
    let mut print = |text: &str| drop(output.write_all(text.as_bytes()).and_then(|()| output.flush()));
    // A panic is a defect, but not one of the host: it gets the silence it expects.
    drop(panic::catch_unwind(AssertUnwindSafe(|| {
        let (dialect, event) = parse(arguments);
        let Some(dialect) = dialect else {
            if let Some(input) = input {
                pass_over(input, start + RUN_TIME);
            }
            return;
        };
        if dialect == Dialect::Antigravity && event == recall::EVENT {
            let injected = input.and_then(|input| inject(settings, input, start + RUN_TIME));
            print(injected.as_deref().unwrap_or(dialect.answer(&event)));
            return;
        }
        // Before anything that can take time: the host may stop waiting for us.
        print(dialect.answer(&event));
        if let Some(input) = input {
            capture(dialect, event, settings, input, start);
        }
    })));
}

/// Makes panics of this process print nothing. For programs that are a hook and nothing else.
pub fn silence_panics() {
    panic::set_hook(Box::new(|_| {}));
}

/// Reads the arguments: the dialect (`None` for an agent we don't know) and the event, in whatever order.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> (Option<Dialect>, String) {
    let mut dialect = Some(Dialect::Contract);
    let mut event = None;
    let mut arguments = arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned());
    while let Some(argument) = arguments.next() {
        if argument == "--agent" {
            dialect = arguments.next().as_deref().and_then(Dialect::of_agent);
        } else if let Some(agent) = argument.strip_prefix("--agent=") {
            dialect = Dialect::of_agent(agent);
        } else {
            event.get_or_insert(argument);
        }
    }
    (dialect, event.unwrap_or_default())
}

fn capture(
    dialect: Dialect,
    event: String,
    settings: Settings,
    input: impl Read + Send + 'static,
    start: Instant,
) {
    let settings = Arc::new(settings);
    let destination = Arc::new(settings.destination());
    let deadline = start + SEND_TIME;
    let (observed, observation) = mpsc::sync_channel(1);
    let (attempted, attempt) = mpsc::sync_channel(1);
    let worker = {
        let (settings, destination) = (Arc::clone(&settings), Arc::clone(&destination));
        move || -> Option<()> {
            let payload = read(input)?;
            let delivery = dialect::observe(dialect, &event, &payload, &settings.surroundings())?;
            observed.send(delivery.clone()).ok()?;
            let deadline = deadline.min(Instant::now() + destination.wait());
            let secret = settings.secret.as_deref();
            attempted.send(client::deliver(&destination, &delivery, secret, deadline)).ok()
        }
    };
    if thread::Builder::new().spawn(worker).is_err() {
        return;
    }
    let Ok(delivery) = observation.recv_timeout(until(deadline)) else { return };
    let patience = until(deadline).min(destination.wait()) + SLACK;
    let attempt = attempt.recv_timeout(patience).unwrap_or(Attempt::Failed);
    if attempt == Attempt::Delivered {
        return;
    }
    let (kept, keeping) = mpsc::sync_channel(1);
    // Without a spool the observation is lost: nobody may be told here.
    let keeper = move || drop(kept.send(keep(&settings, &destination, &delivery, attempt)));
    if thread::Builder::new().spawn(keeper).is_ok() {
        drop(keeping.recv_timeout(until(start + RUN_TIME)));
    }
}

/// Puts an observation that did not arrive into the spool, or counts that it is lost.
fn keep(
    settings: &Settings,
    destination: &Destination,
    delivery: &Delivery,
    attempt: Attempt,
) -> Result<(), SpoolError> {
    let Some(data_directory) = &settings.data_directory else { return Ok(()) };
    let spool = Spool::of(data_directory);
    let refused = Counters { refused: 1, ..Counters::default() };
    let target = match destination {
        // Nobody could ever take it.
        Destination::Nowhere => return spool.count(&refused),
        Destination::Default { .. } => None,
        Destination::Explicit { text, .. } => Some(text.as_str()),
    };
    match attempt {
        Attempt::Delivered => Ok(()),
        Attempt::Failed => spool.append(delivery, target),
        Attempt::Refused => spool.count(&refused),
        Attempt::Foreign => {
            spool.append_counting(delivery, target, Counters { foreign: 1, ..Counters::default() })
        }
    }
}

/// Recalls for a model call, within bounds; `None` when there is nothing to inject.
fn inject(settings: Settings, input: impl Read + Send + 'static, deadline: Instant) -> Option<String> {
    let (found, injection) = mpsc::sync_channel(1);
    let worker = move || {
        let injected = read(input).and_then(|payload| {
            let around = recall::Circumstances {
                destination: &settings.destination(),
                secret: settings.secret.as_deref(),
                project: settings.project.as_deref(),
                injection: settings.injection,
                data_directory: settings.data_directory.as_deref(),
                home: settings.home.as_deref(),
                now: now(),
                deadline,
            };
            recall::recall(&payload, &around)
        });
        drop(found.send(injected));
    };
    thread::Builder::new().spawn(worker).ok()?;
    injection.recv_timeout(until(deadline) + SLACK).ok().flatten()
}

/// Lets a host write its payload, which is not for us, as long as it may: it must not find the pipe closed.
fn pass_over(mut input: impl Read + Send + 'static, deadline: Instant) {
    let (ended, end) = mpsc::sync_channel(1);
    let worker = move || drop(ended.send(std::io::copy(&mut input, &mut std::io::sink())));
    if thread::Builder::new().spawn(worker).is_ok() {
        drop(end.recv_timeout(until(deadline)));
    }
}

/// Reads a payload to its end, so that the host never writes into a closed pipe; `None` when it is too large
/// or can't be read.
fn read(mut input: impl Read) -> Option<Vec<u8>> {
    let mut payload = Vec::new();
    input.by_ref().take(dialect::LARGEST_PAYLOAD as u64 + 1).read_to_end(&mut payload).ok()?;
    if payload.len() > dialect::LARGEST_PAYLOAD {
        drop(std::io::copy(&mut input, &mut std::io::sink()));
        return None;
    }
    Some(payload)
}

/// Gives the time that is left.
fn until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

fn now() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |age| age.as_millis() as i64)
}
