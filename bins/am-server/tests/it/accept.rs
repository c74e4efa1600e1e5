//! The accept loop under clients that are slow, many, greedy or strange.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use am_server::{Acceptor, Limits};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::client::connect;

/// Bytes of the reply to `/large`: more than the system's buffers take.
const LARGE: usize = 64 << 20;

#[derive(Clone)]
struct Sized;

impl tower::Service<Request<Incoming>> for Sized {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = std::future::Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let size = if request.uri().path() == "/large" { LARGE } else { 2 };
        std::future::ready(Ok(Response::new(Full::new(Bytes::from(vec![b'x'; size])))))
    }
}

/// An acceptor at work on a free port.
struct Served {
    runtime: Runtime,
    acceptor: Acceptor,
    port: u16,
}

fn serve(limits: Limits) -> Served {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (acceptor, port) = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let acceptor = Acceptor::new(limits);
        acceptor.serve(listener, Sized);
        (acceptor, port)
    });
    Served { runtime, acceptor, port }
}

fn ask(stream: &mut TcpStream, path: &str) {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).unwrap();
}

/// Reads until the reply to [`ask`] has come whole; tells whether it did.
fn hears_reply(stream: &mut TcpStream) -> bool {
    let mut received = vec![];
    let mut buffer = [0; 1024];
    while !received.ends_with(b"\r\n\r\nxx") {
        match stream.read(&mut buffer) {
            Ok(length @ 1..) => received.extend(buffer.iter().take(length)),
            _ => return false,
        }
    }
    true
}

fn is_closed(stream: &mut TcpStream) -> bool {
    let mut rest = vec![];
    stream.read_to_end(&mut rest).is_ok() || stream.read(&mut [0]).is_ok_and(|length| length == 0)
}

#[test]
fn a_head_that_never_ends_is_given_up() {
    let served = serve(Limits { header_time: Duration::from_millis(200), ..Limits::default() });
    let mut silent = connect(served.port);
    let mut slow = connect(served.port);
    slow.write_all(b"GET / HTTP/1.1\r\nhost: loc").unwrap();
    assert!(is_closed(&mut silent) && is_closed(&mut slow));
}

#[test]
fn an_idle_connection_is_kept_for_a_while_and_not_for_good() {
    let served = serve(Limits { header_time: Duration::from_millis(500), ..Limits::default() });
    let mut stream = connect(served.port);
    for _ in 0..3 {
        ask(&mut stream, "/");
        assert!(hears_reply(&mut stream));
    }
    assert!(is_closed(&mut stream));
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let served = serve(Limits { header_bytes: 8192, ..Limits::default() });
    let mut stream = connect(served.port);
    let padding = "x".repeat(20_000);
    // The reply may come before all is sent.
    drop(
        stream.write_all(
            format!("GET / HTTP/1.1\r\nhost: localhost\r\nx-padding: {padding}\r\n\r\n").as_bytes(),
        ),
    );
    let mut reply = [0; 12];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(&reply, b"HTTP/1.1 431");
}

#[test]
fn a_connection_too_many_waits_for_its_turn() {
    let served = serve(Limits { connections: 2, ..Limits::default() });
    let mut first = connect(served.port);
    let mut second = connect(served.port);
    for stream in [&mut first, &mut second] {
        ask(stream, "/");
        assert!(hears_reply(stream));
    }
    let mut third = connect(served.port);
    ask(&mut third, "/");
    third.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(!hears_reply(&mut third), "two connections at most");
    drop(first);
    third.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert!(hears_reply(&mut third));
}

#[test]
fn a_reply_that_no_one_takes_is_given_up() {
    let served =
        serve(Limits { connections: 1, write_time: Duration::from_millis(200), ..Limits::default() });
    let mut greedy = connect(served.port);
    ask(&mut greedy, "/large");
    let mut next = connect(served.port);
    ask(&mut next, "/");
    assert!(hears_reply(&mut next), "the place is free again");
    drop(greedy);
}

#[test]
fn a_client_may_end_its_side_before_it_hears_the_reply() {
    let served = serve(Limits::default());
    let mut stream = connect(served.port);
    ask(&mut stream, "/");
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(hears_reply(&mut stream));
}

#[test]
fn the_end_waits_for_no_idle_connection() {
    let served = serve(Limits::default());
    let mut idle = connect(served.port);
    ask(&mut idle, "/");
    assert!(hears_reply(&mut idle));
    let started = Instant::now();
    served.runtime.block_on(served.acceptor.stop(Duration::from_secs(60)));
    assert!(started.elapsed() < Duration::from_secs(30));
    assert!(is_closed(&mut idle));
    assert!(TcpStream::connect(("127.0.0.1", served.port)).is_err());
}
