//! Where deliveries wait when no server takes them.
//!
//! A private directory in the data directory holds segments: files of one JSON line per delivery, at most
//! [`SEGMENT_BYTES`] long, named so that their order is their age. Hooks append; am-server, am-mcp and `am`
//! drain. All of it is safe across processes:
//!
//! * A short lock (`lock`) covers every change of the directory, never a delivery.
//! * A drainer claims a segment: it renames it from `.jsonl` to `.claim` and keeps its file locked while it
//!   delivers. A claim whose file is not locked was left by a process that died, and is claimed anew.
//! * A segment goes only after its deliveries are settled. Dying in between means that they are delivered
//!   again under the same keys, which the store knows.
//! * Past [`CAPACITY_BYTES`] the oldest segment goes and its deliveries are counted as dropped.
//!
//! Nothing is synced to the device: the spool survives processes, not power cuts; a hook has no time for more.

mod claim;
mod counters;
mod line;
mod segments;

use std::{
    fmt,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

pub use claim::{Claim, Drained, Verdict};
pub use counters::Counters;
pub use line::SpooledDelivery;

use self::segments::{Listing, Segment};
use crate::{delivery::Delivery, places, private};

/// Most bytes that wait.
pub const CAPACITY_BYTES: u64 = 8 * 1024 * 1024;

/// Most bytes in one segment: the unit that is claimed, and dropped.
pub const SEGMENT_BYTES: u64 = 256 * 1024;

/// Longest wait of a hook for the directory's lock.
const APPEND_PATIENCE: Duration = Duration::from_millis(200);

/// Longest wait of a drainer for the directory's lock.
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);

/// What could not be done to the spool.
#[derive(Debug)]
pub struct SpoolError {
    /// What was attempted, as in "can't ... the spool".
    pub attempt: &'static str,
    /// The file or directory it was attempted on.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl fmt::Display for SpoolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "can't {} the spool at {}: {}", self.attempt, self.path.display(), self.source)
    }
}

impl std::error::Error for SpoolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// What waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pending {
    /// How many deliveries.
    pub deliveries: u64,
    /// How many bytes they take.
    pub bytes: u64,
}

/// The spool of a data directory.
#[derive(Debug, Clone)]
pub struct Spool {
    directory: PathBuf,
}

impl Spool {
    /// Names the spool of a data directory. Creates nothing.
    pub fn of(data_directory: &Path) -> Self {
        Self { directory: data_directory.join(places::SPOOL_NAME) }
    }

    /// Appends a delivery, creating the directory if need be, and counts it as spooled. `target` is the URL it
    /// is meant for; `None` means the memory of this machine.
    pub fn append(&self, delivery: &Delivery, target: Option<&str>) -> Result<(), SpoolError> {
        self.append_counting(delivery, target, Counters::default())
    }

    /// The same, with more to add to the counters, for which no second wait for the lock is needed.
    pub(crate) fn append_counting(
        &self,
        delivery: &Delivery,
        target: Option<&str>,
        more: Counters,
    ) -> Result<(), SpoolError> {
        let line = line::write(delivery, target);
        let attempt = || -> io::Result<()> {
            private::create_directory(&self.directory)?;
            match self.lock(APPEND_PATIENCE) {
                Ok(_lock) => {
                    let mut change = Counters { spooled: 1, ..more };
                    let listing = Listing::read(&self.directory)?;
                    change.dropped = self.make_room(&listing, line.len() as u64)?;
                    self.append_line(&listing, &line)?;
                    counters::add(&self.directory, &change)
                }
                // Its holder may be stopped; a segment of our own needs no lock.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.append_apart(&line),
                Err(error) => Err(error),
            }
        };
        attempt().map_err(self.failed("append to"))
    }

    /// Adds to the counters.
    pub fn count(&self, change: &Counters) -> Result<(), SpoolError> {
        let attempt = || -> io::Result<()> {
            private::create_directory(&self.directory)?;
            let _lock = self.lock(APPEND_PATIENCE)?;
            counters::add(&self.directory, change)
        };
        attempt().map_err(self.failed("count in"))
    }

    /// Reads the counters; all zero when nothing was ever counted.
    pub fn counters(&self) -> Result<Counters, SpoolError> {
        counters::read(&self.directory).map_err(self.failed("read the counters of"))
    }

    /// Counts what waits, claimed or not.
    pub fn pending(&self) -> Result<Pending, SpoolError> {
        let attempt = || -> io::Result<Pending> {
            let mut pending = Pending::default();
            for segment in Listing::read(&self.directory)?.segments {
                // A segment settled in the meantime no longer waits.
                let Ok(mut file) = File::open(segment.path(&self.directory)) else { continue };
                pending.bytes += segment.bytes;
                pending.deliveries += segments::count_lines(&mut file)?;
            }
            Ok(pending)
        };
        attempt().map_err(self.failed("read"))
    }

    /// Claims the oldest segment younger than `after` that no one else is delivering. `None` when there is
    /// none. To visit everything that waits once, pass each claim's [`Claim::position`] to the next call.
    pub fn claim(&self, after: Option<&str>) -> Result<Option<Claim>, SpoolError> {
        let attempt = || -> io::Result<Option<Claim>> {
            // Without a lock first: usually nothing waits, and looking must not create anything.
            if Listing::read(&self.directory)?.segments.is_empty() {
                return Ok(None);
            }
            let _lock = self.lock(DRAIN_PATIENCE)?;
            let listing = Listing::read(&self.directory)?;
            listing.remove_leftovers(&self.directory);
            for segment in listing.segments {
                if after.is_some_and(|after| segment.name.as_str() <= after) {
                    continue;
                }
                if let Some(claim) = claim::take(self, segment)? {
                    return Ok(Some(claim));
                }
            }
            Ok(None)
        };
        attempt().map_err(self.failed("claim from"))
    }

    /// Delivers everything that waits, once each, and removes what was delivered or refused.
    ///
    /// Blocks; an asynchronous caller uses [`Spool::claim`] and [`Claim::settle`].
    pub fn drain(&self, mut deliver: impl FnMut(&SpooledDelivery) -> Verdict) -> Result<Drained, SpoolError> {
        let mut total = Drained::default();
        let mut after = None;
        while let Some(claim) = self.claim(after.as_deref())? {
            after = Some(claim.position().to_owned());
            let verdicts: Vec<Verdict> = claim.deliveries().iter().map(&mut deliver).collect();
            total.add(&claim.settle(&verdicts)?);
        }
        Ok(total)
    }

    fn failed(&self, attempt: &'static str) -> impl FnOnce(io::Error) -> SpoolError {
        let path = self.directory.clone();
        move |source| SpoolError { attempt, path, source }
    }

    /// Takes the directory's lock; `WouldBlock` when it stays taken for longer than `patience`.
    fn lock(&self, patience: Duration) -> io::Result<File> {
        let file = private::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.directory.join(segments::LOCK_NAME))?;
        let deadline = Instant::now() + patience;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(std::fs::TryLockError::Error(error)) => return Err(error),
                Err(std::fs::TryLockError::WouldBlock) if Instant::now() >= deadline => {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                Err(std::fs::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    /// Removes the oldest segments until `needed` bytes fit, and gives the number of deliveries lost with
    /// them. A segment that is being delivered is not lost and stays.
    fn make_room(&self, listing: &Listing, needed: u64) -> io::Result<u64> {
        let mut held: u64 = listing.segments.iter().map(|segment| segment.bytes).sum();
        let mut dropped = 0;
        for segment in &listing.segments {
            if held + needed <= CAPACITY_BYTES {
                break;
            }
            let path = segment.path(&self.directory);
            let mut file = private::options().read(true).write(true).open(&path)?;
            if file.try_lock().is_err() {
                continue;
            }
            dropped += segments::count_lines(&mut file)?;
            std::fs::remove_file(&path)?;
            held -= segment.bytes;
        }
        Ok(dropped)
    }

    /// Appends a line to the youngest segment, or to a new one when that is full, claimed or gone.
    fn append_line(&self, listing: &Listing, line: &str) -> io::Result<()> {
        let fits =
            |segment: &&Segment| !segment.claimed && segment.bytes + line.len() as u64 <= SEGMENT_BYTES;
        let path = match listing.segments.last().filter(fits) {
            Some(segment) => segment.path(&self.directory),
            None => Segment::fresh(listing).path(&self.directory),
        };
        let mut file = private::options().create(true).read(true).append(true).open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        // A process that died while writing left an open line: it must not swallow this one.
        let whole = if ends_open(&mut file, length)? { format!("\n{line}") } else { line.to_owned() };
        file.write_all(whole.as_bytes()).inspect_err(|_| {
            // Best effort: half a line would only be counted as broken.
            drop(file.set_len(length));
        })
    }

    /// Writes a segment of one line without the lock: complete before it gets a name that others look at.
    fn append_apart(&self, line: &str) -> io::Result<()> {
        let segment = Segment::fresh(&Listing::default());
        let temporary = segment.temporary_path(&self.directory);
        private::options().create_new(true).write(true).open(&temporary)?.write_all(line.as_bytes())?;
        std::fs::rename(temporary, segment.path(&self.directory))
    }
}

fn ends_open(file: &mut File, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
