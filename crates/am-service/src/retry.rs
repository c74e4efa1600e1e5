//! Patience with other writers.

use std::time::Duration;

use uuid::Uuid;

use crate::ServiceError;

/// Commits that may lose before a verb gives up: with the pauses between them, about two seconds.
const ATTEMPTS_MAX: u32 = 64;
/// Longest pause between two commits.
const PAUSE_MAX_MICROS: u64 = 64_000;

/// Counts the commits of one verb that lost against another writer.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    lost: u32,
}

impl Patience {
    /// Counts a commit that lost and can be followed at once.
    pub(crate) fn spend(&mut self) -> Result<(), ServiceError> {
        self.lost += 1;
        if self.lost < ATTEMPTS_MAX { Ok(()) } else { Err(ServiceError::Contended { attempts: self.lost }) }
    }

    /// Counts a commit that lost, and waits a random while that grows with the losses.
    ///
    /// Writers that merge into one row would otherwise meet again at each attempt, and all but one lose.
    pub(crate) async fn wait(&mut self) -> Result<(), ServiceError> {
        self.spend()?;
        let longest =
            500_u64.checked_shl(self.lost.min(16)).unwrap_or(PAUSE_MAX_MICROS).min(PAUSE_MAX_MICROS);
        let random = Uuid::new_v4().as_u64_pair().0;
        tokio::time::sleep(Duration::from_micros(random % longest)).await;
        Ok(())
    }
}
