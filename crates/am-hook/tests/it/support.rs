//! A small HTTP listener that remembers what it was asked and answers as it is told.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex},
    thread,
};

/// One request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The request line.
    pub(crate) line: String,
    /// Header names in lower case, and values.
    pub(crate) headers: Vec<(String, String)>,
    /// The body.
    pub(crate) body: String,
}

impl Request {
    /// Gives a header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What a listener does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Behaviour {
    /// Replies with these bytes.
    Reply(String),
    /// Reads and closes.
    Close,
    /// Reads and stays silent for as long as the peer stays.
    Hang,
}

/// Writes a reply with a status, headers and a body.
pub(crate) fn reply(status: u16, headers: &str, body: &str) -> Behaviour {
    Behaviour::Reply(format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    ))
}

/// Writes a reply of a server of ours.
pub(crate) fn ours(status: u16) -> Behaviour {
    reply(status, "X-Agent-Memory: 0.1.0\r\n", "{\"status\":\"ok\"}")
}

/// A listener and its memory.
pub(crate) struct Listener {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Listener {
    /// Listens on a free port of 127.0.0.1.
    pub(crate) fn start(behave: impl Fn(&Request) -> Behaviour + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = serve(move || listener.accept().map(|(stream, _)| stream), behave);
        Self { address, requests }
    }

    /// Listens on a socket file.
    #[cfg(unix)]
    pub(crate) fn on_socket(
        path: &std::path::Path,
        behave: impl Fn(&Request) -> Behaviour + Send + Sync + 'static,
    ) -> Self {
        let listener = std::os::unix::net::UnixListener::bind(path).unwrap();
        let requests = serve(move || listener.accept().map(|(stream, _)| stream), behave);
        Self { address: closed_port(), requests }
    }

    /// Gives the base URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Takes the requests that came so far.
    pub(crate) fn take(&self) -> Vec<Request> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

/// Gives an address on which nobody listens.
pub(crate) fn closed_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn serve<S: Read + Write + Send + 'static>(
    accept: impl Fn() -> std::io::Result<S> + Send + 'static,
    behave: impl Fn(&Request) -> Behaviour + Send + Sync + 'static,
) -> Arc<Mutex<Vec<Request>>> {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&requests);
    let behave = Arc::new(behave);
    thread::spawn(move || {
        while let Ok(stream) = accept() {
            let (kept, behave) = (Arc::clone(&kept), Arc::clone(&behave));
            thread::spawn(move || converse(stream, &kept, behave.as_ref()));
        }
    });
    requests
}

fn converse<S: Read + Write>(
    mut stream: S,
    kept: &Mutex<Vec<Request>>,
    behave: &dyn Fn(&Request) -> Behaviour,
) {
    while let Some(request) = read_request(&mut stream) {
        kept.lock().unwrap().push(request.clone());
        match behave(&request) {
            Behaviour::Reply(bytes) => {
                if stream.write_all(bytes.as_bytes()).is_err() {
                    return;
                }
            }
            Behaviour::Close => return,
            Behaviour::Hang => {
                drop(stream.read(&mut [0]));
                return;
            }
        }
    }
}

fn read_request(stream: &mut impl Read) -> Option<Request> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.trim_end().split("\r\n");
    let line = lines.next().unwrap().to_owned();
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(Request { line, headers, body: String::from_utf8(body).unwrap() })
}

/// Gives a golden case's environment, with the address it needs.
pub(crate) fn golden_environment(case: &serde_json::Value, listener: &Listener) -> Vec<(String, String)> {
    let mut environment: Vec<(String, String)> = case["env"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
        .collect();
    let url = match case["name"].as_str().unwrap() {
        "server down" => format!("http://{}", closed_port()),
        "bad base URL" => "not a url".to_owned(),
        "base URL with a path prefix" => format!("{}/prefix", listener.url()),
        "base URL with a path prefix and slash" => format!("{}/prefix/", listener.url()),
        _ => listener.url(),
    };
    environment.push(("AGENT_MEMORY_URL".to_owned(), url));
    environment
}

/// Gives the bytes of a golden case's standard input.
pub(crate) fn golden_input(case: &serde_json::Value) -> Vec<u8> {
    match case["stdin"]["size"].as_u64() {
        Some(size) => {
            let start = r#"{"cwd":"/srv/app","session_id":"h","pad":""#;
            format!("{start}{}\"}}", "x".repeat(size as usize - start.len() - 2)).into_bytes()
        }
        None => case["stdin"].as_str().unwrap().as_bytes().to_vec(),
    }
}

/// Checks the requests made against the one a golden case expects.
pub(crate) fn assert_golden_request(case: &serde_json::Value, requests: &[Request], own_directory: &str) {
    let name = case["name"].as_str().unwrap();
    let expected = &case["request"];
    if expected.is_null() {
        assert!(requests.is_empty(), "{name}: {requests:?}");
        return;
    }
    assert_eq!(requests.len(), 1, "{name}");
    let request = &requests[0];
    let line =
        format!("{} {} HTTP/1.1", expected["method"].as_str().unwrap(), expected["path"].as_str().unwrap());
    assert_eq!(request.line, line, "{name}");
    assert_eq!(request.header("content-type"), expected["contentType"].as_str(), "{name}");
    assert_eq!(request.header("authorization"), expected["authorization"].as_str(), "{name}");
    let key = request.header("idempotency-key").unwrap();
    assert!(key.starts_with("delivery:"), "{name}: {key}");
    assert_eq!(request.header("connection"), Some("close"), "{name}");
    let body: serde_json::Value = serde_json::from_str(&request.body).unwrap();
    let expected = &expected["body"];
    let in_order: Vec<usize> = ["content", "project", "sessionId", "origin"]
        .iter()
        .map(|member| request.body.find(&format!("\"{member}\":")).unwrap())
        .collect();
    assert!(in_order.is_sorted(), "{name}: {}", request.body);
    for (member, value) in expected.as_object().unwrap() {
        match value.as_str().unwrap() {
            "$uuid" => assert!(is_uuid_v4(body[member].as_str().unwrap()), "{name}: {}", body[member]),
            "$cwd" => assert_eq!(body[member], own_directory, "{name}"),
            text => assert_eq!(body[member], text, "{name}"),
        }
    }
    assert_eq!(body.as_object().unwrap().len(), expected.as_object().unwrap().len(), "{name}");
}

fn is_uuid_v4(text: &str) -> bool {
    text.len() == 36
        && text.char_indices().all(|(at, c)| match at {
            8 | 13 | 18 | 23 => c == '-',
            14 => c == '4',
            19 => matches!(c, '8' | '9' | 'a' | 'b'),
            _ => c.is_ascii_hexdigit() && !c.is_ascii_uppercase(),
        })
}
