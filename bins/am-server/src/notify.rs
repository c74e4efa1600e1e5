//! Telling systemd how far a start has come, where it asks (`Type=notify`).

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Sends a state such as `READY=1` to the socket that `NOTIFY_SOCKET` names: a path, or `@` and an abstract name.
pub(crate) fn notify(socket: &OsStr, state: &str) -> io::Result<()> {
    let address = match socket.as_bytes().split_first() {
        Some((b'@', name)) => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)?;
    Ok(())
}
