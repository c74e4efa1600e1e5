//! The private socket in the data directory: for programs of the same user, found without a port.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

/// Only the owner may connect.
const MODE: u32 = 0o600;

/// What became of the wish for the socket.
pub(crate) enum Claim {
    /// It is this server's.
    Ours(PrivateSocket),
    /// Another server has it.
    Taken,
    /// There can't be one here.
    Unusable(io::Error),
}

/// The listener, and the file that it is taken back with.
pub(crate) struct PrivateSocket {
    pub(crate) listener: UnixListener,
    pub(crate) path: OwnPath,
}

/// The socket's file; removed in the end.
pub(crate) struct OwnPath {
    path: PathBuf,
    /// Locked as long as the socket is ours, so that two servers never take a stale one over at once.
    _lock: File,
}

impl Drop for OwnPath {
    fn drop(&mut self) {
        // Left behind, it would be taken for stale.
        drop(fs::remove_file(&self.path));
    }
}

/// Listens at `path`, unless another server does. What a dead server left is taken over.
pub(crate) async fn claim(path: &Path) -> Claim {
    if UnixStream::connect(path).await.is_ok() {
        return Claim::Taken;
    }
    match take(path) {
        Ok(Some(socket)) => Claim::Ours(socket),
        Ok(None) => Claim::Taken,
        Err(error) => Claim::Unusable(error),
    }
}

fn take(path: &Path) -> io::Result<Option<PrivateSocket>> {
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(MODE)
        .open(path.with_extension("sock.lock"))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    let own = OwnPath { path: path.to_owned(), _lock: lock };
    fs::set_permissions(path, Permissions::from_mode(MODE))?;
    Ok(Some(PrivateSocket { listener, path: own }))
}
