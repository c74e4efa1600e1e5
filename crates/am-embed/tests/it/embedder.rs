//! Embedder identities and the hash embedder's promises.

use am_embed::embedder::{Cost, Embedder, EmbedderId, is_zero};
use am_embed::hash::HashEmbedder;

#[test]
fn identities_have_one_canonical_form() {
    let digest = "0123456789abcdef".repeat(4);
    let table = [
        ("hash", "contract-1", "", 384, "hash/contract-1/384".to_owned()),
        ("static", "en-384", digest.as_str(), 384, format!("static/en-384@{digest}/384")),
        ("http", "org/model:tag@v2", "", 1, "http/org/model:tag@v2/1".to_owned()),
    ];
    for (provider, model, digest, dimension, text) in table {
        let id = EmbedderId::new(provider, model, digest, dimension).unwrap();
        assert_eq!(id.to_string(), text);
        assert_eq!(EmbedderId::parse(&text).unwrap(), id);
        assert_eq!(text.parse(), Ok(id.clone()));
        assert_eq!(
            (id.provider(), id.model(), id.digest(), id.dimension()),
            (provider, model, digest, dimension)
        );
    }
}

#[test]
fn unusable_identities_are_refused_with_the_reason() {
    for (text, reason) in [
        ("", "it has no `/`"),
        ("hash", "it has no `/`"),
        ("hash/384", "it has only one `/`"),
        ("/model/384", "the provider is empty or has a `/` or a control character"),
        ("hash//384", "the model is empty or has a control character"),
        ("hash/a\nb/384", "the model is empty or has a control character"),
        ("hash/model/0", "the dimension is 0"),
        ("hash/model/-1", "the dimension is not a number"),
        ("hash/model/", "the dimension is not a number"),
        ("hash/model/4294967296", "the dimension is not a number"),
        ("hash/model/0384", "it is not in canonical form"),
        ("hash/model/+384", "it is not in canonical form"),
    ] {
        let error = EmbedderId::parse(text).unwrap_err();
        assert_eq!((error.text.as_str(), error.reason), (text, reason));
    }
    let digest = "0".repeat(64);
    assert!(EmbedderId::new("a/b", "model", "", 1).is_err());
    assert!(EmbedderId::new("a", "model", "abc", 1).is_err());
    assert!(EmbedderId::new("a", "model", &"A".repeat(64), 1).is_err());
    assert!(EmbedderId::new("a", &format!("model@{digest}"), "", 1).is_err());
}

#[test]
fn the_hash_embedder_is_inline_and_named() {
    let embedder: Box<dyn Embedder> = Box::new(HashEmbedder::new());
    assert_eq!(embedder.id().to_string(), "hash/contract-1/384");
    assert_eq!(embedder.cost(), Cost::Inline);
    assert_eq!(embedder.fusion_weight(), 0.25);
}

#[test]
fn text_without_a_token_has_the_zero_vector() {
    let embedder = HashEmbedder::new();
    for text in ["", "a b c", "检索 🚀", "Сервер"] {
        assert!(is_zero(&embedder.embed_query(text).unwrap()), "{text}");
    }
    assert!(!is_zero(&embedder.embed_query("ok").unwrap()));
    assert!(embedder.embed_documents(&[]).unwrap().is_empty());
}
