//! Every case of the golden files that pin the contract's analysis and embedding.

use std::collections::{BTreeMap, BTreeSet};

use am_embed::analysis::{AnalysedText, Analysis, Profile, TermHash};
use am_embed::embedder::{Embedder as _, is_zero};
use am_embed::hash::HashEmbedder;
use am_embed::{stop_words, token};
use serde_json::Value;

fn contract() -> Analysis {
    Analysis::new(Profile::Contract)
}

/// Reads a golden file, with every row that `superseded.json` has of it put in place.
#[expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
fn golden(file: &str) -> Value {
    let read = |file: &str| -> Value {
        let path = format!("{}/../../tests/golden/{file}", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let mut golden = read(file);
    for row in read("superseded.json")["rows"].as_array().unwrap().iter().filter(|row| row["file"] == file) {
        let names = row["case"].as_object().unwrap();
        let mut cases = golden[row["section"].as_str().unwrap()].as_array_mut().unwrap().iter_mut();
        let case = cases.find(|case| names.iter().all(|(name, value)| case[name] == *value));
        let case = case.unwrap_or_else(|| panic!("of no case: {row}"));
        for (place, ours) in row["ours"].as_object().unwrap() {
            let theirs = case.pointer_mut(place).unwrap();
            assert_ne!(theirs, ours, "differs in nothing: {row}");
            *theirs = ours.clone();
        }
    }
    golden
}

fn cases(file: &Value, key: &str) -> Vec<Value> {
    let cases = file[key].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap()
}

fn texts(case: &Value, key: &str) -> Vec<String> {
    case[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn tokens_are_the_contracts() {
    for case in cases(&golden("tokens.json"), "tokens") {
        let expected = texts(&case, "tokens");
        assert_eq!(token::tokens(text(&case, "text")), expected, "{}", case["id"]);
        let similar = contract().similarity_terms(text(&case, "text"));
        assert_eq!(similar, BTreeSet::from_iter(expected), "{}", case["id"]);
    }
}

#[test]
fn token_hashes_are_the_contracts() {
    for case in cases(&golden("tokens.json"), "hashes") {
        let token = text(&case, "token");
        assert_eq!(u64::from(token::fnv1a32(token)), case["fnv1a32"].as_u64().unwrap(), "{token}");
        assert_eq!(token::bucket(token) as u64, case["bucket"].as_u64().unwrap(), "{token}");
        assert_eq!(i64::from(token::sign(token)), case["sign"].as_i64().unwrap(), "{token}");
    }
}

#[test]
fn concepts_are_the_contracts() {
    for case in cases(&golden("concepts.json"), "cases") {
        assert_eq!(contract().concepts(text(&case, "text")), texts(&case, "concepts"), "{}", case["id"]);
    }
}

#[test]
fn stop_words_are_the_contracts() {
    let file = golden("stopwords.json");
    let words: BTreeSet<String> = texts(&file, "stopwords").into_iter().collect();
    assert_eq!(words.len() as u64, file["count"].as_u64().unwrap());
    assert!(words.iter().all(|word| stop_words::is_stop_word(word)));

    // No word beyond those of the list: not one of any golden text.
    for case in cases(&golden("tokens.json"), "tokens") {
        for token in texts(&case, "tokens") {
            assert_eq!(stop_words::is_stop_word(&token), words.contains(&token), "{token}");
        }
    }
    assert!(!stop_words::is_stop_word(""));
}

#[test]
fn vectors_are_the_contracts() {
    let file = golden("embed.json");
    let embedder = HashEmbedder::new();
    assert_eq!(u64::from(embedder.id().dimension()), file["dim"].as_u64().unwrap());
    for case in cases(&file, "cases") {
        let vector = embedder.embed_query(text(&case, "text")).unwrap();
        let expected = case["vector"].as_array().unwrap();
        assert_eq!(vector.len(), expected.len());
        for (actual, expected) in vector.iter().zip(expected) {
            let expected = expected.as_f64().unwrap();
            assert!((f64::from(*actual) - expected).abs() <= 1e-8, "{}: {actual} {expected}", case["id"]);
        }
        let nonzero = vector.iter().filter(|component| **component != 0.0).count();
        assert_eq!(nonzero as u64, case["nonzero"].as_u64().unwrap(), "{}", case["id"]);
        assert_eq!(is_zero(&vector), case["norm2"].as_f64().unwrap() == 0.0, "{}", case["id"]);
        let documents = embedder.embed_documents(&["", text(&case, "text")]).unwrap();
        assert_eq!(documents, [vec![0.0; 384], vector], "{}", case["id"]);
    }
}

/// The contract's BM25 over analysed texts, as an oracle: scores pin terms, frequencies and lengths alike.
fn scores(documents: &[AnalysedText], query: &[TermHash]) -> BTreeMap<usize, f64> {
    let total = documents.len() as f64;
    let average = documents.iter().map(|text| f64::from(text.length)).sum::<f64>() / total;
    let frequency = |document: &AnalysedText, term: &TermHash| {
        let entry = document.entries.iter().find(|entry| entry.term == *term);
        entry.map_or(0.0, |entry| f64::from(entry.frequency))
    };
    let mut scores = BTreeMap::new();
    for term in query {
        let having = documents.iter().filter(|document| frequency(document, term) > 0.0).count() as f64;
        let idf = (1.0 + (total - having + 0.5) / (having + 0.5)).ln();
        for (at, document) in documents.iter().enumerate() {
            let frequency = frequency(document, term);
            if frequency > 0.0 {
                let norm = 1.2 * (0.25 + 0.75 * f64::from(document.length) / average);
                *scores.entry(at).or_default() += idf * frequency * 2.2 / (frequency + norm);
            }
        }
    }
    scores
}

#[test]
fn search_terms_give_the_contracts_scores() {
    let file = golden("search_scores.json");
    let documents: Vec<AnalysedText> =
        texts(&file, "docs").iter().map(|text| contract().analyse(text)).collect();
    for case in cases(&file, "queries") {
        let query = text(&case, "query");
        let found = scores(&documents, &contract().query(query));
        let expected: BTreeMap<usize, f64> = case["text"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row["doc"].as_u64().unwrap() as usize, row["score"].as_f64().unwrap()))
            .collect();
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{query}");
        for (found, expected) in found.values().zip(expected.values()) {
            assert!((found - expected).abs() < 1e-5, "{query}: {found} {expected}");
        }
    }
}

#[test]
fn similarity_is_the_contracts() {
    for case in cases(&golden("consolidation.json"), "jaccard") {
        let (a, b) = (contract().analyse(text(&case, "a")), contract().analyse(text(&case, "b")));
        assert_eq!(a.jaccard(&b), case["jaccard"].as_f64().unwrap(), "{case}");
    }
}
