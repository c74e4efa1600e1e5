//! The same answers without a projection, by walking the narrow tables: for processes with a small budget.

use am_embed::analysis::{AnalysedText, TermHash};
use am_fusion::bm25;
use am_store::StoreError;
use rusqlite::{Connection, params};

use super::build::parse;
use super::near_duplicate::{reaches, sizes_fit};
use super::vector::{Bounded, Collector, margin, parts, quantise, rescore};
use super::{Found, Hidden, best};
use crate::row::storage_error;
use crate::schema::narrow_key;

/// A document that holds at least one query term.
struct Candidate {
    id: i64,
    expired: bool,
    length: u32,
    /// Where its hits end; they begin where those of the candidate before end.
    hits: usize,
}

/// Calls `visit` with store id, creation time and analysed terms of every ranked memory of a project.
pub(super) fn each_document(
    connection: &Connection,
    project: i64,
    mut visit: impl FnMut(i64, i64, &[u8]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let first = narrow_key(project, 0);
    let mut statement = connection
        .prepare_cached("SELECT key, created_at, value FROM terms WHERE key BETWEEN ?1 AND ?2 ORDER BY key")
        .map_err(storage_error)?;
    let mut rows = statement.query(params![first, narrow_key(project + 1, 0) - 1]).map_err(storage_error)?;
    while let Some(row) = rows.next().map_err(storage_error)? {
        let key: i64 = row.get(0).map_err(storage_error)?;
        let created = row.get(1).map_err(storage_error)?;
        let value = row.get_ref(2).map_err(storage_error)?;
        visit(key - first, created, value.as_blob().map_err(|error| storage_error(error.into()))?)?;
    }
    Ok(())
}

/// As [`super::Projection::lexical`].
pub(crate) fn scan_lexical(
    connection: &Connection,
    project: i64,
    terms: &[TermHash],
    limit: usize,
    expired_before: i64,
    hidden: &mut Hidden,
) -> Result<Vec<Found>, StoreError> {
    let (mut documents, mut total_length) = (0_u64, 0_u64);
    let mut containing = vec![0_u64; terms.len()];
    let mut candidates = Vec::new();
    // Which query term, how often: of all candidates, for they may be many.
    let mut hits: Vec<(u32, u8)> = Vec::new();
    each_document(connection, project, |id, created, value| {
        let view = parse(value)?;
        documents += 1;
        total_length += u64::from(view.length());
        let before = hits.len();
        for (number, (term, count)) in terms.iter().zip(&mut containing).enumerate() {
            let frequency = view.frequency(*term);
            if frequency > 0 {
                *count += 1;
                hits.push((number as u32, frequency));
            }
        }
        if hits.len() > before {
            let (expired, length) = (created < expired_before, view.length());
            candidates.push(Candidate { id, expired, length, hits: hits.len() });
        }
        Ok(())
    })?;
    let average = total_length as f64 / documents.max(1) as f64;
    let weights: Vec<f64> = containing.iter().map(|count| bm25::idf(documents, *count)).collect();
    let mut begin = 0;
    let found: Vec<(bool, Found)> = candidates
        .into_iter()
        .map(|candidate| {
            let own = hits.get(begin..candidate.hits).unwrap_or_default();
            begin = candidate.hits;
            let length = f64::from(candidate.length);
            let score = own
                .iter()
                .filter_map(|(term, frequency)| Some((weights.get(*term as usize)?, f64::from(*frequency))))
                .map(|(idf, frequency)| bm25::term_score(*idf, frequency, length, average))
                .sum();
            (candidate.expired, Found { id: candidate.id, score })
        })
        .collect();
    Ok(best(found, limit, hidden))
}

/// As [`super::Projection::vector`].
pub(crate) fn scan_vector(
    connection: &Connection,
    project: i64,
    query: &[f32],
    limit: usize,
    expired_before: i64,
    hidden: &mut Hidden,
    original: impl FnMut(i64) -> Result<Option<Vec<f32>>, StoreError>,
) -> Result<Vec<Found>, StoreError> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let quantised = quantise(query);
    let first = narrow_key(project, 0);
    let mut collector = Collector::new(limit);
    // Only a lifetime makes a row's age matter.
    let mut statement = connection
        .prepare_cached(if expired_before == i64::MIN {
            "SELECT key, value, 0 FROM vec8 WHERE key BETWEEN ?1 AND ?2 ORDER BY key"
        } else {
            "SELECT v.key, v.value, t.created_at FROM vec8 v JOIN terms t ON t.key = v.key
             WHERE v.key BETWEEN ?1 AND ?2 ORDER BY v.key"
        })
        .map_err(storage_error)?;
    let mut rows = statement.query(params![first, narrow_key(project + 1, 0) - 1]).map_err(storage_error)?;
    // A sparse query needs few of a row's values.
    let wanted: Vec<(usize, i32)> = quantised
        .values
        .iter()
        .enumerate()
        .filter(|(_, value)| **value != 0)
        .map(|(dimension, value)| (dimension, i32::from(*value)))
        .collect();
    while let Some(row) = rows.next().map_err(storage_error)? {
        let key: i64 = row.get(0).map_err(storage_error)?;
        let value = row.get_ref(1).map_err(storage_error)?;
        let created: i64 = row.get(2).map_err(storage_error)?;
        let Some((scale, error, bytes)) = value.as_blob().ok().and_then(parts) else { continue };
        if bytes.len() != query.len() {
            continue;
        }
        let sum: i32 = wanted
            .iter()
            .map(|(dimension, weight)| {
                bytes.get(*dimension).map_or(0, |byte| i32::from(*byte as i8) * weight)
            })
            .sum();
        let cosine = sum as f32 * scale * quantised.scale;
        let margin = margin(&quantised, error);
        if cosine + margin >= collector.threshold {
            collector.push(Bounded { id: key - first, cosine, margin, expired: created < expired_before });
        }
    }
    rescore(collector.finish(), query, limit, hidden, original)
}

/// As [`super::Projection::near_duplicates`].
pub(crate) fn scan_near_duplicates(
    connection: &Connection,
    project: i64,
    text: &AnalysedText,
    threshold: f64,
    expired_before: i64,
) -> Result<Vec<i64>, StoreError> {
    let count = text.similarity_count();
    let mut found = Vec::new();
    if count == 0 {
        return Ok(found);
    }
    each_document(connection, project, |id, created, value| {
        let view = parse(value)?;
        if created >= expired_before && view.count() as f64 >= threshold * count as f64 - 1e-9 {
            let similar = view.iter().filter(|entry| entry.similar).count();
            if sizes_fit(count, similar, threshold)
                && reaches(count, similar, view.similarity_overlap(text), threshold)
            {
                found.push(id);
            }
        }
        Ok(())
    })?;
    Ok(found)
}
