//! Conversions between rows and the nouns.

use am_model::{
    CaptureLevel, Importance, Instant, Memory, MemoryId, MemoryKind, Observation, Origin, Project, SessionId,
    StoreId,
};
use am_store::{StoreError, StoredObservation};
use rusqlite::{ErrorCode, Row, ffi};

/// The columns that [`memory`] reads, in its order; `concepts` last.
pub(crate) const MEMORY_COLUMNS: &str = "m.id, m.memory_id, m.session_id, m.kind, m.version, m.origin, m.importance, m.created_at, m.content, m.concepts";

/// Turns an engine error into ours; texts never carry a path.
pub(crate) fn storage_error(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Busy { waited_ms: crate::connection::BUSY_LIMIT_MS }
        }
        Some(ErrorCode::DiskFull) => StoreError::Full,
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly,
        Some(ErrorCode::NotADatabase) => StoreError::Foreign,
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { detail: "the engine says so".to_owned() },
        Some(ErrorCode::SystemIoFailure) if is_failed_write(&error) => StoreError::NoWrites,
        Some(code @ (ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure)) => {
            StoreError::Unavailable { detail: format!("{code:?}") }
        }
        _ => StoreError::Unavailable { detail: engine_text(&error) },
    }
}

/// Returns whether the disk did not take a write. The engine says "full" only where the system says so of a file: not for
/// quotas, limits, or where the log's shared memory can't grow.
fn is_failed_write(error: &rusqlite::Error) -> bool {
    const FAILED_WRITES: [i32; 4] = [
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_FSYNC,
        ffi::SQLITE_IOERR_TRUNCATE,
        ffi::SQLITE_IOERR_SHMSIZE,
    ];
    error.sqlite_error().is_some_and(|failure| FAILED_WRITES.contains(&failure.extended_code))
}

/// Returns the engine's message without what may be a path or a statement.
fn engine_text(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => failure.to_string(),
        rusqlite::Error::QueryReturnedNoRows => "a row is missing".to_owned(),
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::IntegralValueOutOfRange(..) => "a stored value has an unexpected type".to_owned(),
        _ => "the engine refused a statement".to_owned(),
    }
}

/// Reads a memory of `project` selected by [`MEMORY_COLUMNS`], without its concepts.
pub(crate) fn memory(row: &Row<'_>, project: &Project) -> rusqlite::Result<Memory> {
    let kind: &str = row.get_ref(3)?.as_str()?;
    Ok(Memory {
        id: StoreId(row.get(0)?),
        memory_id: MemoryId::from_stored(row.get::<_, String>(1)?),
        project: project.clone(),
        session_id: SessionId::from_stored(row.get::<_, String>(2)?),
        kind: MemoryKind::parse(kind).unwrap_or(MemoryKind::Note),
        version: row.get(4)?,
        origin: Origin::from_stored(row.get::<_, String>(5)?),
        importance: Importance::from_stored(row.get(6)?),
        created_at: Instant::from_millis(row.get(7)?),
        content: row.get(8)?,
        concepts: Vec::new(),
    })
}

/// A concept link as `memory.concepts` holds it: concept id and part, little endian, 8 and 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConceptLink {
    pub(crate) concept: i64,
    pub(crate) part: u32,
}

/// Reads `memory.concepts`.
pub(crate) fn concept_links(bytes: &[u8]) -> Vec<ConceptLink> {
    bytes
        .chunks_exact(12)
        .filter_map(|chunk| {
            let (concept, part) = chunk.split_first_chunk::<8>()?;
            let part = part.first_chunk::<4>()?;
            Some(ConceptLink { concept: i64::from_le_bytes(*concept), part: u32::from_le_bytes(*part) })
        })
        .collect()
}

/// Writes `memory.concepts`.
pub(crate) fn concept_bytes(links: &[ConceptLink]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(links.len() * 12);
    for link in links {
        bytes.extend_from_slice(&link.concept.to_le_bytes());
        bytes.extend_from_slice(&link.part.to_le_bytes());
    }
    bytes
}

/// Reads an observation selected as `o.id, o.session_id, o.event_id, o.origin, o.at, o.level, o.text, o.memory_id,
/// p.name`.
pub(crate) fn observation(row: &Row<'_>) -> rusqlite::Result<StoredObservation> {
    Ok(StoredObservation {
        id: StoreId(row.get(0)?),
        observation: Observation {
            project: Project::from_stored(row.get::<_, String>(8)?),
            session_id: SessionId::from_stored(row.get::<_, String>(1)?),
            event_id: row.get(2)?,
            origin: Origin::from_stored(row.get::<_, String>(3)?),
            at: Instant::from_millis(row.get(4)?),
            level: CaptureLevel::parse(row.get_ref(5)?.as_str()?).unwrap_or(CaptureLevel::Minimal),
            text: row.get(6)?,
        },
        memory_id: row.get::<_, Option<String>>(7)?.map(MemoryId::from_stored),
    })
}

/// Writes a vector as little-endian f32.
pub(crate) fn vector_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Reads a vector of little-endian f32.
pub(crate) fn vector_values(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).filter_map(|chunk| Some(f32::from_le_bytes(*chunk.first_chunk()?))).collect()
}
