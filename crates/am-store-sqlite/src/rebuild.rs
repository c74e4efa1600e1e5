//! Rebuilding what is derived, and changing the profile.

use am_embed::analysis::{Analysis, Profile};
use am_embed::embedder::{Embedder, is_zero};
use am_model::{StoreId, Verb};
use am_store::{Audit, Scope, StoreError, StoredMemory, is_ranked};
use rusqlite::Connection;

use crate::commit::log::{self, Told};
use crate::commit::{Context, concept_enter, feed, index, unindex};
use crate::read;
use crate::row::{concept_links, storage_error};
use crate::schema::{self, narrow_key};
use crate::store::{Keep, SqliteStore};

/// Memories of one transaction.
const PAGE: usize = 500;

/// What a rebuild did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RebuildReport {
    /// Memories whose derived rows were written anew.
    pub memories: u64,
}

impl SqliteStore {
    /// Derives terms, rounded vectors and concept postings anew from content, vectors and links.
    ///
    /// Without another `profile` it goes page by page, each its own transaction, beside readers and writers. With one,
    /// everything changes in a single transaction and a new epoch begins, which every process notices in its next
    /// call; writers wait meanwhile. `embedder` makes the vectors of memories that were not ranked before, and must be
    /// the store's own. `progress` gets memories done and memories in all.
    ///
    /// # Errors
    /// The embedder is another than the store's, or fails; then nothing has changed.
    pub fn rebuild(
        &self,
        profile: Option<Profile>,
        embedder: &dyn Embedder,
        audit: &Audit,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RebuildReport, StoreError> {
        let (identity, total) = self.read(|connection, known| {
            let total: i64 = connection
                .query_row("SELECT coalesce(sum(memories), 0) FROM project", [], |row| row.get(0))
                .map_err(storage_error)?;
            Ok((known.identity.clone(), total.max(0) as u64))
        })?;
        if embedder.id().to_string() != identity.embedder {
            return Err(StoreError::EmbedderMismatch {
                stored: identity.embedder,
                given: embedder.id().to_string(),
            });
        }
        let target = profile.unwrap_or(identity.profile);
        let analysis = Analysis::new(target);
        let same_epoch = target == identity.profile && analysis.id() == identity.analysis;
        let mut done = 0;
        if same_epoch {
            let mut after = StoreId(0);
            loop {
                let next = self.write(|transaction, _| {
                    let page = read::memories_page(transaction, &Scope::AllProjects, after, PAGE)?;
                    derive(transaction, &page, analysis, embedder)?;
                    let end = page.last().map(|stored| stored.memory.id);
                    Ok((Keep::Yes, end.map(|end| (end, page.len() as u64))))
                })?;
                let Some((end, count)) = next else { break };
                after = end;
                done += count;
                progress(done, total);
            }
            self.write(|transaction, known| {
                let context = Context { transaction, audit, dimension: known.dimension };
                log::append(&context, Verb::Rebuild, &Told::default())?;
                Ok((Keep::Yes, ()))
            })?;
            return Ok(RebuildReport { memories: done });
        }
        self.write(|transaction, known| {
            let mut after = StoreId(0);
            loop {
                let page = read::memories_page(transaction, &Scope::AllProjects, after, PAGE)?;
                let Some(end) = page.last() else { break };
                after = end.memory.id;
                derive(transaction, &page, analysis, embedder)?;
                done += page.len() as u64;
                progress(done, total);
            }
            schema::put(transaction, "profile", &target.as_str())?;
            schema::put(transaction, "analysis", &analysis.id())?;
            schema::put(transaction, "epoch", &(known.epoch + 1))?;
            let context = Context { transaction, audit, dimension: known.dimension };
            log::append(&context, Verb::Rebuild, &Told::default())?;
            Ok((Keep::Yes, RebuildReport { memories: done }))
        })
    }
}

/// Writes the derived rows of a page anew.
fn derive(
    connection: &Connection,
    page: &[StoredMemory],
    analysis: Analysis,
    embedder: &dyn Embedder,
) -> Result<(), StoreError> {
    for stored in page {
        let memory = &stored.memory;
        let Some(project) = read::project(connection, &memory.project)? else { continue };
        let ranked = is_ranked(memory.kind, analysis.profile());
        let vector = match (&stored.vector, ranked) {
            (_, false) => None,
            (Some(vector), true) => Some(vector.clone()),
            (None, true) => embed(embedder, &memory.content)?,
        };
        let key = narrow_key(project.id, memory.id.0);
        unindex(connection, key)?;
        let terms = ranked.then(|| analysis.analyse(&memory.content));
        index(connection, key, memory.created_at, terms.as_ref(), vector.as_deref())?;
        let bytes: Vec<u8> = connection
            .prepare_cached("SELECT concepts FROM memory WHERE id = ?1")
            .and_then(|mut statement| statement.query_row([memory.id.0], |row| row.get(0)))
            .map_err(storage_error)?;
        let links = concept_links(&bytes);
        connection
            .prepare_cached("DELETE FROM concept_memory WHERE memory = ?1")
            .and_then(|mut statement| statement.execute([memory.id.0]))
            .map_err(storage_error)?;
        concept_enter(connection, memory.id.0, &links)?;
        feed::append(connection, project.id, memory.id.0, feed::Operation::Put, 0)?;
    }
    Ok(())
}

fn embed(embedder: &dyn Embedder, content: &str) -> Result<Option<Vec<f32>>, StoreError> {
    let vectors = embedder
        .embed_documents(&[content])
        .map_err(|_| StoreError::Unavailable { detail: "the embedder gave no vector".to_owned() })?;
    Ok(vectors.into_iter().next().filter(|vector| !is_zero(vector)))
}
