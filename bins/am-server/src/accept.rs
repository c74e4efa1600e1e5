//! The accept loop: connections with bounds, and an end that lets them finish.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio::sync::{Semaphore, mpsc, watch};

use crate::patience::Patient;

/// Pause after a connection could not be accepted, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What connections may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most connections of one listener at a time; further ones wait to be accepted.
    pub connections: usize,
    /// Longest time to send a request's head, idle time before it included.
    pub header_time: Duration,
    /// Largest head in bytes, at least 8,192.
    pub header_bytes: usize,
    /// Longest time without progress in taking a reply.
    pub write_time: Duration,
}

impl Default for Limits {
    /// 256 connections, 15 s and 32 KiB for a head, 30 s for a reply.
    fn default() -> Self {
        Self {
            connections: 256,
            header_time: Duration::from_secs(15),
            header_bytes: 32 << 10,
            write_time: Duration::from_secs(30),
        }
    }
}

/// Something that connections come from.
pub trait Listener: Send + 'static {
    /// A connection.
    type Connection: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Waits for the next connection.
    fn accept(&self) -> impl Future<Output = io::Result<Self::Connection>> + Send;
}

impl Listener for TcpListener {
    type Connection = tokio::net::TcpStream;

    async fn accept(&self) -> io::Result<Self::Connection> {
        let (connection, _) = TcpListener::accept(self).await?;
        // Replies are written whole: waiting for more would only delay them.
        connection.set_nodelay(true)?;
        Ok(connection)
    }
}

#[cfg(unix)]
impl Listener for UnixListener {
    type Connection = tokio::net::UnixStream;

    async fn accept(&self) -> io::Result<Self::Connection> {
        Ok(UnixListener::accept(self).await?.0)
    }
}

/// Serves listeners until it is told to stop.
#[derive(Debug)]
pub struct Acceptor {
    limits: Limits,
    stop: watch::Sender<bool>,
    /// Held by everything that has to end; nothing is sent.
    alive: mpsc::Sender<()>,
    ended: mpsc::Receiver<()>,
}

impl Acceptor {
    /// Makes an acceptor without listeners.
    pub fn new(limits: Limits) -> Self {
        let (alive, ended) = mpsc::channel(1);
        Self { limits, stop: watch::Sender::new(false), alive, ended }
    }

    /// Serves the connections of `listener` from now on, in a task of its own.
    pub fn serve<L, S>(&self, listener: L, service: S)
    where
        L: Listener + Sync,
        S: tower::Service<Request<Incoming>, Response = Response<Full<Bytes>>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
    {
        let limits = self.limits;
        let alive = self.alive.clone();
        let mut stop = self.stop.subscribe();
        let places = Arc::new(Semaphore::new(limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(limits.header_time)
            .max_header_size(limits.header_bytes)
            .max_buf_size(limits.header_bytes.max(8192))
            // A client may end its sending side before it hears the reply.
            .half_close(true);
        tokio::spawn(async move {
            loop {
                let next = async {
                    let place = Arc::clone(&places).acquire_owned().await;
                    (place, listener.accept().await)
                };
                let (place, accepted) = tokio::select! {
                    next = next => next,
                    () = stopped(&mut stop) => return,
                };
                let (Ok(place), Ok(connection)) = (place, accepted) else {
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                };
                let connection = TokioIo::new(Patient::new(connection, limits.write_time));
                let connection = http.serve_connection(connection, TowerToHyperService::new(service.clone()));
                let (mut stop, alive) = (stop.clone(), alive.clone());
                tokio::spawn(async move {
                    let mut connection = pin!(connection);
                    // Broken connections are the clients' affair.
                    tokio::select! {
                        _ = connection.as_mut() => {}
                        () = stopped(&mut stop) => {
                            connection.as_mut().graceful_shutdown();
                            drop(connection.await);
                        }
                    }
                    drop((place, alive));
                });
            }
        });
    }

    /// Stops accepting, and waits at most `patience` for requests under way. Idle connections are closed at once.
    pub async fn stop(self, patience: Duration) {
        let Self { stop, alive, mut ended, .. } = self;
        stop.send_replace(true);
        drop(alive);
        // What isn't done by then is cut off.
        drop(tokio::time::timeout(patience, ended.recv()).await);
    }
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An acceptor that is gone has stopped too.
    drop(stop.wait_for(|stop| *stop).await);
}
