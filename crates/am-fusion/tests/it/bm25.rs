//! BM25 against the scores of the contract's engine.

use std::collections::BTreeSet;

use am_fusion::bm25::{idf, term_score};
use proptest::prelude::*;

use crate::support::{golden, list, strings};

/// Returns the engine's terms: lower case, runs of letters and digits of any script.
fn terms(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|term| !term.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn scores_and_order_of_every_golden_query() {
    let golden = golden("search_scores.json");
    let documents: Vec<Vec<String>> = strings(&golden["docs"]).iter().map(|text| terms(text)).collect();
    let average = documents.iter().map(Vec::len).sum::<usize>() as f64 / documents.len() as f64;
    for case in list(&golden, "queries", 31) {
        let query: BTreeSet<String> = terms(case["query"].as_str().unwrap()).into_iter().collect();
        let mut scored: Vec<(usize, f64)> = Vec::new();
        for (index, document) in documents.iter().enumerate() {
            let score = query.iter().fold(0.0, |score, term| {
                let containing = documents.iter().filter(|document| document.contains(term)).count();
                let frequency = document.iter().filter(|held| *held == term).count();
                let weight = idf(documents.len() as u64, containing as u64);
                score + term_score(weight, frequency as f64, document.len() as f64, average)
            });
            if score > 0.0 {
                scored.push((index, score));
            }
        }
        // The sort is stable: ties stay in the order of saving.
        scored.sort_by(|left, right| right.1.total_cmp(&left.1));
        let expected = case["text"].as_array().unwrap();
        assert!(scored.len() >= expected.len(), "{case}");
        assert!(scored.len() == expected.len() || expected.len() == 10, "{case}");
        for (row, (document, score)) in expected.iter().zip(scored) {
            assert_eq!(row["doc"].as_u64().unwrap() as usize, document, "{case}");
            assert!((row["score"].as_f64().unwrap() - score).abs() < 1e-5, "{score} {row}");
        }
    }
}

proptest! {
    #[test]
    fn scores_are_finite_and_grow_with_frequency_and_rarity(
        documents in 1_u64..1_000_000,
        containing: u64,
        frequency in 1_u32..1000,
        length in 0_u32..100_000,
        average in 0_f64..10_000.0,
    ) {
        let containing = containing % (documents + 1);
        let weight = idf(documents, containing);
        prop_assert!(weight > 0.0 && weight.is_finite());
        prop_assert!(idf(documents, containing + 1) < weight || containing == documents);
        let score = |frequency: u32, length: u32| term_score(weight, frequency.into(), length.into(), average);
        prop_assert!(score(frequency, length) > 0.0 && score(frequency, length).is_finite());
        prop_assert!(score(frequency + 1, length) >= score(frequency, length));
        prop_assert!(score(frequency, length + 1) <= score(frequency, length));
        prop_assert_eq!(score(0, length), 0.0);
    }
}
