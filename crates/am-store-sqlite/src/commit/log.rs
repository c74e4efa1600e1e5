//! Appends to the log, in the transaction of what it tells of.

use am_model::{Actor, Channel, Digest, Instant, LogEntry, MemoryId, StoreId, Verb, WriterId};
use am_store::{StoreError, StoredLogEntry, chain};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::Context;
use crate::row::storage_error;
use crate::schema;

/// The columns that [`entry`] reads.
pub(crate) const COLUMNS: &str =
    "id, writer, sequence, at, actor, channel, verb, targets, reason, before, after, previous";

/// What one log row tells.
#[derive(Default)]
pub(crate) struct Told<'a> {
    pub(crate) targets: &'a [MemoryId],
    pub(crate) reason: Option<&'a str>,
    pub(crate) before: Option<Digest>,
    pub(crate) after: Option<Digest>,
}

/// Appends one row to this store's chain.
pub(crate) fn append(context: &Context<'_>, verb: Verb, told: &Told<'_>) -> Result<(), StoreError> {
    let writer: Vec<u8> = schema::get(context.transaction, "writer")?;
    let writer = <[u8; 16]>::try_from(writer)
        .map(WriterId)
        .map_err(|_| StoreError::Damaged { detail: "the writer id is not 16 bytes".to_owned() })?;
    let last = last(context.transaction, writer)?;
    let row = LogEntry {
        writer,
        sequence: last.as_ref().map_or(1, |last| last.sequence + 1),
        at: context.audit.at,
        actor: context.audit.actor.clone(),
        channel: context.audit.channel,
        verb,
        targets: told.targets.to_vec(),
        reason: told.reason.map(str::to_owned),
        before: told.before,
        after: told.after,
        previous: last.as_ref().map_or(chain::FIRST, chain::digest_of),
    };
    insert(context.transaction, None, &row)?;
    // What a cut tail would take away: the sequence the chain must reach.
    schema::put(context.transaction, "log_sequence", &row.sequence)
}

fn last(connection: &Connection, writer: WriterId) -> Result<Option<LogEntry>, StoreError> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM log WHERE writer = ?1 ORDER BY sequence DESC LIMIT 1"
        ))
        .and_then(|mut statement| statement.query_row([writer.0.as_slice()], entry).optional())
        .map(|row| row.map(|row| row.entry))
        .map_err(storage_error)
}

/// Inserts a row as it stands; `false` where its writer has that sequence already.
pub(crate) fn insert(connection: &Connection, id: Option<i64>, row: &LogEntry) -> Result<bool, StoreError> {
    let targets: Vec<&str> = row.targets.iter().map(MemoryId::as_str).collect();
    connection
        .prepare_cached(
            "INSERT INTO log(id, writer, sequence, at, actor, channel, verb, targets, reason, before, after, previous)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT(writer, sequence) DO NOTHING",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                id,
                row.writer.0.as_slice(),
                row.sequence,
                row.at.millis(),
                row.actor.0,
                row.channel.as_str(),
                row.verb.as_str(),
                targets.join("\n"),
                row.reason,
                row.before.map(|digest| digest.0.to_vec()),
                row.after.map(|digest| digest.0.to_vec()),
                row.previous.0.as_slice(),
            ])
        })
        .map(|inserted| inserted > 0)
        .map_err(storage_error)
}

/// Reads a row selected by [`COLUMNS`].
pub(crate) fn entry(row: &Row<'_>) -> rusqlite::Result<StoredLogEntry> {
    let digest = |column: usize| -> rusqlite::Result<Option<Digest>> {
        Ok(row.get::<_, Option<Vec<u8>>>(column)?.and_then(|bytes| bytes.try_into().ok()).map(Digest))
    };
    let unknown = |column: usize, name: &str| {
        rusqlite::Error::InvalidColumnType(column, name.to_owned(), rusqlite::types::Type::Text)
    };
    let targets: String = row.get(7)?;
    Ok(StoredLogEntry {
        id: StoreId(row.get(0)?),
        entry: LogEntry {
            writer: WriterId(row.get(1)?),
            sequence: row.get(2)?,
            at: Instant::from_millis(row.get(3)?),
            actor: Actor(row.get(4)?),
            channel: Channel::parse(row.get_ref(5)?.as_str()?).ok_or_else(|| unknown(5, "channel"))?,
            verb: Verb::parse(row.get_ref(6)?.as_str()?).ok_or_else(|| unknown(6, "verb"))?,
            targets: targets.split('\n').filter(|id| !id.is_empty()).map(MemoryId::from_stored).collect(),
            reason: row.get(8)?,
            before: digest(9)?,
            after: digest(10)?,
            previous: digest(11)?.unwrap_or(chain::FIRST),
        },
    })
}
