//! A client that talks in lines, and the services it talks to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use am_embed::analysis::Profile;
use am_embed::hash::HashEmbedder;
use am_mcp::{Ended, Note, Options, ServiceSource};
use am_service::{Service, Settings, SystemClock};
use am_store::testkit::MemoryStore;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Longest wait for an answer: past it, there is none.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Client {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    next: u64,
    pub(crate) notes: Arc<Mutex<Vec<Note>>>,
    pub(crate) stop: Option<oneshot::Sender<()>>,
    pub(crate) served: JoinHandle<Ended>,
}

impl Client {
    pub(crate) fn of(source: Arc<dyn ServiceSource>, secret: Option<&str>) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (server_reader, server_writer) = tokio::io::split(theirs);
        let (reader, writer) = tokio::io::split(ours);
        let notes = Arc::new(Mutex::new(vec![]));
        let heard = Arc::clone(&notes);
        let options = Options {
            secret: secret.map(str::to_owned),
            notes: Arc::new(move |note| heard.lock().unwrap().push(note)),
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(async move {
            let stopped = async move {
                if stopped.await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            am_mcp::serve(server_reader, server_writer, source, options, stopped).await
        });
        Self { reader: BufReader::new(reader), writer, next: 1, notes, stop: Some(stop), served }
    }

    pub(crate) fn over(service: Service) -> Self {
        Self::of(Arc::new(service), None)
    }

    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.unwrap();
        self.writer.flush().await.unwrap();
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes()).await;
    }

    /// Reads the next line; every line is a JSON-RPC message.
    pub(crate) async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, self.reader.read_line(&mut line)).await;
        read.expect("an answer in time").unwrap();
        let message: Value = serde_json::from_str(&line).expect("a JSON line");
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    /// Sends a request and returns the answer to it.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub(crate) async fn initialize(&mut self) -> Value {
        let answer = self.ask("initialize", initialize_params("2025-11-25")).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        answer["result"].clone()
    }

    /// Calls a tool; returns the result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await["result"].clone()
    }

    /// Closes the client's side and returns how the conversation ended, and what was still said.
    pub(crate) async fn close(mut self) -> (Ended, Vec<Value>) {
        self.writer.shutdown().await.unwrap();
        let mut rest = vec![];
        let mut line = String::new();
        while self.reader.read_line(&mut line).await.unwrap() > 0 {
            rest.push(serde_json::from_str(&line).expect("a JSON line"));
            line.clear();
        }
        (tokio::time::timeout(PATIENCE, self.served).await.expect("an end in time").unwrap(), rest)
    }

    pub(crate) fn said(&self) -> Vec<String> {
        self.notes.lock().unwrap().iter().map(ToString::to_string).collect()
    }
}

pub(crate) fn initialize_params(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
}

/// Returns what requests of the newer era carry.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}
    })
}

pub(crate) async fn service_over(store: Arc<MemoryStore>) -> Service {
    Service::open(store, Arc::new(HashEmbedder::new()), Arc::new(SystemClock), Settings::default())
        .await
        .unwrap()
}

pub(crate) async fn service(profile: Profile) -> Service {
    service_over(Arc::new(MemoryStore::new(profile))).await
}

/// Returns the text of a call's result.
pub(crate) fn text(result: &Value) -> &str {
    assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{result}");
    assert_eq!(result["content"][0]["type"], "text");
    result["content"][0]["text"].as_str().unwrap()
}

/// Returns the text of a call's result, as JSON.
pub(crate) fn body(result: &Value) -> Value {
    serde_json::from_str(text(result)).expect("a JSON text")
}
