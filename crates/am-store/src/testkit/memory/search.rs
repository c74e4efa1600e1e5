//! The arms, by looking at every row.

use std::collections::{BTreeMap, BTreeSet};

use am_embed::analysis::TermHash;
use am_fusion::bm25;
use am_model::{Concept, Project};

use super::state::{Row, State, without_concepts};
use crate::{ArmHit, LiveMemory, SearchQuery, SearchReply, StoreError, VectorQuery, is_ranked};

/// A row of an arm's ranking.
struct Ranked<'a> {
    row: &'a Row,
    score: f64,
    distance: Option<f64>,
}

impl State {
    pub(super) fn search(&self, query: &SearchQuery) -> SearchReply {
        let project = &query.live.project;
        let lexical = query.terms.as_ref().map_or(Vec::new(), |terms| self.lexical(project, terms));
        let vector = query.vector.as_ref().map_or(Ok(Vec::new()), |vector| self.vector(project, vector));
        let concept = self.concept(project, &query.concepts);

        let mut reply = Reply::default();
        SearchReply {
            lexical: Ok(reply.take(&query.live, query.per_arm, lexical)),
            vector: vector.map(|ranked| reply.take(&query.live, query.per_arm, ranked)),
            concept: Ok(reply.take(&query.live, query.per_arm, concept)),
            hidden: reply.hidden.len() as u64,
            rows: reply.rows,
        }
    }

    /// Returns the rows of a project by store id.
    fn of_project(&self, project: &Project) -> Vec<&Row> {
        self.memories.values().map(|row| &**row).filter(|row| row.project() == project).collect()
    }

    fn lexical(&self, project: &Project, query: &[TermHash]) -> Vec<Ranked<'_>> {
        let documents: Vec<(&Row, u32, BTreeMap<TermHash, f64>)> = self
            .of_project(project)
            .into_iter()
            .filter_map(|row| {
                let terms = row.terms.as_ref()?;
                let searched = terms.entries.iter().filter(|entry| entry.frequency > 0);
                let frequencies = searched.map(|entry| (entry.term, f64::from(entry.frequency))).collect();
                Some((row, terms.length, frequencies))
            })
            .collect();
        let count = documents.len() as u64;
        let total: u64 = documents.iter().map(|(_, length, _)| u64::from(*length)).sum();
        let average = if count == 0 { 0.0 } else { total as f64 / count as f64 };
        let weights: Vec<(TermHash, f64)> = query
            .iter()
            .map(|term| {
                let containing = documents.iter().filter(|(_, _, terms)| terms.contains_key(term)).count();
                (*term, bm25::idf(count, containing as u64))
            })
            .collect();
        let ranked = documents.into_iter().map(|(row, length, frequencies)| {
            let scores = weights.iter().filter_map(|(term, idf)| {
                let frequency = frequencies.get(term)?;
                Some(bm25::term_score(*idf, *frequency, f64::from(length), average))
            });
            Ranked { row, score: scores.sum(), distance: None }
        });
        best_first(ranked.filter(|ranked| ranked.score > 0.0).collect())
    }

    fn vector(&self, project: &Project, query: &VectorQuery) -> Result<Vec<Ranked<'_>>, StoreError> {
        if query.embedder != self.identity.embedder {
            return Err(StoreError::EmbedderMismatch {
                stored: self.identity.embedder.clone(),
                given: query.embedder.clone(),
            });
        }
        self.check_vector(Some(&query.vector))?;
        let ranked = self.of_project(project).into_iter().filter_map(|row| {
            let vector = row.stored.vector.as_ref()?;
            let cosine: f32 = query.vector.iter().zip(vector).map(|(left, right)| left * right).sum();
            let distance = ((1.0 - cosine) / 2.0).clamp(0.0, 1.0);
            Some(Ranked { row, score: f64::from(cosine), distance: Some(f64::from(distance)) })
        });
        Ok(best_first(ranked.collect()))
    }

    fn concept(&self, project: &Project, names: &[Concept]) -> Vec<Ranked<'_>> {
        let in_creation_order = self
            .concepts
            .values()
            .filter(|(of, concept)| of == project && names.contains(concept))
            .map(|(_, concept)| concept);
        let rows = self.of_project(project);
        let mut seen = BTreeSet::new();
        in_creation_order
            .flat_map(|concept| rows.iter().filter(move |row| row.stored.memory.concepts.contains(concept)))
            .filter(|row| is_ranked(row.stored.memory.kind, self.identity.profile))
            .filter(|row| seen.insert(row.id()))
            .map(|row| Ranked { row, score: 0.0, distance: None })
            .collect()
    }
}

/// Sorts by score; the sort is stable, and rows come by store id.
fn best_first(mut ranked: Vec<Ranked<'_>>) -> Vec<Ranked<'_>> {
    ranked.sort_by(|left, right| right.score.total_cmp(&left.score));
    ranked
}

/// Rows that arms share.
#[derive(Default)]
struct Reply {
    rows: Vec<am_model::Memory>,
    places: BTreeMap<i64, usize>,
    hidden: BTreeSet<i64>,
}

impl Reply {
    /// Walks an arm's ranking until `limit` live rows are found.
    fn take(&mut self, live: &LiveMemory, limit: usize, ranked: Vec<Ranked<'_>>) -> Vec<ArmHit> {
        let mut hits = Vec::new();
        for Ranked { row, score, distance } in ranked {
            if hits.len() >= limit {
                break;
            }
            if row.is_expired(live.expired_before) {
                self.hidden.insert(row.id());
                continue;
            }
            let place = *self.places.entry(row.id()).or_insert_with(|| {
                self.rows.push(without_concepts(&row.stored.memory));
                self.rows.len() - 1
            });
            hits.push(ArmHit { row: place, score, distance });
        }
        hits
    }
}
