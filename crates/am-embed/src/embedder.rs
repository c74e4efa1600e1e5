//! What an embedder is: its identity, its cost and its two functions.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Names the vector space of an embedder. Vectors of two identities are never compared.
///
/// Canonical form: `PROVIDER/MODEL/DIMENSION`, or `PROVIDER/MODEL@DIGEST/DIMENSION` where the model has weights
/// to digest; such as `hash/contract-1/384`. Two identities are equal exactly if their canonical forms are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EmbedderId {
    provider: String,
    model: String,
    digest: String,
    dimension: u32,
}

/// A text or parts that name no embedder.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not an embedder identity: {text:?}: {reason}")]
pub struct InvalidEmbedderId {
    /// The canonical form that was refused.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl EmbedderId {
    /// Makes an identity from its parts.
    ///
    /// `provider` has no `/`. `digest` is empty or the SHA-256 of the weights as 64 lower-case hexadecimal digits.
    /// `dimension` is at least 1. Neither name is empty or holds a control character.
    ///
    /// # Errors
    /// A part breaks its rule, or the model's name ends like a digest.
    pub fn new(provider: &str, model: &str, digest: &str, dimension: u32) -> Result<Self, InvalidEmbedderId> {
        let id = Self::of(provider, model, digest, dimension);
        let plain = |name: &str| !name.is_empty() && !name.contains(char::is_control);
        let reason = if !plain(provider) || provider.contains('/') {
            "the provider is empty or has a `/` or a control character"
        } else if !plain(model) {
            "the model is empty or has a control character"
        } else if !digest.is_empty() && !is_digest(digest) {
            "the digest is not 64 lower-case hexadecimal digits"
        } else if digest.is_empty() && !split_digest(model).1.is_empty() {
            "the model's name ends like a digest"
        } else if dimension == 0 {
            "the dimension is 0"
        } else {
            return Ok(id);
        };
        Err(InvalidEmbedderId { text: id.to_string(), reason })
    }

    /// Reads the canonical form.
    ///
    /// # Errors
    /// The text is not the canonical form of any identity.
    pub fn parse(text: &str) -> Result<Self, InvalidEmbedderId> {
        let invalid = |reason| InvalidEmbedderId { text: text.to_owned(), reason };
        let (provider, rest) = text.split_once('/').ok_or(invalid("it has no `/`"))?;
        let (model, dimension) = rest.rsplit_once('/').ok_or(invalid("it has only one `/`"))?;
        let number = dimension.parse().map_err(|_| invalid("the dimension is not a number"))?;
        let (model, digest) = split_digest(model);
        let id = Self::new(provider, model, digest, number)?;
        // `+384` and `0384` are numbers too, but not the canonical ones.
        if id.to_string() == text { Ok(id) } else { Err(invalid("it is not in canonical form")) }
    }

    /// Makes an identity of parts that keep the rules of [`EmbedderId::new`].
    pub(crate) fn of(provider: &str, model: &str, digest: &str, dimension: u32) -> Self {
        Self { provider: provider.to_owned(), model: model.to_owned(), digest: digest.to_owned(), dimension }
    }

    /// Returns who computes the vectors, such as `hash`.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// Returns the model's name, such as `contract-1`.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the SHA-256 of the weights in hexadecimal, empty for a model without weights.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the length of every vector.
    pub fn dimension(&self) -> u32 {
        self.dimension
    }
}

impl fmt::Display for EmbedderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.digest.is_empty() { "" } else { "@" };
        write!(f, "{}/{}{at}{}/{}", self.provider, self.model, self.digest, self.dimension)
    }
}

impl FromStr for EmbedderId {
    type Err = InvalidEmbedderId;

    fn from_str(text: &str) -> Result<Self, InvalidEmbedderId> {
        Self::parse(text)
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn split_digest(model: &str) -> (&str, &str) {
    model.rsplit_once('@').filter(|(_, digest)| is_digest(digest)).unwrap_or((model, ""))
}

/// What an embedding costs, and so when it may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cost {
    /// Microseconds: made inside the request.
    Inline,
    /// Milliseconds of this machine: made after the write is acknowledged.
    Background,
    /// A request to another process or machine: made after the write, and it may fail for a while.
    Remote,
}

/// Why an embedder gave no vectors.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EmbedError {
    /// The provider can't be used now. The text is for logs: it may name addresses and paths.
    #[error("the embedder is unavailable: {0}")]
    Unavailable(String),
    /// The provider answered something other than one finite vector of its dimension for each text.
    #[error("the embedder gave an unusable answer: {0}")]
    InvalidAnswer(String),
}

/// Turns texts into vectors.
///
/// Vectors have the identity's dimension and length 1, in the order of the texts. A text without anything to embed
/// gives the zero vector: callers store no vector then ([`is_zero`]).
pub trait Embedder: Send + Sync {
    /// Returns the identity that is stored with every vector.
    fn id(&self) -> &EmbedderId;

    /// Returns what one embedding costs.
    fn cost(&self) -> Cost;

    /// Returns the weight of this embedder's cosine beside a BM25 score of at most 1, 0 or more.
    fn fusion_weight(&self) -> f32;

    /// Embeds texts to be stored.
    ///
    /// # Errors
    /// The provider failed; no text has a vector then.
    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Embeds a text to be searched for.
    ///
    /// # Errors
    /// The provider failed.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError>;
}

/// Returns whether `vector` is that of a text without anything to embed.
pub fn is_zero(vector: &[f32]) -> bool {
    vector.iter().all(|component| *component == 0.0)
}
