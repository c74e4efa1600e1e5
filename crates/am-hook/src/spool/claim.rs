//! A segment in a drainer's hands.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
};

use super::{
    DRAIN_PATIENCE, Spool, SpoolError,
    counters::{self, Counters},
    line::{self, Line, SpooledDelivery},
    segments::Segment,
};
use crate::private;

/// What became of a waiting delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It arrived: forget it.
    Delivered,
    /// Not now: it waits on.
    Keep,
    /// It will never be taken: forget it and count it.
    Refused,
}

/// What a drain did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drained {
    /// Deliveries that arrived.
    pub delivered: u64,
    /// Deliveries that wait on.
    pub kept: u64,
    /// Deliveries refused for good.
    pub refused: u64,
    /// Lines that could not be read, removed.
    pub broken: u64,
}

impl Drained {
    /// Adds another drain's figures.
    pub fn add(&mut self, other: &Self) {
        self.delivered += other.delivered;
        self.kept += other.kept;
        self.refused += other.refused;
        self.broken += other.broken;
    }
}

/// Deliveries that no one else delivers while this value lives. Dropped without [`Claim::settle`], they all
/// wait on.
#[derive(Debug)]
pub struct Claim {
    spool: Spool,
    segment: Segment,
    /// Locked while it is open.
    file: File,
    deliveries: Vec<SpooledDelivery>,
    /// The line of each delivery, as it was written.
    lines: Vec<Vec<u8>>,
    newer: Vec<Vec<u8>>,
    broken: u64,
}

/// Takes a segment, unless another drainer has it. The caller holds the directory's lock.
pub(super) fn take(spool: &Spool, mut segment: Segment) -> io::Result<Option<Claim>> {
    let path = segment.path(&spool.directory);
    let mut file = private::options().read(true).write(true).open(&path)?;
    if file.try_lock().is_err() {
        return Ok(None);
    }
    segment.claim(&spool.directory)?;
    let mut content = Vec::with_capacity(segment.bytes as usize);
    file.read_to_end(&mut content)?;
    let mut claim = Claim {
        spool: spool.clone(),
        segment,
        file,
        deliveries: Vec::new(),
        lines: Vec::new(),
        newer: Vec::new(),
        broken: 0,
    };
    for text in content.split(|byte| *byte == b'\n').filter(|text| !text.trim_ascii().is_empty()) {
        match line::read(text) {
            Line::Delivery(delivery) => {
                claim.deliveries.push(*delivery);
                claim.lines.push(text.to_vec());
            }
            Line::Newer => claim.newer.push(text.to_vec()),
            Line::Broken => claim.broken += 1,
        }
    }
    Ok(Some(claim))
}

impl Claim {
    /// Gives the deliveries, oldest first.
    pub fn deliveries(&self) -> &[SpooledDelivery] {
        &self.deliveries
    }

    /// Gives the claim's place in the spool, for [`Spool::claim`].
    pub fn position(&self) -> &str {
        &self.segment.name
    }

    /// Removes what was delivered or refused and lets the rest wait on. `verdicts` are in the order of
    /// [`Claim::deliveries`]; a delivery without one is kept.
    pub fn settle(self, verdicts: &[Verdict]) -> Result<Drained, SpoolError> {
        let mut drained =
            Drained { broken: self.broken, kept: self.newer.len() as u64, ..Drained::default() };
        let mut kept = self.newer.clone();
        for (position, text) in self.lines.iter().enumerate() {
            match verdicts.get(position).unwrap_or(&Verdict::Keep) {
                Verdict::Delivered => drained.delivered += 1,
                Verdict::Refused => drained.refused += 1,
                Verdict::Keep => {
                    drained.kept += 1;
                    kept.push(text.clone());
                }
            }
        }
        self.replace(&kept, &drained).map_err(self.spool.failed("settle"))?;
        Ok(drained)
    }

    fn replace(&self, kept: &[Vec<u8>], drained: &Drained) -> io::Result<()> {
        let directory = &self.spool.directory;
        let _lock = self.spool.lock(DRAIN_PATIENCE)?;
        let claimed = self.segment.path(directory);
        if kept.is_empty() {
            fs::remove_file(claimed)?;
        } else {
            if kept.len() < self.lines.len() + self.newer.len() || self.broken > 0 {
                let temporary = self.segment.temporary_path(directory);
                let mut file = private::options().create(true).truncate(true).write(true).open(&temporary)?;
                file.write_all(
                    &kept.iter().flat_map(|text| [text.as_slice(), b"\n"].concat()).collect::<Vec<u8>>(),
                )?;
                fs::rename(temporary, &claimed)?;
            }
            let waiting = Segment { claimed: false, ..self.segment.clone() };
            fs::rename(claimed, waiting.path(directory))?;
        }
        counters::add(
            directory,
            &Counters { refused: drained.refused, broken: drained.broken, ..Counters::default() },
        )
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Closing would unlock too, but a child forked meanwhile may hold the file open.
        drop(self.file.unlock());
    }
}
