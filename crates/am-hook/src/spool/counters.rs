//! What happened to deliveries, kept for `am doctor`.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::Path,
};

use crate::private;

const NAME: &str = "counters.json";

/// Totals since the data directory was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Deliveries put into the spool, but for those put there while its lock was stuck.
    pub spooled: u64,
    /// Deliveries lost because the spool was full.
    pub dropped: u64,
    /// Replies on our port from something other than an agent-memory server.
    pub foreign: u64,
    /// Deliveries a server refused for good, or that were meant for something that is no URL.
    pub refused: u64,
    /// Lines of the spool that could not be read.
    pub broken: u64,
}

impl Counters {
    fn fields(&mut self) -> [(&'static str, &mut u64); 5] {
        [
            ("spooled", &mut self.spooled),
            ("dropped", &mut self.dropped),
            ("foreign", &mut self.foreign),
            ("refused", &mut self.refused),
            ("broken", &mut self.broken),
        ]
    }
}

/// Reads the counters of a spool's directory. Counters that can't be understood start anew: they are hints.
pub(super) fn read(directory: &Path) -> io::Result<Counters> {
    let text = match fs::read(directory.join(NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Counters::default()),
        text => text?,
    };
    let stored: BTreeMap<String, u64> = serde_json::from_slice(&text).unwrap_or_default();
    let mut counters = Counters::default();
    for (name, value) in counters.fields() {
        *value = stored.get(name).copied().unwrap_or(0);
    }
    Ok(counters)
}

/// Adds to the counters. The caller holds the directory's lock.
pub(super) fn add(directory: &Path, change: &Counters) -> io::Result<()> {
    let mut change = *change;
    if change == Counters::default() {
        return Ok(());
    }
    let mut counters = read(directory)?;
    for ((_, total), (_, more)) in counters.fields().into_iter().zip(change.fields()) {
        *total = total.saturating_add(*more);
    }
    let members: Vec<String> =
        counters.fields().iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    let temporary = directory.join(format!("{NAME}.tmp"));
    let mut file = private::options().create(true).truncate(true).write(true).open(&temporary)?;
    file.write_all(format!("{{{}}}\n", members.join(",")).as_bytes())?;
    fs::rename(temporary, directory.join(NAME))
}
