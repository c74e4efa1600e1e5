//! The programs under measurement: built, started on a data directory, asked, ended.

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::http::Connection;

/// The handshake of the older era.
const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#
);
/// The first question of the newer era.
const DISCOVER: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}}}"#
);

/// Where the release builds of the programs are.
#[derive(Clone, Debug)]
pub struct Programs {
    directory: PathBuf,
}

impl Programs {
    /// Builds the programs in the release profile, where they are not up to date.
    ///
    /// # Errors
    /// Cargo can't be run, or fails.
    pub fn build() -> io::Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--release", "--locked", "-p", "am-server", "-p", "am-mcp-program"])
            .args(["-p", "am-hook-program"])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .status()?;
        if !built.success() {
            return Err(io::Error::other("the programs can't be built"));
        }
        // A bench lies in `release/deps`, the programs beside that.
        let bench = std::env::current_exe()?;
        let release = bench.ancestors().nth(2).map(Path::to_owned);
        let directory = release.ok_or_else(|| io::Error::other("no target directory"))?;
        Ok(Self { directory })
    }

    /// Returns a command that runs a program on a data directory, with nothing else in its environment.
    pub fn command(&self, name: &str, data_directory: &Path) -> Command {
        let mut command =
            Command::new(self.directory.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)));
        command
            .env_clear()
            .env("HOME", data_directory)
            .env("AGENT_MEMORY_DATA_DIR", data_directory)
            .current_dir(data_directory)
            .stderr(Stdio::null());
        command
    }

    /// Starts `am-server` and waits until it says where it listens.
    ///
    /// # Errors
    /// It can't be started, or ends.
    pub fn server(&self, data_directory: &Path) -> io::Result<Server> {
        let mut child = self
            .command("am-server", data_directory)
            .args(["--port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take();
        let mut server = Server { child, port: 0, output: None };
        let mut output = BufReader::new(output.ok_or(io::ErrorKind::BrokenPipe)?);
        let mut line = String::new();
        while server.port == 0 {
            line.clear();
            if output.read_line(&mut line)? == 0 {
                return Err(io::Error::other("am-server ended at its start"));
            }
            let address = line.split_once("http://").and_then(|(_, rest)| rest.split(' ').next());
            let port = address.and_then(|address| address.rsplit(':').next());
            server.port = port.and_then(|port| port.parse().ok()).unwrap_or(0);
        }
        // Its log is read along, or it would wait for us.
        server.output = Some(std::thread::spawn(move || drop(io::copy(&mut output, &mut io::sink()))));
        Ok(server)
    }

    /// Starts `am-mcp`.
    ///
    /// # Errors
    /// It can't be started.
    pub fn mcp(&self, data_directory: &Path) -> io::Result<Mcp> {
        let mut child =
            self.command("am-mcp", data_directory).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Mcp { child, input, output: BufReader::new(output) })
    }

    /// Runs a program to its end, with `input` on its standard input.
    ///
    /// # Errors
    /// It can't be run, or does not end well.
    pub fn run(&self, name: &str, arguments: &[&str], data_directory: &Path, input: &[u8]) -> io::Result<()> {
        let mut command = self.command(name, data_directory);
        run(command.args(arguments), input)
    }
}

/// Runs a program that takes nothing and gives nothing to its end.
///
/// # Errors
/// It can't be run, or does not end well.
pub fn run_empty(program: impl AsRef<OsStr>) -> io::Result<()> {
    run(Command::new(program).env_clear().stderr(Stdio::null()), b"")
}

fn run(command: &mut Command, input: &[u8]) -> io::Result<()> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    if let Some(mut stream) = child.stdin.take() {
        match stream.write_all(input) {
            // Whoever reads nothing may be gone already.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    let mut output = Vec::new();
    if let Some(mut stream) = child.stdout.take() {
        stream.read_to_end(&mut output)?;
    }
    if child.wait()?.success() { Ok(()) } else { Err(io::Error::other("the program failed")) }
}

/// A running `am-server`; killed when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    port: u16,
    output: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    /// Connects to it.
    ///
    /// # Errors
    /// It does not accept.
    pub fn connect(&self) -> io::Result<Connection> {
        Connection::open(self.port)
    }

    /// Returns its process id.
    pub fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        end(&mut self.child);
        if let Some(output) = self.output.take() {
            drop(output.join());
        }
    }
}

/// A running `am-mcp`; killed when dropped.
#[derive(Debug)]
pub struct Mcp {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Mcp {
    /// Sends a line and returns the next one that comes back.
    ///
    /// # Errors
    /// The process has ended, or answers with an error.
    pub fn ask(&mut self, line: &str) -> io::Result<String> {
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        input.write_all(format!("{line}\n").as_bytes())?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        if answer.contains(r#""result""#) { Ok(answer) } else { Err(io::Error::other(answer)) }
    }

    /// Asks as a client of the older era does first.
    ///
    /// # Errors
    /// As [`Mcp::ask`].
    pub fn initialize(&mut self) -> io::Result<String> {
        self.ask(INITIALIZE)
    }

    /// Asks as a client of the newer era does first.
    ///
    /// # Errors
    /// As [`Mcp::ask`].
    pub fn discover(&mut self) -> io::Result<String> {
        self.ask(DISCOVER)
    }

    /// Calls a search tool of a project.
    ///
    /// # Errors
    /// As [`Mcp::ask`].
    pub fn search(&mut self, tool: &str, project: &str, query: &str) -> io::Result<String> {
        self.ask(&format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"{tool}","arguments":{{"query":"{query}","project":"{project}"}}}}}}"#
        ))
    }

    /// Closes its input and waits for its end.
    ///
    /// # Errors
    /// It does not end well.
    pub fn finish(mut self) -> io::Result<()> {
        drop(self.input.take());
        if self.child.wait()?.success() { Ok(()) } else { Err(io::Error::other("am-mcp failed")) }
    }

    /// Returns its process id.
    pub fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Ends a process that may have ended.
fn end(child: &mut Child) {
    drop(child.kill());
    drop(child.wait());
}
