//! Back-ups: a consistent copy into one file, and its verified return.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use am_store::{Fault, StoreError};
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};

use crate::filesystem;
use crate::row::storage_error;
use crate::schema;
use crate::store::SqliteStore;
use crate::verify::faults_of;

/// Pages copied at once; writers get through in between.
const PAGES: i32 = 512;

/// How a back-up is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RestoreOptions {
    /// Replaces a store that holds memories.
    pub replace: bool,
    /// Takes a back-up that fails the verification, where there is no better one.
    pub accept_faults: bool,
}

impl SqliteStore {
    /// Copies the store into a new file, consistent as of one moment, and verifies the copy.
    ///
    /// `progress` gets pages done and pages in all. Returns the faults that the copy has because the store has them; it
    /// is kept all the same. What an earlier attempt that was killed has left beside the file is removed.
    ///
    /// # Errors
    /// The file exists, can't be written, or is not whole; then no file is left.
    pub fn backup(
        &self,
        destination: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<Fault>, StoreError> {
        if destination.exists() {
            return Err(StoreError::Invalid { detail: "the back-up file exists already".to_owned() });
        }
        remove_partial(destination)?;
        // A name of its own: nothing of the user's is in the way.
        let mut partial = destination.as_os_str().to_owned();
        partial.push(format!(".{:016x}.partial", rand::random::<u64>()));
        let partial = PathBuf::from(partial);
        filesystem::make_file(&partial)?;
        let result = self.copy_into(&partial, progress).and_then(|faults| {
            fs::rename(&partial, destination).map_err(|error| StoreError::Unavailable {
                detail: format!("naming the back-up: {}", error.kind()),
            })?;
            Ok(faults)
        });
        if result.is_err() && partial.exists() {
            remove(&partial)?;
        }
        result
    }

    fn copy_into(
        &self,
        partial: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<Fault>, StoreError> {
        let faults = self.read(|source, _| {
            let mut target = Connection::open(partial).map_err(storage_error)?;
            run(source, &mut target, progress)?;
            // The copy has no write-ahead log of its own: one file is the whole back-up.
            target
                .query_row("PRAGMA journal_mode = DELETE", [], |row| row.get::<_, String>(0))
                .map_err(storage_error)?;
            faults_of(&target)
        })?;
        fs::File::open(partial).and_then(|file| file.sync_all()).map_err(|error| {
            StoreError::Unavailable { detail: format!("writing the back-up: {}", error.kind()) }
        })?;
        Ok(faults)
    }

    /// Replaces the content of this store by a back-up, in one step for every process that has it open.
    ///
    /// The store gets a new id and a new log chain, so that its later rows can't be taken for the original's.
    ///
    /// # Errors
    /// The file is no store of ours, newer than this program, damaged, or has faults that were not accepted, or this
    /// store holds memories and `replace` is off. Then this store is as it was.
    pub fn restore(
        &self,
        source: &Path,
        options: RestoreOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), StoreError> {
        let source =
            Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(storage_error)?;
        schema::check_readable(&source)?;
        let application: i64 =
            source.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(storage_error)?;
        if application != schema::APPLICATION_ID {
            return Err(StoreError::Foreign);
        }
        let faults = faults_of(&source)?;
        if let Some(first) = faults.first().filter(|_| !options.accept_faults) {
            let (count, area, detail) = (faults.len(), first.area, &first.detail);
            return Err(StoreError::Damaged {
                detail: format!("the back-up has {count} faults, the first in its {area}: {detail}"),
            });
        }
        let epoch = self.read(|connection, _| {
            let held: i64 = connection
                .query_row(
                    "SELECT (SELECT count(*) FROM memory) + (SELECT count(*) FROM observation)",
                    [],
                    |row| row.get(0),
                )
                .map_err(storage_error)?;
            if held > 0 && !options.replace {
                return Err(StoreError::Invalid {
                    detail: "the store holds memories; a restore would replace them".to_owned(),
                });
            }
            schema::epoch(connection)
        })?;
        let mut target = self.writer();
        run(&source, &mut target, progress)?;
        let transaction = target.transaction().map_err(storage_error)?;
        let writer: [u8; 16] = rand::random();
        let restored = schema::epoch(&transaction)?;
        schema::put(&transaction, "epoch", &(epoch.max(restored) + 1))?;
        schema::put(&transaction, "uuid", &uuid::Uuid::new_v4().to_string())?;
        schema::put(&transaction, "writer", &writer.as_slice())?;
        schema::put(&transaction, "log_sequence", &0_i64)?;
        transaction.commit().map_err(storage_error)
    }
}

fn run(
    source: &Connection,
    target: &mut Connection,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(), StoreError> {
    let backup = Backup::new(source, target).map_err(storage_error)?;
    loop {
        let step = backup.step(PAGES).map_err(storage_error)?;
        let state = backup.progress();
        let total = state.pagecount.max(0) as u64;
        progress(total.saturating_sub(state.remaining.max(0) as u64), total);
        match step {
            rusqlite::backup::StepResult::Done => return Ok(()),
            rusqlite::backup::StepResult::More => {}
            _ => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// Removes what attempts that were killed have left beside `destination`: it holds everything a back-up does.
fn remove_partial(destination: &Path) -> Result<(), StoreError> {
    let (Some(name), Some(directory)) =
        (destination.file_name().and_then(|name| name.to_str()), parent(destination))
    else {
        return Ok(());
    };
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    for entry in entries.flatten() {
        let is_partial = entry.file_name().to_str().is_some_and(|other| {
            let rest = other.strip_prefix(name).and_then(|rest| rest.strip_prefix('.'));
            rest.and_then(|rest| rest.split_once(".partial")).is_some_and(|(drawn, ending)| {
                drawn.len() == 16
                    && drawn.bytes().all(|byte| byte.is_ascii_hexdigit())
                    && ["", "-journal", "-wal", "-shm"].contains(&ending)
            })
        });
        if is_partial {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn parent(file: &Path) -> Option<&Path> {
    let parent = file.parent()?;
    Some(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
}

fn remove(file: &Path) -> Result<(), StoreError> {
    fs::remove_file(file).map_err(|error| StoreError::Unavailable {
        detail: format!("removing a partial copy: {}", error.kind()),
    })
}
