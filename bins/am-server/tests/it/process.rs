//! A server under test.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Variables of the machine that would reach the programs under test.
const VARIABLES: [&str; 9] = [
    "AGENT_MEMORY_PORT",
    "AGENT_MEMORY_HOST",
    "AGENT_MEMORY_SECRET",
    "AGENT_MEMORY_DATA_DIR",
    "AGENT_MEMORY_PROFILE",
    "AGENT_MEMORY_METRICS_PORT",
    "AGENT_MEMORY_URL",
    "XDG_CONFIG_HOME",
    "NOTIFY_SOCKET",
];

/// Longest wait for something that comes at once on an idle machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A command for the program with `home` as its world.
pub(crate) fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_am-server"));
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command.env("HOME", home).arg("--data-dir").arg(home.join("data"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A running server. Killed when dropped.
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) start_line: String,
    pub(crate) port: u16,
}

/// What a server left behind.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Server {
    pub(crate) fn start(home: &Path) -> Self {
        Self::of(command(home).args(["--port", "0"]))
    }

    /// Starts a command and waits for its start line.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut start_line = String::new();
        stdout.read_line(&mut start_line).unwrap();
        let port = start_line
            .rsplit_once(" (auth")
            .and_then(|(url, _)| url.rsplit_once(':'))
            .and_then(|(_, port)| port.parse().ok());
        let Some(port) = port else {
            let mut stderr = String::new();
            child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
            panic!("no start line: {start_line:?} {stderr}");
        };
        Self { child, stdout, start_line, port }
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Reads the next line of standard output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_ascii_end().to_owned()
    }

    /// Waits for the end and gives what was printed and not read before.
    pub(crate) fn end(mut self) -> End {
        let deadline = Instant::now() + PATIENCE;
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            assert!(Instant::now() < deadline, "the server goes on");
            std::thread::sleep(Duration::from_millis(5));
        };
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.stdout.read_to_string(&mut stdout).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        End { code, stdout, stderr }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Runs a command that is expected not to serve.
pub(crate) fn refused(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert_eq!(String::from_utf8(stdout).unwrap(), "");
    (status.code(), String::from_utf8(stderr).unwrap())
}
