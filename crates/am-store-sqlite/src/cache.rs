//! The projections of one process, under a byte budget: the least recently used go first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use am_model::Project;

use crate::projection::Projection;

/// Bytes a memory takes in a projection, for the decision before it is built: postings and int8 vector.
const BYTES_PER_MEMORY: usize = 900;

/// A place for the projection of one project; empty until it is built.
pub(crate) type Shared = Arc<RwLock<Option<Projection>>>;

#[derive(Debug, Default)]
struct Entry {
    shared: Shared,
    bytes: usize,
    used: u64,
    building: bool,
}

#[derive(Debug, Default)]
struct Entries {
    by_project: HashMap<i64, Entry>,
    /// Row ids of projects whose projection was there, so that a save need not look.
    by_name: HashMap<Project, i64>,
    clock: u64,
}

/// The cache.
#[derive(Debug)]
pub(crate) struct ProjectionCache {
    entries: Mutex<Entries>,
    budget: usize,
}

impl ProjectionCache {
    pub(crate) fn new(budget: usize) -> Self {
        Self { entries: Mutex::default(), budget }
    }

    /// Returns whether a project of `memories` fits the budget at all; if not, it is scanned without a projection.
    pub(crate) fn fits(&self, memories: u64) -> bool {
        usize::try_from(memories)
            .is_ok_and(|memories| memories.saturating_mul(BYTES_PER_MEMORY) <= self.budget)
    }

    /// Returns the place of a project's projection.
    pub(crate) fn shared(&self, project: i64) -> Shared {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.clock += 1;
        let used = entries.clock;
        let entry = entries.by_project.entry(project).or_default();
        entry.used = used;
        Arc::clone(&entry.shared)
    }

    /// Remembers the row id of a project whose projection is there.
    pub(crate) fn named(&self, name: &Project, project: i64) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if !entries.by_name.contains_key(name) {
            entries.by_name.insert(name.clone(), project);
        }
    }

    /// Returns the place of a projection that was there.
    pub(crate) fn known(&self, name: &Project) -> Option<Shared> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.clock += 1;
        let used = entries.clock;
        let project = entries.by_name.get(name).copied()?;
        let entry = entries.by_project.get_mut(&project)?;
        entry.used = used;
        Some(Arc::clone(&entry.shared))
    }

    /// Claims the building of a project's projection; `false` where a thread is at it.
    pub(crate) fn begin_build(&self, project: i64) -> bool {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.by_project.entry(project).or_default();
        !std::mem::replace(&mut entry.building, true)
    }

    /// Gives the building of a project's projection up or back.
    pub(crate) fn end_build(&self, project: i64) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.by_project.get_mut(&project) {
            entry.building = false;
        }
    }

    /// Records the size of a project's projection, and lets others go until the budget holds.
    pub(crate) fn resized(&self, project: i64, bytes: usize) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.by_project.get_mut(&project) {
            entry.bytes = bytes;
        }
        let mut total: usize = entries.by_project.values().map(|entry| entry.bytes).sum();
        while total > self.budget {
            let oldest = entries
                .by_project
                .iter()
                .filter(|(id, _)| **id != project)
                .min_by_key(|(_, entry)| entry.used)
                .map(|(id, _)| *id);
            let Some(oldest) = oldest else { break };
            entries.by_name.retain(|_, project| *project != oldest);
            if let Some(entry) = entries.by_project.remove(&oldest) {
                total -= entry.bytes;
            }
        }
    }

    /// Lists the projects that have a place.
    pub(crate) fn projects(&self) -> Vec<i64> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.by_project.keys().copied().collect()
    }

    /// Forgets every projection.
    pub(crate) fn clear(&self) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.by_project.clear();
        entries.by_name.clear();
    }

    /// Returns the bytes all projections take.
    pub(crate) fn bytes(&self) -> usize {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.by_project.values().map(|entry| entry.bytes).sum()
    }
}
