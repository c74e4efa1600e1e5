//! Requests to our own server, and to what only looks like one.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use am_hook::url::BaseUrl;
use am_runtime::client::{Client, ClientError, Identity};
use am_runtime::config::Config;

use crate::support::{config_in, foreign, ours, resolve, server};

const WAIT: Duration = Duration::from_secs(10);

fn with_secret(url: &str) -> Config {
    resolve(&[("AGENT_MEMORY_SECRET", "zz"), ("AGENT_MEMORY_URL", url)], None).unwrap()
}

fn to(url: &str, wait: Duration) -> Client {
    let config = with_secret(url);
    Client::to_url(config.url.value.unwrap().base, config.secret.value, wait)
}

#[test]
fn a_request_arrives_and_its_reply_comes_back_whatever_its_status() {
    let (url, requests) = server(ours(404, r#"{"error":"not_found"}"#));
    let client = to(&format!("{url}/prefix"), WAIT);
    let reply = client.post("memory/forget", r#"{"memoryId":"x"}"#, &[("idempotency-key", "k")]).unwrap();
    assert_eq!((reply.status, reply.version.as_deref()), (404, Some("9.9.9")));
    assert_eq!(reply.json().unwrap()["error"], "not_found");
    let (head, body) = requests.recv().unwrap();
    assert!(head.starts_with("POST /prefix/memory/forget HTTP/1.1\r\n"), "{head}");
    let head = head.to_ascii_lowercase();
    for line in ["authorization: bearer zz", "content-type: application/json", "idempotency-key: k"] {
        assert!(head.contains(line), "{head}");
    }
    assert_eq!(body, r#"{"memoryId":"x"}"#);
    client.get("memory/sessions?project=a%20b").unwrap();
    let (head, body) = requests.recv().unwrap();
    assert!(head.starts_with("GET /prefix/memory/sessions?project=a%20b HTTP/1.1\r\n"), "{head}");
    assert_eq!(body, "");
}

#[test]
fn a_redirect_is_a_reply_and_takes_the_secret_nowhere() {
    let (elsewhere, followed) = server(ours(200, "{}"));
    let moved = format!(
        "HTTP/1.1 307 X\r\nlocation: {elsewhere}/x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    let (url, _) = server(moved);
    assert_eq!(to(&url, WAIT).get("memory/health").unwrap().status, 307);
    assert!(followed.try_recv().is_err());
}

#[test]
fn a_secret_beyond_ascii_is_sent_as_its_bytes() {
    let body = r#"{"text":"\r\nauthorization: Bearer p??"}"#;
    for secret in ["p\u{e9}", "\u{1f511} key", "\u{e9}\u{e9}"] {
        let (url, requests) = server(ours(200, "{}"));
        let environment = [("AGENT_MEMORY_SECRET", secret), ("AGENT_MEMORY_URL", url.as_str())];
        let config = resolve(&environment, None).unwrap();
        let client = Client::to_url(config.url.value.unwrap().base, config.secret.value.clone(), WAIT);
        let expected = format!("authorization: Bearer {secret}");
        for _ in 0..2 {
            assert_eq!(client.get("memory/health").unwrap().status, 200);
            let (head, _) = requests.recv().unwrap();
            assert!(head.lines().any(|line| line == expected), "{head}");
            assert_eq!(client.post("memory/search", body, &[]).unwrap().status, 200);
            let (head, sent) = requests.recv().unwrap();
            assert_eq!(head.lines().filter(|line| line.starts_with("authorization")).count(), 1, "{head}");
            assert!(head.lines().any(|line| line == expected), "{head}");
            assert_eq!(sent, body);
        }
        #[cfg(unix)]
        {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("s");
            let requests = crate::support::socket_server(&path, ours(200, "{}"));
            Client::to_socket(path, config.secret.value, WAIT).get("memory/health").unwrap();
            assert!(requests.recv().unwrap().0.lines().any(|line| line == expected));
        }
    }
}

#[test]
fn who_answers_is_asked_without_the_secret() {
    let (url, requests) = server(ours(200, r#"{"status":"ok"}"#));
    assert_eq!(to(&url, WAIT).identify().unwrap(), Identity::Ours { version: "9.9.9".to_owned() });
    let (head, _) = requests.recv().unwrap();
    assert!(head.starts_with("GET /memory/livez "), "{head}");
    assert!(!head.to_ascii_lowercase().contains("authorization"), "{head}");
    let (url, _) = server(foreign(200, r#"{"status":"ok"}"#));
    assert_eq!(to(&url, WAIT).identify().unwrap(), Identity::Foreign);
    let (url, _) = server("220 mail.example ESMTP\r\n".to_owned());
    assert_eq!(to(&url, WAIT).identify().unwrap(), Identity::Foreign);
}

#[test]
fn nobody_and_somebody_slow_are_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let error = to(&url, Duration::from_millis(200)).get("memory/livez").unwrap_err();
    assert!(matches!(error, ClientError::TimedOut { .. }), "{error}");
    drop(listener);
    let error = to(&url, WAIT).get("memory/livez").unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
    assert!(error.to_string().starts_with(&url), "{error}");
    assert!(!error.to_string().contains("zz"), "{error}");
}

#[test]
fn an_https_url_speaks_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let hello = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut first = [0; 3];
        stream.read_exact(&mut first).unwrap();
        drop(stream.write_all(b"HTTP/1.1 400 no TLS here\r\n\r\n"));
        first
    });
    let base = BaseUrl::parse(&url).unwrap();
    assert!(Client::to_url(base, None, WAIT).get("memory/livez").is_err());
    assert_eq!(hello.join().unwrap(), [22, 3, 1], "a TLS handshake, and nothing in the clear");
}

#[cfg(unix)]
#[test]
fn the_socket_of_the_data_directory_comes_first() {
    let directory = tempfile::tempdir().unwrap();
    let config = config_in(directory.path(), &[("AGENT_MEMORY_SECRET", "zz")]);
    let requests = crate::support::socket_server(&config.socket(), ours(200, "{\"a\":\"\u{e9}\"}"));
    let client = Client::find(&config, WAIT).unwrap();
    assert_eq!(client.to_string(), config.socket().display().to_string());
    let (head, _) = requests.recv().unwrap();
    assert!(head.starts_with("GET /memory/livez HTTP/1.1\r\n") && !head.contains("zz"), "{head}");
    let reply = client.post("memory/search", r#"{"query":"q"}"#, &[]).unwrap();
    assert_eq!(reply.json().unwrap()["a"], "\u{e9}");
    let (head, body) = requests.recv().unwrap();
    assert!(head.contains("authorization: Bearer zz"), "{head}");
    assert_eq!(body, r#"{"query":"q"}"#);
    let error = client.post("memory/search", "{}", &[("idempotency-key", "a\r\nx: y")]).unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
    assert!(requests.try_recv().is_err(), "a header in a header goes nowhere");
}

#[cfg(unix)]
#[test]
fn an_odd_reply_on_the_socket_is_an_error() {
    for reply in [
        "HTTP/1.1 200 X\r\ncontent-length: 5\r\n\r\nabc",
        "HTTP/1.1 200 X\r\ncontent-length: x\r\n\r\n",
        "HTTP/1.1 200 X\r\ncontent-length: 99999999999\r\n\r\n",
        "HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1\r\n\r\n",
        "hello\r\n\r\n",
        "",
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        let _requests = crate::support::socket_server(&path, reply.to_owned());
        let error = Client::to_socket(path, None, WAIT).get("memory/livez").unwrap_err();
        assert!(matches!(error, ClientError::Unusable { .. }), "{reply:?}: {error}");
    }
}

#[test]
fn an_explicit_url_is_the_users_word() {
    let (url, requests) = server(foreign(200, "{}"));
    let client = Client::find(&with_secret(&url), WAIT).unwrap();
    assert!(requests.try_recv().is_err(), "nobody is asked who they are");
    assert_eq!(client.to_string(), url);
    client.get("memory/health").unwrap();
    assert!(requests.recv().unwrap().0.to_ascii_lowercase().contains("authorization: bearer zz"));
}
