//! am-hook as hosts fire it, and the port where it may meet a stranger.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use am_hook::places::{DEFAULT_ADDRESS, IDENTITY_HEADER};
use am_hook::spool::{Counters, Pending, Spool};
use serde_json::Value;

use super::{Home, program};

/// One test at a time looks at the default port, or listens there.
static PORT: Mutex<()> = Mutex::new(());

/// Fires hooks in a world where nobody listens on the default port: a server of the machine's own user must not get
/// the events of tests.
#[derive(Debug)]
pub(crate) struct Hook<'a> {
    home: &'a Home,
}

impl<'a> Hook<'a> {
    pub(crate) fn new(home: &'a Home) -> Self {
        Self { home }
    }

    /// Fires an event. Whatever happens, the host sees success and nothing else.
    pub(crate) fn fire(&self, event: &str, payload: &Value) {
        let _alone = AloneOnThePort::new();
        self.run(AloneOnThePort::command(), event, payload, None);
    }

    /// Fires an event where the default port is as it is.
    pub(crate) fn fire_at_port(&self, event: &str, payload: &Value) {
        self.run(Command::new(program("am-hook")), event, payload, None);
    }

    /// The same by a user who has set a secret.
    pub(crate) fn fire_with_secret(&self, event: &str, payload: &Value, secret: &str) {
        self.run(Command::new(program("am-hook")), event, payload, Some(secret));
    }

    fn run(&self, command: Command, event: &str, payload: &Value, secret: Option<&str>) {
        let mut command = self.home.furnish(command);
        command.envs(secret.map(|secret| ("AGENT_MEMORY_SECRET", secret)));
        command.env("AGENT_MEMORY_CAPTURE_PATHS", "basename").arg(event).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = (output.status.code(), String::from_utf8(output.stdout), String::from_utf8(output.stderr));
        assert_eq!(said, (Some(0), Ok(String::new()), Ok(String::new())), "{event} {payload}");
    }

    pub(crate) fn spool(&self) -> Spool {
        Spool::of(&self.home.data())
    }

    pub(crate) fn pending(&self) -> u64 {
        let Pending { deliveries, .. } = self.spool().pending().unwrap();
        deliveries
    }

    pub(crate) fn counters(&self) -> Counters {
        self.spool().counters().unwrap()
    }
}

/// The certainty that a hook finds nobody on the default port.
#[derive(Debug)]
pub(crate) struct AloneOnThePort {
    /// Held where the port is the machine's.
    _port: Option<MutexGuard<'static, ()>>,
}

impl AloneOnThePort {
    pub(crate) fn new() -> Self {
        if network_of_its_own().is_some() {
            return Self { _port: None };
        }
        let port = PORT.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(
            TcpStream::connect_timeout(&DEFAULT_ADDRESS, Duration::from_secs(1)).is_err(),
            "someone listens on {DEFAULT_ADDRESS} and would get events of tests: stop it while the tests run"
        );
        Self { _port: Some(port) }
    }

    fn command() -> Command {
        let Some(words) = network_of_its_own() else { return Command::new(program("am-hook")) };
        let mut command = Command::new("unshare");
        command.args(words).arg(program("am-hook"));
        command
    }
}

/// Returns what `unshare` is told for a network where nobody listens, if the machine lets us have one. Sockets in the
/// file system are reached from there all the same.
fn network_of_its_own() -> Option<&'static [&'static str]> {
    const WAYS: [&[&str]; 2] = [&["--net"], &["--user", "--map-root-user", "--net"]];
    static WAY: OnceLock<Option<&[&str]>> = OnceLock::new();
    *WAY.get_or_init(|| {
        WAYS.into_iter().find(|words| {
            let mut command = Command::new("unshare");
            command.args(*words).arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        })
    })
}

/// Another product on the default port.
pub(crate) struct ForeignServer {
    /// What it was sent, request by request; `None`: it is not ours to look into.
    requests: Option<Arc<Mutex<Vec<String>>>>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    _port: MutexGuard<'static, ()>,
}

impl ForeignServer {
    /// Listens on the default port, or takes the product that is there already. `None`: a server of ours has it.
    pub(crate) fn start() -> Option<Self> {
        let port = PORT.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(listener) = TcpListener::bind(DEFAULT_ADDRESS) else {
            let ours = super::Server::try_ask(DEFAULT_ADDRESS.port(), "GET", "/memory/livez", "")
                .is_ok_and(|reply| reply.head.contains(IDENTITY_HEADER));
            return (!ours).then(|| Self {
                requests: None,
                stopped: Arc::default(),
                thread: None,
                _port: port,
            });
        };
        let (requests, stopped) = (Arc::new(Mutex::new(vec![])), Arc::new(AtomicBool::new(false)));
        let (heard, stop) = (Arc::clone(&requests), Arc::clone(&stopped));
        let thread = thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let Some(request) = answer(stream) else { continue };
                heard.lock().unwrap().push(request);
            }
        });
        Some(Self { requests: Some(requests), stopped, thread: Some(thread), _port: port })
    }

    /// Returns what it was sent.
    pub(crate) fn requests(&self) -> Option<Vec<String>> {
        Some(self.requests.as_ref()?.lock().unwrap().clone())
    }
}

impl Drop for ForeignServer {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.stopped.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(DEFAULT_ADDRESS));
        drop(thread.join());
    }
}

/// Answers as a web server does that takes everything.
fn answer(mut stream: TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut request = String::new();
    let mut length = 0;
    while !request.ends_with("\r\n\r\n") {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = value.trim_ascii_end().parse().ok()?;
        }
        request.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    request.push_str(&String::from_utf8_lossy(&body));
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}").ok()?;
    Some(request)
}
