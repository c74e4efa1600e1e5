//! Writes, as plain data that carry their own preconditions.

use am_embed::analysis::AnalysedText;
use am_model::{
    Actor, Channel, Concept, DedupKey, Importance, Instant, Memory, MemoryId, MemoryKind, Observation,
    Origin, Project, Session, SessionId, Verb,
};

use crate::record::{StoredLogEntry, StoredMemory, StoredObservation};

/// One transaction.
///
/// A change that makes no sense is [`crate::StoreError::Invalid`] and writes nothing: a vector that is not finite or
/// not of the embedder's dimension, a threshold out of range, and what the fields below call invalid. A change that
/// writes something writes one log row, with `before` and `after` where it is about a single memory; one that
/// writes nothing writes none.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What the log says of it.
    pub audit: Audit,
    /// Identity of the analysis that made its terms; another than the store's is [`crate::StoreError::Outdated`],
    /// as another process may have begun a new epoch meanwhile. `None` where it brings none.
    pub analysis: Option<String>,
    /// What it does.
    pub action: Action,
}

/// Who changed something, when, through what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// The instant of the change: creation time of what it inserts.
    pub at: Instant,
    /// On whose behalf.
    pub actor: Actor,
    /// Through which surface.
    pub channel: Channel,
}

/// What a change does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Inserts a memory. Outcomes: `Inserted`, `Deduplicated`, `Revived`, `Repeated`, `Changed`, `NearDuplicates`.
    Save(Box<Save>),
    /// Merges into a memory. Outcomes: `Merged`, `Deduplicated`, `Revived`, `Repeated`, `Changed`, `KeyTaken`.
    Merge(Box<Merge>),
    /// Removes memories by public id. Outcome: `Forgotten`, with empty lists where none was there.
    Forget(Forget),
    /// Removes what a session brought. Outcomes: `Forgotten`, `Changed`.
    ForgetSession(ForgetSession),
    /// Appends evidence alone, and makes no session; repeats are left out, those within the list too. Outcome:
    /// `Observed`.
    Observe(Vec<Observation>),
    /// Erases the text of one observation, and removes the memory that rests on it alone: that it led to, captured
    /// (of an origin `hook:` or `import:`), with one piece of text, and with no other observation that still has its
    /// text. Outcome: `Forgotten`.
    ///
    /// The observation's key stays, so that a late delivery does not bring it back; but a key that begins with
    /// `import:` is a digest of what was said, and gives way to `erased:` and random digits, wherever a text is erased.
    ForgetObservation {
        /// Scope of the observation.
        project: Project,
        /// Its idempotency key.
        event_id: String,
    },
    /// Removes at most `limit` observations, of every project, that happened before an instant, oldest rows first.
    /// Memories they led to stay; their keys go too. Logged as `Purge`. Outcome: `Forgotten`.
    PurgeEvidence {
        /// The instant before which they happened.
        before: am_model::Instant,
        /// Most observations to remove.
        limit: usize,
    },
    /// Copies whole records in. Outcome: `Imported`.
    Import(Box<Import>),
}

/// A text ready to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Trimmed content.
    pub content: String,
    /// Key of the content in its project.
    pub dedup_key: DedupKey,
    /// Analysed terms of the store's analysis. `None`, where [`crate::is_ranked`] leaves the kind out: listed, not
    /// ranked, not probed.
    pub terms: Option<AnalysedText>,
    /// Unit vector of the store's embedder, `None` where there is nothing to embed or rank.
    pub vector: Option<Vec<f32>>,
}

/// A memory to insert.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMemory {
    /// Fresh public id; one that is taken is invalid.
    pub memory_id: MemoryId,
    /// Scope.
    pub project: Project,
    /// Session, made if new, else its `updated_at` moves, never back.
    pub session_id: SessionId,
    /// Sort of claim.
    pub kind: MemoryKind,
    /// Content and what is derived from it.
    pub text: Text,
    /// Concepts to link, in order, repeats kept.
    pub concepts: Vec<Concept>,
    /// Where it came from.
    pub origin: Origin,
    /// Weight.
    pub importance: Importance,
    /// Memories of its project whose text it quotes, each once: it goes with any of them. Such a row is never a near-duplicate
    /// candidate.
    pub derived_from: Vec<MemoryId>,
}

/// Inserts a memory unless its text is there already.
///
/// Order of the checks, all in the transaction:
/// 1. The observation was seen before -> `Repeated`. Seen: its project has one of the same `event_id`, or both keys
///    start with `delivery:` and session, origin and text are equal, their `at` no more than 2,000 ms apart. A
///    text that is missing or erased is equal to no other, a missing one included.
/// 2. The dedup key exists -> `Deduplicated`, or `Revived` where `expired_before` hides the row (its created time
///    becomes now, its version grows). The observation is appended and linked to that row. No session is touched.
///    Where that row quotes others, it gains the sources that the save names, or stands by itself from now on if the
///    save names none. The log says `Revive`, else `Merge` if sources changed, else `Observe`.
/// 3. A memory of `derived_from` is not there -> `Changed` with no rows: what it quotes may have been forgotten.
/// 4. Near-duplicates other than `except` exist -> `NearDuplicates`: rows of the project with terms, live, that quote
///    no other, with a Jaccard index of at least the threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Save {
    /// What to insert.
    pub memory: NewMemory,
    /// Jaccard threshold over similarity terms, above 0 to 1; `None` turns the probe off.
    pub near_duplicate: Option<f64>,
    /// Candidates that were looked at and are not to be merged with, at these versions.
    pub except: Vec<(MemoryId, i64)>,
    /// Rows created before this are expired: no merge candidates, and revived by a dedup hit.
    pub expired_before: Option<Instant>,
    /// The event that brought it; one of another project is invalid.
    pub observation: Option<Observation>,
}

/// Merges an incoming text into a survivor.
///
/// Checks in the transaction, in order: the observation was seen before -> `Repeated`; `incoming_key` exists ->
/// `Deduplicated` or `Revived`; the survivor is gone or not at `version` -> `Changed`; the merged text's key belongs
/// to another row -> `KeyTaken`. The first two as in [`Save`], of a text that quotes no other.
///
/// The version grows unless there is neither text nor a missing concept: then only the observation, if any, is
/// written. No session is made or moved; origin, importance, kind and times of the survivor stay.
#[derive(Clone, Debug, PartialEq)]
pub struct Merge {
    /// Row to grow.
    pub survivor: MemoryId,
    /// Version it must still have.
    pub version: i64,
    /// Key of the incoming text, which must not exist.
    pub incoming_key: DedupKey,
    /// The merged text; `None` keeps the text and links concepts only.
    pub text: Option<Text>,
    /// Bytes at the end of the merged content that the incoming text takes, a line feed before them; else invalid.
    /// What the merged text cuts from the old one is cut from its last part. Without text: not looked at.
    pub incoming_bytes: usize,
    /// Session of the incoming save, recorded with its part.
    pub session_id: SessionId,
    /// Concepts to link where they are missing, with the new part; without text that is one of no bytes.
    pub concepts: Vec<Concept>,
    /// As in [`Save`].
    pub expired_before: Option<Instant>,
    /// The event that brought it.
    pub observation: Option<Observation>,
}

/// Removes memories, what is derived from them, and the text of evidence that only they rest on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forget {
    /// Public ids, in any project; unknown ones are left out of the outcome.
    pub memory_ids: Vec<MemoryId>,
    /// `Forget`, `Delete` or `Purge`; another is invalid.
    pub verb: Verb,
    /// Why, for the log.
    pub reason: Option<String>,
    /// Where given, only rows created before it are removed, with what quotes them.
    pub created_before: Option<Instant>,
}

/// Removes everything a session brought: its memories, its parts of others, its evidence, its row.
///
/// `rewrites` must name, at their versions, exactly the memories that hold parts of this session and of others;
/// otherwise the outcome is `Changed` with those memories, and nothing is written. What quotes a rewritten memory
/// goes too, as it may quote the part that went. Its evidence is the observations of the session: their texts are
/// erased, their keys stay.
#[derive(Clone, Debug, PartialEq)]
pub struct ForgetSession {
    /// Scope.
    pub project: Project,
    /// Session.
    pub session_id: SessionId,
    /// The shared memories without this session's parts.
    pub rewrites: Vec<Rewrite>,
    /// Why, for the log.
    pub reason: Option<String>,
}

/// A shared memory with some of its parts left out. If the new key belongs to another row, it is removed instead.
///
/// Concepts that were linked with a part go with it. A row that the session made becomes the session's of its first
/// remaining part with bytes, which is made where it is missing, at that part's time. A row without such a part is
/// removed instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewrite {
    /// Row to rewrite.
    pub memory_id: MemoryId,
    /// Version it must still have.
    pub version: i64,
    /// The remaining parts with bytes joined by line feeds; a text of another length is invalid.
    pub text: Text,
}

/// Whole records to copy in: sessions, memories, observations, log rows, in this order, each by id.
///
/// Skipped are rows that are there already: sessions of the same project and id, memories of the same public id or
/// dedup key, observations of the same project and `event_id`, log rows of the same writer and sequence. Store ids
/// are kept where they are free, that is, above every id their sequence has given; else drawn anew in order. The
/// session of a memory is made where it is missing. Links to memories that are not there are kept. The log says
/// `Import` with the memories that were inserted; of sessions or log rows alone it says nothing.
///
/// Invalid: parts that don't add up to the content, concepts of parts that are not there.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Import {
    /// Sessions.
    pub sessions: Vec<Session>,
    /// Memories, with the terms to index them by (`None` as in [`Text::terms`]).
    pub memories: Vec<(StoredMemory, Option<AnalysedText>)>,
    /// Evidence.
    pub observations: Vec<StoredObservation>,
    /// Log rows of other writers, kept as they stand.
    pub log: Vec<StoredLogEntry>,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A memory was inserted.
    Inserted {
        /// Its public id.
        memory_id: MemoryId,
    },
    /// The text was there; nothing but the observation and its sources was written.
    Deduplicated {
        /// The row that has it.
        memory_id: MemoryId,
    },
    /// The text was there and expired: the row lives again from now on.
    Revived {
        /// The row that has it.
        memory_id: MemoryId,
    },
    /// The observation was delivered before; nothing was written.
    Repeated {
        /// The memory that the first delivery led to, gone or not. `None` where it led to none.
        memory_id: Option<MemoryId>,
    },
    /// Live near-duplicates exist; nothing was written. With concepts, by store id.
    NearDuplicates {
        /// Every row at or above the threshold.
        candidates: Vec<Memory>,
    },
    /// The survivor has the text.
    Merged {
        /// The survivor.
        memory_id: MemoryId,
    },
    /// A precondition about versions failed; nothing was written.
    Changed {
        /// The rows as they are now: for [`Merge`] the survivor if it is there, for [`ForgetSession`] the shared
        /// memories.
        now: Vec<StoredMemory>,
    },
    /// The merged text is another row's; nothing was written.
    KeyTaken {
        /// That row, with concepts.
        memory: Box<Memory>,
    },
    /// Rows were removed.
    Forgotten {
        /// Memories asked for that were there, in the order asked; of a session by store id, then those removed
        /// instead of being rewritten.
        memories: Vec<MemoryId>,
        /// Memories that went because they quoted one of those or of `rewritten`, by store id.
        derived: Vec<MemoryId>,
        /// Memories that lost a part, in the order of the rewrites.
        rewritten: Vec<MemoryId>,
        /// Observations whose text was erased.
        observations: u64,
    },
    /// Evidence was appended.
    Observed {
        /// New observations.
        appended: u64,
        /// Repeats that were left out.
        repeated: u64,
    },
    /// Records were copied in.
    Imported {
        /// Memories inserted.
        memories: u64,
        /// Observations inserted.
        observations: u64,
        /// Rows of any sort skipped because they were there.
        skipped: u64,
    },
}
