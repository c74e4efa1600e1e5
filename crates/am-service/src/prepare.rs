//! Analysis and embedding: everything a save does before its transaction.

use am_embed::analysis::AnalysedText;
use am_embed::embedder::{Cost, EmbedError, is_zero};
use am_model::{Concept, DedupKey, MemoryKind, Project};
use am_store::{StoredMemory, Text, is_ranked};

use crate::{Service, ServiceError};

/// Bytes of text above which work leaves the thread that answers requests.
const INLINE_BYTES: usize = 32 * 1024;

impl Service {
    /// Runs `work` on `bytes` of text here, or on a thread for blocking work where it may take long.
    async fn compute<T, F>(&self, bytes: usize, embeds: bool, work: F) -> Result<T, ServiceError>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> T + Send + 'static,
    {
        if bytes <= INLINE_BYTES && (!embeds || self.embedder().cost() == Cost::Inline) {
            return Ok(work(self));
        }
        let service = self.clone();
        tokio::task::spawn_blocking(move || work(&service)).await.map_err(|_| ServiceError::Stopped)
    }

    /// Derives what is stored beside `content`.
    pub(crate) async fn prepare(
        &self,
        project: &Project,
        kind: MemoryKind,
        content: String,
    ) -> Result<Text, ServiceError> {
        let project = project.clone();
        self.compute(content.len(), true, move |service| service.derive(&project, kind, content)).await?
    }

    /// Derives what is stored beside a new `content`, its concepts too where none are `given`.
    pub(crate) async fn prepare_new(
        &self,
        project: &Project,
        kind: MemoryKind,
        content: String,
        given: Vec<Concept>,
    ) -> Result<(Text, Vec<Concept>), ServiceError> {
        let project = project.clone();
        self.compute(content.len(), true, move |service| {
            let concepts = if given.is_empty() { service.derive_concepts(&content) } else { given };
            Ok((service.derive(&project, kind, content)?, concepts))
        })
        .await?
    }

    fn derive(&self, project: &Project, kind: MemoryKind, content: String) -> Result<Text, ServiceError> {
        let dedup_key = DedupKey::of(project, &content);
        let (terms, vector) = if is_ranked(kind, self.identity().profile) {
            (Some(self.analysis().analyse(&content)), self.embed_document(&content)?)
        } else {
            (None, None)
        };
        Ok(Text { content, dedup_key, terms, vector })
    }

    /// Derives the terms of a copied memory, and its vector where the copy brings none that fits.
    pub(crate) async fn prepare_copy(
        &self,
        mut memory: StoredMemory,
    ) -> Result<(StoredMemory, Option<AnalysedText>), ServiceError> {
        if !is_ranked(memory.memory.kind, self.identity().profile) {
            memory.vector = None;
            return Ok((memory, None));
        }
        let embeds = memory.vector.is_none();
        let bytes = memory.memory.content.len();
        self.compute(bytes, embeds, move |service| {
            if embeds {
                memory.vector = service.embed_document(&memory.memory.content)?;
            }
            let terms = service.analysis().analyse(&memory.memory.content);
            Ok((memory, Some(terms)))
        })
        .await?
    }

    /// Embeds a text to be stored; `None` where it has nothing to embed, or the store's vectors are another's.
    fn embed_document(&self, content: &str) -> Result<Option<Vec<f32>>, EmbedError> {
        if !self.embeds() {
            return Ok(None);
        }
        let vectors = self.embedder().embed_documents(&[content])?;
        Ok(vectors.into_iter().next().filter(|vector| !is_zero(vector)))
    }

    /// Embeds a query; `None` where it has nothing to embed.
    pub(crate) async fn embed_query(&self, query: &str) -> Result<Option<Vec<f32>>, ServiceError> {
        let text = query.to_owned();
        let vector =
            self.compute(query.len(), true, move |service| service.embedder().embed_query(&text)).await??;
        Ok((!is_zero(&vector)).then_some(vector))
    }

    fn derive_concepts(&self, content: &str) -> Vec<Concept> {
        self.analysis().concepts(content).into_iter().map(Concept::from_stored).collect()
    }
}
