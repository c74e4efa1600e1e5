//! The process that started us: when it dies, nobody reads what we write.

use std::time::Duration;

/// How long a dead parent goes unnoticed; its closed streams are noticed at once.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The parent at some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parent {
    #[cfg(unix)]
    process: Option<rustix::process::Pid>,
}

impl Parent {
    pub(crate) fn now() -> Self {
        Self {
            #[cfg(unix)]
            process: rustix::process::getppid(),
        }
    }

    /// Comes true when the parent has died: then the system gives us another one.
    pub(crate) async fn gone(self) {
        #[cfg(unix)]
        while rustix::process::getppid() == self.process {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        // Elsewhere only the closed streams tell.
        #[cfg(not(unix))]
        std::future::pending::<()>().await;
    }
}
