//! An MCP server, and a client that speaks to it line by line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use super::Home;
use super::process::{PATIENCE, Running};

/// A running `am-mcp` with a client.
#[derive(Debug)]
pub(crate) struct Mcp {
    pub(crate) process: Running,
    pub(crate) input: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
}

impl Mcp {
    /// Starts it and shakes hands. The store is opened by the first call.
    pub(crate) fn start(home: &Home) -> Self {
        Self::of(home.command("am-mcp"))
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let mut process = Running::start(command.stdin(Stdio::piped()));
        let output = BufReader::new(process.child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            // A killed program may leave half a line, which is none.
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let input = process.child.stdin.take();
        let mut mcp = Self { process, input, lines, next: 1 };
        let client = json!({"name": "test", "version": "1"});
        let parameters = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let hello = mcp.ask("initialize", &parameters).unwrap();
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
        mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
        mcp
    }

    pub(crate) fn send(&mut self, message: &Value) -> Option<()> {
        let input = self.input.as_mut()?;
        input.write_all(format!("{message}\n").as_bytes()).and_then(|()| input.flush()).ok()
    }

    /// Asks, where the program may be gone.
    pub(crate) fn ask(&mut self, method: &str, parameters: &Value) -> Option<Value> {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}))?;
        let message = self.hear()?;
        assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(id)), "{message}");
        Some(message)
    }

    /// Sends bytes as they are, and returns the next message.
    pub(crate) fn ask_raw(&mut self, bytes: &[u8]) -> Value {
        self.send_raw(bytes);
        self.hear().unwrap()
    }

    /// Sends bytes as they are.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).and_then(|()| input.flush()).unwrap();
    }

    fn hear(&self) -> Option<Value> {
        let line = match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("no answer: {}", self.process.errors()),
        };
        // What a crash has cut off is no line.
        serde_json::from_str(&line).ok()
    }

    /// Calls a tool; returns whether it failed, and the reply that its text holds.
    pub(crate) fn try_call(&mut self, tool: &str, arguments: &Value) -> Option<(bool, Value)> {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        Some((result["isError"] == true, serde_json::from_str(text).unwrap()))
    }

    /// Calls a tool of a program that is there, for a reply that is no failure.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let (failed, reply) = self.try_call(tool, arguments).unwrap();
        assert!(!failed, "{tool}: {reply} {}", self.process.errors());
        reply
    }

    /// Ends it as clients do: by closing its input. It must end well, and have had nothing to complain about.
    pub(crate) fn close(mut self) {
        self.input = None;
        assert_eq!(self.process.wait().code(), Some(0));
        assert_eq!(self.process.last_errors(), "");
    }
}
