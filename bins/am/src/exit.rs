//! Exit codes.

use std::process::ExitCode;

/// How a run ended. The numbers from 69 on are those of `sysexits.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Success = 0,
    /// Failed, or nothing was found.
    Failed = 1,
    /// The arguments make no sense.
    Usage = 2,
    /// The server or the store can't be reached.
    Unavailable = 69,
    /// A file can't be made, or the disk is full.
    CannotCreate = 73,
    /// Busy: trying again may help.
    Temporary = 75,
    /// The system forbids it.
    NoPermission = 77,
    /// A setting is unusable.
    Configuration = 78,
}

/// The codes as `am --help` shows them.
pub(crate) const TABLE: &str = "\
Exit codes:
   0  done
   1  failed, or nothing was found
   2  the arguments make no sense
  69  the server or the store can't be reached
  73  a file can't be made, or the disk is full
  75  the store is busy: trying again may help
  77  the system forbids it
  78  a setting is unusable
`am purge`, `am import transcript` and `am summarize` end with 0, 1 or 2 only; `am hook` always with 0.";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
