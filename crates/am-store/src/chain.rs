//! Digests of the log: what binds a writer's rows to one another, and a row to the memory it is about.
//!
//! Every store computes them here, so that chains verify wherever rows are copied. Digests that cover content are
//! keyed with the random key in the memory's row: when the row goes, or a part of it and the key with that, nothing in
//! the log can be guessed from.

use std::collections::BTreeMap;

use am_model::{Digest, LogEntry, Memory, WriterId};
use sha2::{Digest as _, Sha256};

use crate::Fault;

/// Names the encoding of a log row; another encoding gets another name.
const ROW: &[u8] = b"agent-memory log row 1\n";
/// Names the encoding of a memory.
const MEMORY: &[u8] = b"agent-memory memory 1\n";
/// Bytes of a block of SHA-256, which HMAC pads its key to.
const BLOCK: usize = 64;

/// What a chain's first row names as the digest of its predecessor.
pub const FIRST: Digest = Digest([0; 32]);

/// Returns the digest of a log row, which the next row of its writer carries as `previous`.
///
/// SHA-256 over the line `agent-memory log row 1` and, in order: `writer` (16 bytes), `sequence`, `at` in
/// milliseconds, `actor`, `channel`, `verb`, `targets`, `reason`, `before`, `after`, `previous` (32 bytes).
/// Numbers are 8 bytes, big-endian; a text is its length in bytes as a number, then its UTF-8; a list is its
/// length as a number, then its elements; what may be missing is one byte 0, or one byte 1 and the value.
pub fn digest_of(entry: &LogEntry) -> Digest {
    let mut encoding = Encoding(Sha256::new_with_prefix(ROW));
    encoding.bytes(&entry.writer.0);
    encoding.number(entry.sequence);
    encoding.number(entry.at.millis());
    encoding.text(&entry.actor.0);
    encoding.text(entry.channel.as_str());
    encoding.text(entry.verb.as_str());
    encoding.texts(entry.targets.iter().map(am_model::MemoryId::as_str));
    encoding.optional(entry.reason.as_ref(), |encoding, reason| encoding.text(reason));
    encoding.optional(entry.before.as_ref(), |encoding, digest| encoding.bytes(&digest.0));
    encoding.optional(entry.after.as_ref(), |encoding, digest| encoding.bytes(&digest.0));
    encoding.bytes(&entry.previous.0);
    Digest(encoding.0.finalize().into())
}

/// Returns the digest of a memory under the key of its row: the `before` and `after` of log rows.
///
/// HMAC-SHA-256 over the line `agent-memory memory 1` and, in order: `memory_id`, `project`, `session_id`, `kind`,
/// `content`, `origin`, the bits of `importance` as a number, `created_at` in milliseconds, `version`, `concepts`,
/// each encoded as in [`digest_of`]. The store id is left out: a copy may change it.
pub fn keyed_digest(key: &[u8; 32], memory: &Memory) -> Digest {
    let mut inner = Encoding(Sha256::new_with_prefix(padded(key, 0x36)));
    inner.bytes(MEMORY);
    inner.text(memory.memory_id.as_str());
    inner.text(memory.project.as_str());
    inner.text(memory.session_id.as_str());
    inner.text(memory.kind.as_str());
    inner.text(&memory.content);
    inner.text(memory.origin.as_str());
    inner.bytes(&memory.importance.get().to_bits().to_be_bytes());
    inner.number(memory.created_at.millis());
    inner.number(memory.version);
    inner.texts(memory.concepts.iter().map(am_model::Concept::as_str));
    let mut outer = Sha256::new_with_prefix(padded(key, 0x5c));
    outer.update(inner.0.finalize());
    Digest(outer.finalize().into())
}

/// Returns the HMAC key block: the key, zeros, all combined with `pad`.
fn padded(key: &[u8; 32], pad: u8) -> [u8; BLOCK] {
    let mut block = [pad; BLOCK];
    block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
    block
}

/// Feeds fields to a hash so that no two lists of fields give the same bytes.
struct Encoding(Sha256);

impl Encoding {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn number(&mut self, number: i64) {
        self.bytes(&number.to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as i64);
        self.bytes(text.as_bytes());
    }

    fn texts<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a str>) {
        self.number(texts.len() as i64);
        texts.for_each(|text| self.text(text));
    }

    fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            None => self.bytes(&[0]),
            Some(value) => {
                self.bytes(&[1]);
                write(self, value);
            }
        }
    }
}

/// Checks chains row by row.
#[derive(Debug, Default)]
pub struct ChainCheck {
    ends: BTreeMap<WriterId, (i64, Digest)>,
    faults: Vec<Fault>,
}

impl ChainCheck {
    /// Starts a check of the whole log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next row. Rows of several writers may mix; those of one come by sequence.
    pub fn see(&mut self, entry: &LogEntry) {
        let (sequence, previous) = self.ends.get(&entry.writer).copied().unwrap_or((0, FIRST));
        if entry.sequence != sequence.saturating_add(1) {
            self.fault(entry, &format!("follows row {sequence}"));
        } else if entry.previous != previous {
            self.fault(entry, "does not carry the digest of the row before");
        }
        self.ends.insert(entry.writer, (entry.sequence, digest_of(entry)));
    }

    /// Returns the number of chains seen.
    pub fn chains(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Returns what is wrong. Rows cut from the end of a chain can't be seen.
    pub fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    fn fault(&mut self, entry: &LogEntry, what: &str) {
        let detail = format!("row {} of writer {} {what}", entry.sequence, entry.writer);
        self.faults.push(Fault { area: "log", detail });
    }
}
