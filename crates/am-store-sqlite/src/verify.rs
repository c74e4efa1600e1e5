//! Verification: integrity, log chains, counters, and projections against what they are derived from.

use std::collections::HashMap;

use am_embed::analysis::Analysis;
use am_model::{DedupKey, Digest, LogEntry, MemoryId, StoreId, Verb, WriterId};
use am_store::{Fault, Part, Scope, StoreError, VerifyReport, chain, is_ranked};
use rusqlite::{Connection, OptionalExtension};

use crate::projection::{Projection, quantise};
use crate::read;
use crate::row::storage_error;
use crate::schema::{self, narrow_key};
use crate::store::{Known, SqliteStore};

/// Rows of one page.
const PAGE: usize = 500;
/// Faults listed; further ones are only counted.
const FAULTS_MAX: usize = 50;

impl Faults {
    fn list(mut self) -> Vec<Fault> {
        if self.more > 0 {
            let detail = format!("{} further faults are not listed", self.more);
            self.listed.push(Fault { area: "verify", detail });
        }
        self.listed
    }
}

/// Collects findings.
#[derive(Default)]
struct Faults {
    listed: Vec<Fault>,
    more: u64,
}

impl Faults {
    fn add(&mut self, area: &'static str, detail: String) {
        if self.listed.len() < FAULTS_MAX {
            self.listed.push(Fault { area, detail });
        } else {
            self.more += 1;
        }
    }
}

/// Checks everything, and completes a pending erasure where it can.
pub(crate) fn verify(store: &SqliteStore) -> Result<VerifyReport, StoreError> {
    let erasure_pending = match store.finish_erasure() {
        Ok(done) => done.erasure_pending,
        // What can't be written now can be checked all the same.
        Err(StoreError::Full | StoreError::NoWrites | StoreError::ReadOnly | StoreError::Busy { .. }) => {
            store.erasure_pending()?
        }
        Err(error) => return Err(error),
    };
    store.read(|connection, known| {
        let mut faults = Faults::default();
        let checked = check(connection, known, &mut faults)?;
        projections(store, connection, known, &mut faults)?;
        Ok(VerifyReport { erasure_pending, faults: faults.list(), ..checked })
    })
}

/// Checks a file that is not this process's store, such as a back-up.
pub(crate) fn faults_of(connection: &Connection) -> Result<Vec<Fault>, StoreError> {
    let mut faults = Faults::default();
    check(connection, &Known::read(connection)?, &mut faults)?;
    Ok(faults.list())
}

fn check(connection: &Connection, known: &Known, faults: &mut Faults) -> Result<VerifyReport, StoreError> {
    integrity(connection, faults)?;
    let (log_entries, chains) = log_chains(connection, faults)?;
    let told = told(connection)?;
    let memories = rows(connection, known, &told, faults)?;
    counters(connection, faults)?;
    Ok(VerifyReport { log_entries, chains, memories, erasure_pending: false, faults: Vec::new() })
}

/// Returns what the log says each memory was last like, where it says so of that memory alone.
///
/// Copied rows of several writers can't be put in order, so memories that several changed are known by rows of this
/// store's own chain only.
fn told(connection: &Connection) -> Result<HashMap<MemoryId, Digest>, StoreError> {
    struct Last {
        writer: WriterId,
        several: bool,
        digest: Option<Digest>,
    }
    let own: Vec<u8> = schema::get(connection, "writer")?;
    let mut last: HashMap<MemoryId, Last> = HashMap::new();
    let mut statement = connection
        .prepare(&format!("SELECT {} FROM log ORDER BY id", crate::commit::log::COLUMNS))
        .map_err(storage_error)?;
    let mut rows = statement.query([]).map_err(storage_error)?;
    while let Some(row) = rows.next().map_err(storage_error)? {
        // Rows that can't be read are faults of the chain.
        let Ok(entry) = crate::commit::log::entry(row).map(|stored| stored.entry) else { continue };
        if entry.verb == Verb::Observe {
            continue;
        }
        let digest = entry.after.filter(|_| entry.targets.len() == 1);
        for target in entry.targets {
            let before = last.get(&target);
            let several = before.is_some_and(|before| before.several || before.writer != entry.writer);
            last.insert(target, Last { writer: entry.writer, several, digest });
        }
    }
    Ok(last
        .into_iter()
        .filter(|(_, last)| !last.several || last.writer.0.as_slice() == own.as_slice())
        .filter_map(|(memory_id, last)| Some((memory_id, last.digest?)))
        .collect())
}

fn integrity(connection: &Connection, faults: &mut Faults) -> Result<(), StoreError> {
    let mut statement = connection.prepare("PRAGMA integrity_check(20)").map_err(storage_error)?;
    let mut rows = statement.query([]).map_err(storage_error)?;
    while let Some(row) = rows.next().map_err(storage_error)? {
        let line: String = row.get(0).map_err(storage_error)?;
        if line != "ok" {
            faults.add("integrity", line);
        }
    }
    Ok(())
}

/// Walks every writer's chain.
fn log_chains(connection: &Connection, faults: &mut Faults) -> Result<(u64, u64), StoreError> {
    let mut last: HashMap<WriterId, LogEntry> = HashMap::new();
    let mut statement = connection
        .prepare(&format!("SELECT {} FROM log ORDER BY writer, sequence", crate::commit::log::COLUMNS))
        .map_err(storage_error)?;
    let mut rows = statement.query([]).map_err(storage_error)?;
    let mut entries = 0;
    while let Some(row) = rows.next().map_err(storage_error)? {
        entries += 1;
        let Ok(entry) = crate::commit::log::entry(row).map(|stored| stored.entry) else {
            faults.add("log", "a row can't be read".to_owned());
            continue;
        };
        let before = last.get(&entry.writer);
        let expected = before.map_or(chain::FIRST, chain::digest_of);
        let sequence = before.map_or(1, |before| before.sequence + 1);
        if entry.sequence != sequence {
            let (writer, found) = (entry.writer, entry.sequence);
            faults.add("log", format!("writer {writer}: row {found} where {sequence} was expected"));
        } else if entry.previous != expected {
            let (writer, found) = (entry.writer, entry.sequence);
            faults.add("log", format!("writer {writer}: row {found} does not follow the row before it"));
        }
        last.insert(entry.writer, entry);
    }
    let own: Vec<u8> = schema::get(connection, "writer")?;
    let reached = last
        .values()
        .find(|entry| entry.writer.0.as_slice() == own.as_slice())
        .map_or(0, |entry| entry.sequence);
    let expected: i64 = connection
        .query_row("SELECT value FROM meta WHERE key = 'log_sequence'", [], |row| row.get(0))
        .optional()
        .map_err(storage_error)?
        .unwrap_or(0);
    if reached != expected {
        faults
            .add("log", format!("this store's chain ends at row {reached}, it was written up to {expected}"));
    }
    Ok((entries, last.len() as u64))
}

/// Compares each memory with everything derived from it.
fn rows(
    connection: &Connection,
    known: &Known,
    told: &HashMap<MemoryId, Digest>,
    faults: &mut Faults,
) -> Result<u64, StoreError> {
    let analysis = Analysis::new(known.identity.profile);
    if analysis.id() != known.identity.analysis {
        let (stored, ours) = (&known.identity.analysis, analysis.id());
        faults.add("projection", format!("terms are of analysis {stored}, this program has {ours}"));
    }
    let mut after = StoreId(0);
    let mut walked = 0;
    loop {
        let page = read::memories_page(connection, &Scope::AllProjects, after, PAGE)?;
        let Some(end) = page.last() else { break };
        after = end.memory.id;
        for stored in &page {
            walked += 1;
            let memory = &stored.memory;
            let id = memory.memory_id.as_str();
            if stored.dedup_key != DedupKey::of(&memory.project, &memory.content) {
                faults.add("memory", format!("{id}: the dedup key is not its content's"));
            }
            let digest = chain::keyed_digest(&stored.digest_key, memory);
            if told.get(&memory.memory_id).is_some_and(|told| *told != digest) {
                faults.add("memory", format!("{id}: it is not as the log says it was left"));
            }
            if Part::joined_bytes(&stored.parts) != memory.content.len() {
                faults.add("memory", format!("{id}: its parts do not add up to its content"));
            }
            let Some(project) = read::project(connection, &memory.project)? else { continue };
            let key = narrow_key(project.id, memory.id.0);
            let terms: Option<(i64, Vec<u8>)> = connection
                .prepare_cached("SELECT created_at, value FROM terms WHERE key = ?1")
                .and_then(|mut statement| {
                    statement.query_row([key], |row| Ok((row.get(0)?, row.get(1)?))).optional()
                })
                .map_err(storage_error)?;
            let expected = is_ranked(memory.kind, known.identity.profile)
                .then(|| (memory.created_at.millis(), analysis.analyse(&memory.content).to_bytes()));
            if terms != expected {
                faults.add("projection", format!("{id}: its terms differ from a rebuild"));
            }
            let rounded: Option<Vec<u8>> = connection
                .prepare_cached("SELECT value FROM vec8 WHERE key = ?1")
                .and_then(|mut statement| statement.query_row([key], |row| row.get(0)).optional())
                .map_err(storage_error)?;
            if rounded != stored.vector.as_deref().map(|vector| quantise(vector).to_bytes()) {
                faults.add("projection", format!("{id}: its rounded vector differs from a rebuild"));
            }
            let entered: i64 = connection
                .prepare_cached("SELECT count(*) FROM concept_memory WHERE memory = ?1")
                .and_then(|mut statement| statement.query_row([memory.id.0], |row| row.get(0)))
                .map_err(storage_error)?;
            let distinct: std::collections::HashSet<_> = memory.concepts.iter().collect();
            if entered as usize != distinct.len() {
                faults.add("projection", format!("{id}: it is entered under {entered} concepts"));
            }
        }
    }
    Ok(walked)
}

/// Checks counters, and that nothing belongs to a memory that is gone.
fn counters(connection: &Connection, faults: &mut Faults) -> Result<(), StoreError> {
    const WRONG: [(&str, &str); 10] = [
        (
            "memories of a session without a row",
            "SELECT count(*) FROM memory m WHERE NOT EXISTS
             (SELECT 1 FROM session s WHERE s.project = m.project AND s.session_id = m.session_id)",
        ),
        (
            "projects with a wrong count of memories",
            "SELECT count(*) FROM project p
             WHERE memories != (SELECT count(*) FROM memory WHERE project = p.id)",
        ),
        (
            "projects with a wrong count of sessions",
            "SELECT count(*) FROM project p
             WHERE sessions != (SELECT count(*) FROM session WHERE project = p.id)",
        ),
        (
            "rows of terms without a memory",
            "SELECT count(*) FROM terms WHERE key & 1099511627775 NOT IN (SELECT id FROM memory)",
        ),
        (
            "vectors without a memory",
            "SELECT count(*) FROM vector WHERE key & 1099511627775 NOT IN (SELECT id FROM memory)",
        ),
        (
            "rounded vectors without a memory",
            "SELECT count(*) FROM vec8 WHERE key & 1099511627775 NOT IN (SELECT id FROM memory)",
        ),
        (
            "concepts without a memory",
            "SELECT count(*) FROM concept WHERE id NOT IN (SELECT concept FROM concept_memory)",
        ),
        (
            "concept links without a memory",
            "SELECT count(*) FROM concept_memory WHERE memory NOT IN (SELECT id FROM memory)",
        ),
        ("parts without a memory", "SELECT count(*) FROM part WHERE memory NOT IN (SELECT id FROM memory)"),
        (
            "quotations without a memory",
            "SELECT count(*) FROM derived WHERE memory NOT IN (SELECT id FROM memory)",
        ),
    ];
    for (what, query) in WRONG {
        let found: i64 = connection.query_row(query, [], |row| row.get(0)).map_err(storage_error)?;
        if found > 0 {
            faults.add("integrity", format!("{found} {what}"));
        }
    }
    Ok(())
}

/// Compares the projections this process holds with new ones.
fn projections(
    store: &SqliteStore,
    connection: &Connection,
    known: &Known,
    faults: &mut Faults,
) -> Result<(), StoreError> {
    let held: Vec<i64> = store.shared.cache.projects();
    for project in held {
        let shared = store.shared.cache.shared(project);
        let Ok(place) = shared.read() else { continue };
        let Some(projection) = place.as_ref() else { continue };
        let Some(row) = read::project_by_id(connection, project)? else { continue };
        if projection.change != row.last_change || projection.epoch != known.epoch {
            continue;
        }
        let anew = Projection::build(connection, known, &row)?;
        let same = projection.fingerprint() == anew.fingerprint()
            && projection.term_listing() == anew.term_listing()
            && projection.total_length() == anew.total_length();
        if !same {
            faults.add("projection", format!("project {project}: what is in memory differs from a rebuild"));
        }
    }
    Ok(())
}
