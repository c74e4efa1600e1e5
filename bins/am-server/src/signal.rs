//! The signals that end a server.

use std::io;

/// Waits for signals to stop. Made before the start is announced, so that none is missed.
pub(crate) struct Stop {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Stop {
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next signal.
    pub(crate) async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
impl Stop {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next signal.
    pub(crate) async fn asked(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
