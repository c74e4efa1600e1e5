//! The doors of one memory: REST, MCP and the command line, open at the same time.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{Home, Mcp, Ran, Server};

/// Longest wait for a reply: past it, the program hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A way into the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Door {
    Rest,
    Mcp,
    Cli,
}

/// Every door.
pub(super) const DOORS: [Door; 3] = [Door::Rest, Door::Mcp, Door::Cli];

/// How to search.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Keyword,
    Hybrid,
}

/// A memory that was found: its id and its text.
pub(super) type Hit = (String, String);

/// A user's world with a server and an agent's MCP program in it.
pub(super) struct House {
    pub(super) home: Home,
    pub(super) server: Server,
    pub(super) mcp: Mcp,
}

impl House {
    pub(super) fn open() -> Self {
        let home = Home::new();
        let server = Server::start(&home);
        let mcp = Mcp::start(&home);
        Self { home, server, mcp }
    }

    /// Saves a text; returns the memory's id.
    ///
    /// # Errors
    /// Why the memory refuses it.
    pub(super) fn save(
        &mut self,
        door: Door,
        project: &str,
        session: &str,
        text: &str,
    ) -> Result<String, String> {
        let request = json!({"content": text, "project": project, "sessionId": session});
        let reply = match door {
            Door::Rest => self.post("/memory/remember", &request)?,
            Door::Mcp => self.call("memory_save", &request)?,
            Door::Cli => {
                let options = [format!("--project={project}"), format!("--session={session}")];
                let ran =
                    self.am_with(["remember", "--json", &options[0], &options[1], "-"], text.as_bytes());
                data(&ran)?
            }
        };
        assert_eq!((&reply["project"], &reply["sessionId"]), (&json!(project), &json!(session)), "{door:?}");
        Ok(reply["id"].as_str().unwrap().to_owned())
    }

    /// Searches; every query is one that is answered.
    pub(super) fn search(&mut self, door: Door, how: How, project: &str, query: &str) -> Vec<Hit> {
        let reply = self.try_search(door, how, project, query);
        let reply = reply.unwrap_or_else(|reason| panic!("{door:?} {how:?} {query:?}: {reason}"));
        assert_eq!(reply["signals"], json!([]), "{door:?} {how:?} {query:?}");
        hits(&reply["results"])
    }

    /// Searches.
    ///
    /// # Errors
    /// Why the memory refuses the query.
    pub(super) fn try_search(
        &mut self,
        door: Door,
        how: How,
        project: &str,
        query: &str,
    ) -> Result<Value, String> {
        let request = json!({"query": query, "project": project});
        match (door, how) {
            (Door::Rest, How::Keyword) => self.post("/memory/search", &request),
            (Door::Rest, How::Hybrid) => self.post("/memory/smart-search", &request),
            (Door::Mcp, How::Keyword) => self.call("memory_search", &request),
            (Door::Mcp, How::Hybrid) => self.call("memory_smart_search", &request),
            (Door::Cli, _) => {
                let mode = if matches!(how, How::Keyword) { "keyword" } else { "hybrid" };
                let project = format!("--project={project}");
                let ran = self.home.am(&["search", "--json", &project, "--mode", mode, "--", query]);
                data(&ran)
            }
        }
    }

    /// Lists the texts of a session, newest first.
    pub(super) fn list(&mut self, door: Door, project: &str, session: &str) -> Vec<Hit> {
        let reply = match door {
            Door::Rest => {
                let (session, project) = (encode(session), encode(project));
                let path = format!("/memory/sessions/{session}/memories?limit=100&project={project}");
                let reply = self.server.get(&path);
                assert_eq!(reply.status, 200, "{path}: {reply:?}");
                reply.json()
            }
            Door::Mcp => {
                let request = json!({"sessionId": session, "project": project, "limit": 100});
                self.call("memory_session_memories", &request).unwrap()
            }
            Door::Cli => {
                let project = format!("--project={project}");
                let arguments = ["sessions", "--json", "--limit=100", &project, "--", session];
                data(&self.home.am(&arguments)).unwrap()
            }
        };
        hits(&reply["memories"])
    }

    /// Forgets a memory; returns whether there was one.
    pub(super) fn forget(&mut self, door: Door, id: &str) -> bool {
        match door {
            Door::Rest => self.server.post("/memory/forget", &json!({"memoryId": id})).status == 200,
            Door::Mcp => self.call("memory_forget", &json!({"memoryId": id})).is_ok(),
            Door::Cli => self.home.am(&["forget", "--", id]).code == Some(0),
        }
    }

    /// Posts a request; a refusal is its words.
    pub(super) fn post(&self, path: &str, request: &Value) -> Result<Value, String> {
        let reply = self.server.post(path, request);
        assert!(reply.status < 500, "{path}: {reply:?}");
        if reply.status < 300 { Ok(reply.json()) } else { Err(reply.body) }
    }

    /// Calls a tool; a refusal is its words.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let answer = self.mcp.ask("tools/call", &json!({"name": tool, "arguments": arguments})).unwrap();
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        if result["isError"] == true {
            assert!(!text.contains("internal_error"), "{tool}: {answer} {}", self.mcp.process.errors());
            return Err(text.to_owned());
        }
        Ok(serde_json::from_str(text).unwrap())
    }

    /// Runs `am` with something on its standard input.
    pub(super) fn am_with<'a>(&self, arguments: impl IntoIterator<Item = &'a str>, input: &[u8]) -> Ran {
        let mut command = self.home.command("am");
        let mut child = command.args(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // The program may stop reading early.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Sends bytes over a connection of their own; returns what comes back until its end.
    pub(super) fn send(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.server.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // The server may close before it has read everything.
        let sent = stream.write_all(bytes).and_then(|()| stream.shutdown(std::net::Shutdown::Write));
        let mut received = vec![];
        match stream.read_to_end(&mut received) {
            Err(error) if sent.is_ok() && error.kind() == std::io::ErrorKind::WouldBlock => {
                panic!("no end: {bytes:?}")
            }
            _ => received,
        }
    }

    /// Sends a request whose head and body are given as they are; returns the status, 0 for a closed connection.
    pub(super) fn request(&self, head: &str, body: &[u8]) -> (u16, String) {
        let length = body.len();
        let head = format!("{head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
        let received = self.send(&[head.as_bytes(), body].concat());
        (status(&received), String::from_utf8_lossy(&received).into_owned())
    }

    /// Ends the programs, which must have had nothing to complain about, and checks the memory.
    pub(super) fn close(self) {
        self.mcp.close();
        self.server.stop();
        self.home.verify();
    }
}

/// Returns the status of a reply, 0 where there is none.
pub(super) fn status(reply: &[u8]) -> u16 {
    let line = String::from_utf8_lossy(reply.get(..12).unwrap_or_default()).into_owned();
    line.strip_prefix("HTTP/1.1 ").and_then(|status| status.parse().ok()).unwrap_or(0)
}

/// Returns what a run of `am` wrote; where it refused, what it said. Exit code 1 with data means that nothing was found.
pub(super) fn data(ran: &Ran) -> Result<Value, String> {
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
    if let (Some(0 | 1), Ok(data)) = (ran.code, serde_json::from_str(&ran.stdout)) {
        return Ok(data);
    }
    assert!(ran.stderr.starts_with("error: "), "{ran:?}");
    Err(ran.stderr.clone())
}

fn hits(rows: &Value) -> Vec<Hit> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let rows = rows.as_array().unwrap_or_else(|| panic!("{rows}"));
    rows.iter().map(|row| (text(row, "memoryId"), text(row, "content"))).collect()
}

/// Writes a text for a path or a query string.
pub(super) fn encode(text: &str) -> String {
    text.bytes().flat_map(|byte| ['%', digit(byte >> 4), digit(byte & 15)]).collect()
}

fn digit(value: u8) -> char {
    char::from_digit(value.into(), 16).unwrap()
}
