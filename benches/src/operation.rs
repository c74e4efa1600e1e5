//! Saves and searches as the service asks them of a store.

use am_embed::analysis::{Analysis, Profile};
use am_embed::embedder::{EmbedError, Embedder as _, is_zero};
use am_embed::hash::HashEmbedder;
use am_model::{Concept, DedupKey, Importance, MemoryId, MemoryKind, Origin, SessionId};
use am_store::{LiveMemory, NewMemory, Save, SearchQuery, Text, VectorQuery};

use crate::corpus::project;

/// Makes the save of a text in project `place`; with `probe` near-duplicates are looked for.
///
/// # Errors
/// The text can't be embedded.
pub fn save(content: &str, memory_id: MemoryId, place: usize, probe: bool) -> Result<Save, EmbedError> {
    let analysis = Analysis::new(Profile::Default);
    let vector = HashEmbedder::new().embed_query(content)?;
    let project = project(place);
    Ok(Save {
        memory: NewMemory {
            memory_id,
            session_id: SessionId::from_stored("bench"),
            kind: MemoryKind::Note,
            text: Text {
                content: content.to_owned(),
                dedup_key: DedupKey::of(&project, content),
                terms: Some(analysis.analyse(content)),
                vector: (!is_zero(&vector)).then_some(vector),
            },
            project,
            concepts: analysis.concepts(content).into_iter().map(Concept::from_stored).collect(),
            origin: Origin::from_stored("bench"),
            importance: Importance::from_stored(0.5),
            derived_from: Vec::new(),
        },
        near_duplicate: probe.then_some(0.9),
        except: Vec::new(),
        expired_before: None,
        observation: None,
    })
}

/// Makes the search of project `place` by words, and with `vector` by their meaning too.
///
/// # Errors
/// The words can't be embedded.
pub fn search(words: &str, place: usize, vector: bool) -> Result<SearchQuery, EmbedError> {
    let embedder = HashEmbedder::new();
    let vector = if vector {
        let vector = embedder.embed_query(words)?;
        Some(VectorQuery { embedder: embedder.id().to_string(), vector })
    } else {
        None
    };
    Ok(SearchQuery {
        live: LiveMemory { project: project(place), expired_before: None },
        per_arm: if vector.is_some() { 50 } else { 10 },
        terms: Some(Analysis::new(Profile::Default).query(words)),
        vector,
        concepts: Vec::new(),
    })
}
