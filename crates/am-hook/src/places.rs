//! Where things are: the data directory, the socket in it, the default address, the names on the wire.

use std::{
    ffi::OsString,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    path::PathBuf,
};

/// Name of am-server's socket in the data directory.
pub const SOCKET_NAME: &str = "am.sock";

/// Name of the spool's directory in the data directory.
pub const SPOOL_NAME: &str = "spool";

/// The reply header by which our server says who it is; its value is the server's version.
pub const IDENTITY_HEADER: &str = "x-agent-memory";

/// The request header that carries a delivery's key.
pub const IDEMPOTENCY_HEADER: &str = "idempotency-key";

/// The request header that tells when a forwarded delivery's event happened: milliseconds since 1970-01-01 UTC.
pub const EVENT_TIME_HEADER: &str = "x-agent-memory-event-time";

/// The environment variable that names the user's home directory.
pub const HOME_VARIABLE: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// Where a server listens unless told otherwise.
pub const DEFAULT_ADDRESS: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 3111));

/// Gives the data directory for an environment: `AGENT_MEMORY_DATA_DIR`, else the platform's data directory
/// plus `agent-memory`. `None` when the environment names neither. Creates nothing.
///
/// `lookup` gives the value of an environment variable; an empty value counts as unset.
pub fn data_directory(lookup: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("AGENT_MEMORY_DATA_DIR").or_else(|| Some(platform_data_directory(set)?.join("agent-memory")))
}

#[cfg(windows)]
fn platform_data_directory(set: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    set("APPDATA")
}

#[cfg(target_os = "macos")]
fn platform_data_directory(set: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    Some(set(HOME_VARIABLE)?.join("Library").join("Application Support"))
}

#[cfg(not(any(windows, target_os = "macos")))]
fn platform_data_directory(set: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    set("XDG_DATA_HOME")
        .filter(|directory| directory.is_absolute())
        .or_else(|| Some(set(HOME_VARIABLE)?.join(".local").join("share")))
}
