//! The TCP listener: on loopback, or beyond it behind a secret.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, lookup_host};

use crate::error::ServeError;

/// A listener and how far it reaches.
pub(crate) struct Bound {
    pub(crate) listener: TcpListener,
    /// The port it got.
    pub(crate) port: u16,
    /// Whether other machines reach it.
    pub(crate) beyond_loopback: bool,
}

/// Listens on the first address of `host`. `localhost` is 127.0.0.1 without asking anyone.
pub(crate) async fn bind(host: &str, port: u16, has_secret: bool) -> Result<Bound, ServeError> {
    let host = host.to_owned();
    let address = match address(&host, port).await {
        Ok(address) => address,
        Err(source) => return Err(ServeError::Resolve { host, source }),
    };
    let beyond_loopback = !address.ip().to_canonical().is_loopback();
    if beyond_loopback && !has_secret {
        return Err(ServeError::Open { host });
    }
    let listening = TcpListener::bind(address).await;
    match listening.and_then(|listener| listener.local_addr().map(|bound| (listener, bound.port()))) {
        Ok((listener, port)) => Ok(Bound { listener, port, beyond_loopback }),
        Err(source) if source.kind() == io::ErrorKind::AddrInUse => {
            Err(ServeError::PortTaken { host, port, source })
        }
        Err(source) => Err(ServeError::Bind { host, port, source }),
    }
}

async fn address(host: &str, port: u16) -> io::Result<SocketAddr> {
    if host == "localhost" {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(SocketAddr::from((address, port)));
    }
    lookup_host((host, port)).await?.next().ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Writes a host as URLs do.
pub(crate) fn in_url(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}
