//! Messages as lines. Whatever comes in, what goes out is one JSON message for each line.

use std::io;
use std::sync::Arc;

use am_wire::repair;
use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcError, JsonRpcVersion2_0, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::RoleServer;
use rmcp::transport::Transport;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, watch};

/// Longest message that is read, in bytes: the largest save, every character of it escaped, takes a third.
pub(crate) const LONGEST_LINE: usize = 4 << 20;

/// A peer that speaks in lines.
pub(crate) struct Lines<R, W> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Whether the rest of a line that was too long is being skipped.
    skipping: bool,
    writer: Arc<Mutex<W>>,
    /// Set once the peer doesn't listen any more.
    deaf: watch::Sender<bool>,
    /// Set once the peer says nothing more.
    over: watch::Sender<bool>,
}

/// A line read.
enum Line {
    Whole,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Send + Unpin + 'static> Lines<R, W> {
    /// Makes a peer; `over` is set when the conversation ends.
    pub(crate) fn new(reader: R, writer: W, over: watch::Sender<bool>) -> Self {
        Self {
            reader: BufReader::with_capacity(16 << 10, reader),
            line: vec![],
            skipping: false,
            writer: Arc::new(Mutex::new(writer)),
            deaf: watch::Sender::new(false),
            over,
        }
    }

    /// Reads a line into `self.line`. Dropped half-way, it goes on where it was.
    async fn read_line(&mut self) -> Line {
        loop {
            let Ok(available) = self.reader.fill_buf().await else { return Line::End };
            if available.is_empty() {
                // A last message may lack its line feed.
                let whole = !self.line.is_empty() && !self.skipping;
                return if whole { Line::Whole } else { Line::End };
            }
            let (piece, ends) = match available.iter().position(|byte| *byte == b'\n') {
                Some(position) => (available.get(..position).unwrap_or_default(), true),
                None => (available, false),
            };
            let taken = piece.len() + usize::from(ends);
            let mut too_long = false;
            if !self.skipping {
                too_long = self.line.len() + piece.len() > LONGEST_LINE;
                if too_long {
                    self.line = vec![];
                } else {
                    self.line.extend_from_slice(piece);
                }
            }
            let whole = ends && !self.skipping;
            self.skipping = (self.skipping || too_long) && !ends;
            self.reader.consume(taken);
            if too_long {
                return Line::TooLong;
            }
            if whole {
                return Line::Whole;
            }
        }
    }

    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let answer = match self.read_line().await {
                Line::End => return None,
                Line::TooLong => {
                    let reason = format!("a message has at most {LONGEST_LINE} bytes");
                    ServerJsonRpcMessage::error(
                        ErrorData::new(ErrorCode::INVALID_REQUEST, reason, None),
                        None,
                    )
                }
                Line::Whole => {
                    let line = std::mem::take(&mut self.line);
                    match parse(&line) {
                        Ok(Some(message)) => return Some(message),
                        Ok(None) => continue,
                        Err(answer) => *answer,
                    }
                }
            };
            // In a task: a message must not be cut off when this future is dropped.
            let writer = Arc::clone(&self.writer);
            let written = tokio::spawn(async move { write(&writer, &answer).await }).await;
            if !matches!(written, Ok(Ok(()))) {
                return None;
            }
        }
    }
}

/// Reads a message; `None` for what needs no answer.
///
/// # Errors
/// The answer to a message that makes no sense.
fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Box<ServerJsonRpcMessage>> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let text = repair(line);
    let error = match serde_json::from_str::<ClientJsonRpcMessage>(&text) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    // An array would do for the fields of a structure, too.
    let envelope = text.starts_with('{').then(|| serde_json::from_str::<Envelope<'_>>(&text).ok()).flatten();
    // Answers to what we never asked, and notifications.
    let needs_no_answer = |envelope: &Envelope<'_>| {
        envelope.result.is_some()
            || envelope.error.is_some()
            || (envelope.id.is_none() && envelope.method.is_some())
    };
    if envelope.as_ref().is_some_and(needs_no_answer) {
        return Ok(None);
    }
    let (code, reason) = match error.classify() {
        serde_json::error::Category::Data => (ErrorCode::INVALID_REQUEST, "Invalid request"),
        _ => (ErrorCode::PARSE_ERROR, "Parse error"),
    };
    let id = envelope.and_then(|envelope| serde_json::from_str::<RequestId>(envelope.id?.get()).ok());
    Err(Box::new(ServerJsonRpcMessage::error(ErrorData::new(code, reason, None), id)))
}

/// What can be told of a message that is not understood as a whole.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// An error that answers no request in particular; its id is written as `null`.
#[derive(Serialize)]
struct Unassigned<'a> {
    jsonrpc: JsonRpcVersion2_0,
    id: (),
    error: &'a ErrorData,
}

async fn write<W: AsyncWrite + Unpin>(writer: &Mutex<W>, message: &ServerJsonRpcMessage) -> io::Result<()> {
    // Strings in JSON have no line feeds.
    let line = match message {
        // JSON-RPC wants the member even where nobody knows whose answer it is; the library leaves it out.
        ServerJsonRpcMessage::Error(JsonRpcError { id: None, error, .. }) => {
            serde_json::to_vec(&Unassigned { jsonrpc: JsonRpcVersion2_0, id: (), error })
        }
        message => serde_json::to_vec(message),
    };
    let mut line = line.map_err(io::Error::other)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    writer.write_all(&line).await?;
    writer.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (writer, deaf) = (Arc::clone(&self.writer), self.deaf.clone());
        async move {
            let written = write(&writer, &message).await;
            if written.is_err() {
                deaf.send_replace(true);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut deaf = self.deaf.subscribe();
        let message = tokio::select! {
            message = self.next() => message,
            // Nobody reads what we say: the conversation is over, even while the other stream is open.
            _ = deaf.wait_for(|deaf| *deaf) => None,
        };
        if message.is_none() {
            self.over.send_replace(true);
        }
        message
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.writer.lock().await.shutdown().await
    }
}
