//! The program as a client starts it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longest wait for anything: past it, it does not happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// A command with an environment of its own.
pub(crate) fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_am-mcp"));
    command.env_clear().env("HOME", home).env("AGENT_MEMORY_DATA_DIR", home.join("data"));
    command
}

pub(crate) struct Program {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
}

impl Program {
    pub(crate) fn start(home: &Path) -> Self {
        Self::of(command(home))
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.split(b'\n') {
                if sender.send(String::from_utf8(line.unwrap()).unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { input: child.stdin.take(), child, lines, next: 1 }
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Reads the next line; every line is a JSON-RPC message.
    pub(crate) fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("an answer in time");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not protocol: {line}"));
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub(crate) fn initialize(&mut self) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let answer = self.ask("initialize", params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    /// Calls a tool; returns the reply that its text holds.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "it does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Closes its input, waits for its end, and returns its exit code, what it still said, and its error stream.
    pub(crate) fn finish(mut self) -> (Option<i32>, Vec<String>, String) {
        self.close_input();
        let status = self.wait();
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (status.code(), self.lines.iter().collect(), errors)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Ours, by its own handle; it may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns what requests of the newer era carry.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}
    })
}
