//! The format of exports: one JSON object on each line.
//!
//! The first line names the format, its version and the embedder of the vectors. Every other line is one record,
//! `{"session":{..}}`, `{"memory":{..}}`, `{"observation":{..}}` or `{"log":{..}}`, with everything that belongs to it,
//! so that an export that is imported into an empty memory and exported again is equal to the byte. Instants are
//! ISO 8601 with milliseconds, digests and keys are hexadecimal.

use am_model::{
    Actor, CaptureLevel, Channel, Concept, DedupKey, Digest, Importance, Instant, LogEntry, Memory, MemoryId,
    MemoryKind, Observation, Origin, Project, Session, SessionId, StoreId, Verb, WriterId,
};
use am_service::Record;
use am_store::{Part, StoredLogEntry, StoredMemory, StoredObservation};
use serde::{Deserialize, Serialize};

/// Name of the format.
const FORMAT: &str = "agent-memory export";
/// Newest version of the format that is known here.
const VERSION: u64 = 1;

/// A line that was read.
#[derive(Debug)]
pub(crate) enum Line {
    /// The first line: what made the vectors that follow.
    Header {
        /// Canonical identity of the embedder.
        embedder: String,
    },
    /// A record.
    Record(Record),
}

/// Why a line can't be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The export is of a newer version: nothing of it can be trusted to be understood.
    Newer(u64),
    /// This line is broken.
    Broken(String),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wire {
    Header(WireHeader),
    Session(WireSession),
    Memory(Box<WireMemory>),
    Observation(WireObservation),
    Log(WireLog),
}

#[derive(Serialize, Deserialize)]
struct WireHeader {
    format: String,
    version: u64,
    embedder: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireSession {
    id: i64,
    project: String,
    session_id: String,
    started_at: String,
    updated_at: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireMemory {
    id: i64,
    memory_id: String,
    project: String,
    session_id: String,
    kind: String,
    content: String,
    concepts: Vec<String>,
    concept_parts: Vec<usize>,
    origin: String,
    importance: f64,
    created_at: String,
    version: i64,
    dedup_key: String,
    parts: Vec<WirePart>,
    derived_from: Vec<String>,
    digest_key: String,
    vector: Option<Vec<f32>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WirePart {
    session_id: String,
    bytes: usize,
    at: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireObservation {
    id: i64,
    project: String,
    session_id: String,
    event_id: String,
    origin: String,
    at: String,
    level: String,
    text: Option<String>,
    memory_id: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireLog {
    id: i64,
    writer: String,
    sequence: i64,
    at: String,
    actor: String,
    channel: String,
    verb: String,
    targets: Vec<String>,
    reason: Option<String>,
    before: Option<String>,
    after: Option<String>,
    previous: String,
}

/// Writes the first line.
pub(crate) fn header(embedder: &str) -> serde_json::Result<String> {
    let header = WireHeader { format: FORMAT.to_owned(), version: VERSION, embedder: embedder.to_owned() };
    serde_json::to_string(&Wire::Header(header))
}

/// Writes a record.
pub(crate) fn write(record: &Record) -> serde_json::Result<String> {
    let wire = match record {
        Record::Session(session) => Wire::Session(WireSession {
            id: session.id.0,
            project: session.project.as_str().to_owned(),
            session_id: session.session_id.as_str().to_owned(),
            started_at: session.started_at.to_string(),
            updated_at: session.updated_at.to_string(),
        }),
        Record::Memory(stored) => Wire::Memory(Box::new(write_memory(stored))),
        Record::Observation(stored) => Wire::Observation(WireObservation {
            id: stored.id.0,
            project: stored.observation.project.as_str().to_owned(),
            session_id: stored.observation.session_id.as_str().to_owned(),
            event_id: stored.observation.event_id.clone(),
            origin: stored.observation.origin.as_str().to_owned(),
            at: stored.observation.at.to_string(),
            level: stored.observation.level.as_str().to_owned(),
            text: stored.observation.text.clone(),
            memory_id: stored.memory_id.as_ref().map(|id| id.as_str().to_owned()),
        }),
        Record::Log(stored) => {
            let entry = &stored.entry;
            Wire::Log(WireLog {
                id: stored.id.0,
                writer: entry.writer.to_string(),
                sequence: entry.sequence,
                at: entry.at.to_string(),
                actor: entry.actor.0.clone(),
                channel: entry.channel.as_str().to_owned(),
                verb: entry.verb.as_str().to_owned(),
                targets: entry.targets.iter().map(|id| id.as_str().to_owned()).collect(),
                reason: entry.reason.clone(),
                before: entry.before.map(|digest| digest.to_string()),
                after: entry.after.map(|digest| digest.to_string()),
                previous: entry.previous.to_string(),
            })
        }
    };
    serde_json::to_string(&wire)
}

fn write_memory(stored: &StoredMemory) -> WireMemory {
    let memory = &stored.memory;
    WireMemory {
        id: memory.id.0,
        memory_id: memory.memory_id.as_str().to_owned(),
        project: memory.project.as_str().to_owned(),
        session_id: memory.session_id.as_str().to_owned(),
        kind: memory.kind.as_str().to_owned(),
        content: memory.content.clone(),
        concepts: memory.concepts.iter().map(|concept| concept.as_str().to_owned()).collect(),
        concept_parts: stored.concept_parts.clone(),
        origin: memory.origin.as_str().to_owned(),
        importance: memory.importance.get(),
        created_at: memory.created_at.to_string(),
        version: memory.version,
        dedup_key: stored.dedup_key.to_string(),
        parts: stored
            .parts
            .iter()
            .map(|part| WirePart {
                session_id: part.session_id.as_str().to_owned(),
                bytes: part.bytes,
                at: part.at.to_string(),
            })
            .collect(),
        derived_from: stored.derived_from.iter().map(|id| id.as_str().to_owned()).collect(),
        digest_key: Digest(stored.digest_key).to_string(),
        vector: stored.vector.clone(),
    }
}

/// Reads a line.
pub(crate) fn read(line: &[u8]) -> Result<Line, Unreadable> {
    let wire: Wire =
        serde_json::from_slice(line).map_err(|error| Unreadable::Broken(without_place(&error)))?;
    if let Wire::Header(WireHeader { format, version, embedder }) = wire {
        return match (format == FORMAT, version) {
            (false, _) => Err(Unreadable::Broken("the format is another product's".to_owned())),
            (true, VERSION) => Ok(Line::Header { embedder }),
            (true, version) => Err(Unreadable::Newer(version)),
        };
    }
    let wrong = |field| Unreadable::Broken(format!("the field {field} is unusable"));
    read_record(wire).map(Line::Record).map_err(wrong)
}

/// Says what is wrong with a line without quoting it, and without the place: lines have numbers of their own.
fn without_place(error: &serde_json::Error) -> String {
    if error.is_data() {
        // The text may quote names and values of the line.
        let text = error.to_string();
        let text = text.split(" at line ").next().unwrap_or_default();
        return am_model::text::cut_with_dots(&crate::output::one_line(text), 160);
    }
    "not JSON".to_owned()
}

/// Reads a record, or names the field that can't be.
fn read_record(wire: Wire) -> Result<Record, &'static str> {
    Ok(match wire {
        Wire::Header(_) => return Err("header"),
        Wire::Session(wire) => Record::Session(Session {
            id: StoreId(wire.id),
            project: Project::from_stored(wire.project),
            session_id: SessionId::from_stored(wire.session_id),
            started_at: Instant::parse(&wire.started_at).ok_or("startedAt")?,
            updated_at: Instant::parse(&wire.updated_at).ok_or("updatedAt")?,
        }),
        Wire::Memory(wire) => Record::Memory(Box::new(read_memory(*wire)?)),
        Wire::Observation(wire) => Record::Observation(Box::new(StoredObservation {
            id: StoreId(wire.id),
            observation: Observation {
                project: Project::from_stored(wire.project),
                session_id: SessionId::from_stored(wire.session_id),
                event_id: wire.event_id,
                origin: Origin::from_stored(wire.origin),
                at: Instant::parse(&wire.at).ok_or("at")?,
                level: CaptureLevel::parse(&wire.level).ok_or("level")?,
                text: wire.text,
            },
            memory_id: wire.memory_id.map(MemoryId::from_stored),
        })),
        Wire::Log(wire) => Record::Log(Box::new(StoredLogEntry {
            id: StoreId(wire.id),
            entry: LogEntry {
                writer: WriterId(from_hexadecimal(&wire.writer).ok_or("writer")?),
                sequence: wire.sequence,
                at: Instant::parse(&wire.at).ok_or("at")?,
                actor: Actor(wire.actor),
                channel: Channel::parse(&wire.channel).ok_or("channel")?,
                verb: Verb::parse(&wire.verb).ok_or("verb")?,
                targets: wire.targets.into_iter().map(MemoryId::from_stored).collect(),
                reason: wire.reason,
                before: wire.before.map(|text| digest(&text).ok_or("before")).transpose()?,
                after: wire.after.map(|text| digest(&text).ok_or("after")).transpose()?,
                previous: digest(&wire.previous).ok_or("previous")?,
            },
        })),
    })
}

fn read_memory(wire: WireMemory) -> Result<StoredMemory, &'static str> {
    let part = |part: WirePart| {
        let at = Instant::parse(&part.at).ok_or("parts")?;
        Ok(Part { session_id: SessionId::from_stored(part.session_id), bytes: part.bytes, at })
    };
    Ok(StoredMemory {
        memory: Memory {
            id: StoreId(wire.id),
            memory_id: MemoryId::from_stored(wire.memory_id),
            project: Project::from_stored(wire.project),
            session_id: SessionId::from_stored(wire.session_id),
            kind: MemoryKind::parse(&wire.kind).ok_or("kind")?,
            content: wire.content,
            origin: Origin::from_stored(wire.origin),
            importance: Importance::new(wire.importance).map_err(|_| "importance")?,
            created_at: Instant::parse(&wire.created_at).ok_or("createdAt")?,
            version: wire.version,
            concepts: wire.concepts.into_iter().map(Concept::from_stored).collect(),
        },
        concept_parts: wire.concept_parts,
        dedup_key: DedupKey::from_hex(&wire.dedup_key).ok_or("dedupKey")?,
        vector: wire.vector,
        parts: wire.parts.into_iter().map(part).collect::<Result<_, &'static str>>()?,
        derived_from: wire.derived_from.into_iter().map(MemoryId::from_stored).collect(),
        digest_key: from_hexadecimal(&wire.digest_key).ok_or("digestKey")?,
    })
}

fn digest(text: &str) -> Option<Digest> {
    from_hexadecimal(text).map(Digest)
}

fn from_hexadecimal<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    // Only what is written is read: an import must not change the bytes of the next export.
    if digits.len() != 2 * N || !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}
