//! Text analysis and embedding of agent-memory: frozen tokens, search terms, concepts, the form in which
//! analysed terms are stored, the [`embedder::Embedder`] trait and the hash embedder.
//!
//! Owns what a text is reduced to before it is indexed, compared or embedded. Pure: it reads no file, clock,
//! environment or network, and keeps no state. It ranks nothing.

pub mod analysis;
pub mod embedder;
pub mod hash;
pub mod stop_words;
pub mod token;
