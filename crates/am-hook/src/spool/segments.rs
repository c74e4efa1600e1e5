//! The spool's files: their names, their order, their sizes.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::identifier;

pub(super) const LOCK_NAME: &str = "lock";

const WAITING: &str = ".jsonl";
const CLAIMED: &str = ".claim";
const TEMPORARY: &str = ".tmp";

/// After this long, a file under construction belongs to a process that died.
const LEFTOVER_AGE: Duration = Duration::from_secs(3600);

/// A file of lines.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    /// The name without its ending: 16 hexadecimal digits of the milliseconds of its birth, `-`, 8 random
    /// digits. Ordered by age.
    pub(super) name: String,
    /// Whether a drainer has taken it.
    pub(super) claimed: bool,
    /// Its size.
    pub(super) bytes: u64,
}

impl Segment {
    /// Names a new segment, younger than all that are there even if the clock was set back.
    pub(super) fn fresh(listing: &Listing) -> Self {
        let now =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |age| age.as_millis() as u64);
        let youngest = listing
            .segments
            .last()
            .and_then(|segment| u64::from_str_radix(segment.name.get(..16)?, 16).ok())
            .map_or(0, |birth| birth.saturating_add(1));
        let random = identifier::fresh();
        let name = format!("{:016x}-{}", now.max(youngest), random.get(..8).unwrap_or_default());
        Self { name, claimed: false, bytes: 0 }
    }

    pub(super) fn path(&self, directory: &Path) -> PathBuf {
        directory.join(format!("{}{}", self.name, if self.claimed { CLAIMED } else { WAITING }))
    }

    pub(super) fn temporary_path(&self, directory: &Path) -> PathBuf {
        directory.join(format!("{}{TEMPORARY}", self.name))
    }

    /// Renames the file to what it is called while it is claimed. Replaces nothing: where something else has that
    /// name, or the one to go back to, a longer one that follows it in order is taken. The caller holds the
    /// directory's lock.
    pub(super) fn claim(&mut self, directory: &Path) -> io::Result<()> {
        let now = self.path(directory);
        let is_taken = |segment: &Self| {
            [true, false].into_iter().any(|claimed| {
                let path = Self { claimed, ..segment.clone() }.path(directory);
                path != now && fs::symlink_metadata(path).is_ok()
            })
        };
        let mut renamed = Self { claimed: true, ..self.clone() };
        while is_taken(&renamed) {
            renamed.name.push('0');
        }
        let path = renamed.path(directory);
        if path != now {
            fs::rename(now, path)?;
        }
        *self = renamed;
        Ok(())
    }

    fn parse(file_name: &str) -> Option<Self> {
        let (name, claimed) = match file_name.strip_suffix(WAITING) {
            Some(name) => (name, false),
            None => (file_name.strip_suffix(CLAIMED)?, true),
        };
        Some(Self { name: name.to_owned(), claimed, bytes: 0 })
    }
}

/// What is in the spool's directory.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The segments, oldest first.
    pub(super) segments: Vec<Segment>,
    leftovers: Vec<String>,
}

impl Listing {
    /// Lists a directory; one that is not there is empty.
    pub(super) fn read(directory: &Path) -> io::Result<Self> {
        let mut listing = Self::default();
        let entries = match fs::read_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listing),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let file_name = entry.file_name();
            let Some(file_name) = file_name.to_str() else { continue };
            if file_name.ends_with(TEMPORARY) {
                listing.leftovers.push(file_name.to_owned());
            } else if let Some(mut segment) = Segment::parse(file_name) {
                // Gone between the listing and now: settled.
                let Ok(metadata) = entry.metadata() else { continue };
                // A directory, a pipe, a link: none of ours, and nothing to follow or to wait for.
                if !metadata.is_file() {
                    continue;
                }
                segment.bytes = metadata.len();
                listing.segments.push(segment);
            }
        }
        listing.segments.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(listing)
    }

    /// Removes files that were under construction when their process died. Best effort.
    pub(super) fn remove_leftovers(&self, directory: &Path) {
        for file_name in &self.leftovers {
            let path = directory.join(file_name);
            let age = fs::symlink_metadata(&path).and_then(|metadata| metadata.modified()).ok();
            if age.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > LEFTOVER_AGE) {
                drop(fs::remove_file(path));
            }
        }
    }
}

/// Counts the lines of a file from where it stands.
pub(super) fn count_lines(file: &mut File) -> io::Result<u64> {
    let mut buffer = [0; 16 * 1024];
    let mut lines = 0;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(lines);
        }
        lines += buffer.iter().take(count).filter(|byte| **byte == b'\n').count() as u64;
    }
}
