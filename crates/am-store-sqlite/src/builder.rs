//! The thread that builds projections, one for a store.
//!
//! An allocator keeps what it gave to a thread for that thread. Were projections built wherever a search runs, every
//! one of those threads would in time hold on to as much as the budget allows for all of them.

use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Mutex, PoisonError};

use am_store::StoreError;

use crate::projection::Projection;
use crate::read::{self, ProjectRow};
use crate::store::SqliteStore;

/// The way to the thread; it is started by the first build, and ends with the store.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    jobs: Mutex<Option<Sender<Job>>>,
}

/// One build. The project counts as being built as long as this lives.
#[derive(Debug)]
struct Job {
    store: SqliteStore,
    project: i64,
    built: SyncSender<Result<(), StoreError>>,
}

impl Drop for Job {
    fn drop(&mut self) {
        self.store.shared.cache.end_build(self.project);
    }
}

/// Has the projection of a project built, and returns where the end of it is told.
///
/// `None` where it does not fit the budget, is being built already, or no thread can be had.
pub(crate) fn build(store: &SqliteStore, project: &ProjectRow) -> Option<Receiver<Result<(), StoreError>>> {
    let cache = &store.shared.cache;
    if !cache.fits(project.memories) || !cache.begin_build(project.id) {
        return None;
    }
    let (built, told) = mpsc::sync_channel(1);
    let job = Job { store: store.clone(), project: project.id, built };
    let mut jobs = store.shared.builder.jobs.lock().unwrap_or_else(PoisonError::into_inner);
    let job = match jobs.as_ref() {
        // A thread that panicked is gone; its store is whole all the same.
        Some(jobs) => jobs.send(job).err().map(|refused| refused.0),
        None => Some(job),
    };
    if let Some(job) = job {
        let (sender, receiver) = mpsc::channel();
        std::thread::Builder::new().name("projections".to_owned()).spawn(move || work(&receiver)).ok()?;
        sender.send(job).ok()?;
        *jobs = Some(sender);
    }
    Some(told)
}

fn work(jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        let built = build_and_place(&job.store, job.project);
        // Whoever asked may have gone on without it.
        drop(job.built.send(built));
    }
}

fn build_and_place(store: &SqliteStore, id: i64) -> Result<(), StoreError> {
    let built = store.read(|transaction, known| {
        let Some(project) = read::project_by_id(transaction, id)? else { return Ok(None) };
        Projection::build(transaction, known, &project).map(Some)
    })?;
    if let Some(projection) = built {
        let bytes = projection.bytes();
        let shared = store.shared.cache.shared(id);
        *shared.write().unwrap_or_else(PoisonError::into_inner) = Some(projection);
        store.shared.cache.resized(id, bytes);
    }
    Ok(())
}
