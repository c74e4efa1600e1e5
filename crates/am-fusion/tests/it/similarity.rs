//! Near-duplicates.

use am_fusion::similarity::{
    MergeThreshold, SurvivorCandidate, choose_survivor, jaccard, merge_text, missing_concepts,
};
use am_model::{Concept, normalise};
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{assert_same, golden, list, strings, token_set};

fn concepts(value: &Value) -> Vec<Concept> {
    strings(value).into_iter().map(Concept::from_stored).collect()
}

#[test]
fn golden_jaccard() {
    for case in list(&golden("consolidation.json"), "jaccard", 16) {
        let [a, b] = ["a", "b"].map(|key| token_set(case[key].as_str().unwrap()));
        assert_same(jaccard(&a, &b), case["jaccard"].as_f64().unwrap(), &case);
        assert_same(jaccard(&b, &a), case["jaccard"].as_f64().unwrap(), &case);
    }
}

#[test]
fn golden_thresholds() {
    for case in list(&golden("consolidation.json"), "threshold", 17) {
        let threshold = MergeThreshold::parse(case["raw"].as_str()).map(MergeThreshold::get);
        assert_eq!(threshold, case["threshold"].as_f64(), "{case}");
    }
}

#[test]
fn golden_merges() {
    for case in list(&golden("consolidation.json"), "merge", 14) {
        let (survivor, incoming) = (case["survivor"].as_str().unwrap(), case["incoming"].as_str().unwrap());
        let merged = merge_text(survivor, incoming);
        assert_eq!(merged.is_some(), case["changed"].as_bool().unwrap(), "{case}");
        assert_eq!(merged.unwrap_or(survivor.to_owned()), case["merged"].as_str().unwrap());
    }
}

#[test]
fn golden_survivors() {
    for case in list(&golden("consolidation.json"), "survivor", 8) {
        let threshold = MergeThreshold::parse(Some(&case["threshold"].to_string())).unwrap();
        let incoming = token_set(case["incoming"].as_str().unwrap());
        let rows = case["candidates"].as_array().unwrap();
        let candidates: Vec<SurvivorCandidate<'_>> = rows
            .iter()
            .map(|row| SurvivorCandidate {
                memory_id: row["memoryId"].as_str().unwrap(),
                jaccard: jaccard(&token_set(row["content"].as_str().unwrap()), &incoming),
                importance: row["importance"].as_f64().unwrap(),
            })
            .collect();
        let chosen = choose_survivor(threshold, &candidates).map(|index| candidates[index].memory_id);
        assert_eq!(chosen, case["chosen"].as_str(), "{case}");
    }
}

#[test]
fn golden_missing_concepts() {
    for case in list(&golden("consolidation.json"), "missing", 5) {
        let missing = missing_concepts(&concepts(&case["linked"]), &concepts(&case["expected"]));
        assert_eq!(missing, concepts(&case["missing"]), "{case}");
    }
}

proptest! {
    #[test]
    fn a_merge_loses_no_text(survivor in "[a-cA-C \n\u{e9}]{0,12}", incoming in "[a-cA-C \n\u{e9}]{0,6}") {
        match merge_text(&survivor, &incoming) {
            None => prop_assert!(normalise(&survivor).contains(&normalise(&incoming))),
            Some(merged) => {
                prop_assert!(merged.ends_with(&incoming));
                prop_assert!(normalise(&merged).starts_with(&normalise(&survivor)));
                // Saying it again changes nothing.
                prop_assert_eq!(merge_text(&merged, &incoming), None);
            }
        }
    }

    #[test]
    fn the_survivor_does_not_depend_on_the_order_of_candidates(
        rows in proptest::collection::btree_map("[a-d]{0,2}", (0_u8..4, 0_u8..3), 0..8),
        seed: proptest::sample::Index,
    ) {
        let mut candidates: Vec<SurvivorCandidate<'_>> = rows
            .iter()
            .map(|(id, (alike, weight))| SurvivorCandidate {
                memory_id: id,
                jaccard: f64::from(*alike) / 3.0,
                importance: f64::from(*weight) / 2.0,
            })
            .collect();
        let threshold = MergeThreshold::parse(Some("0.5")).unwrap();
        let chosen = choose_survivor(threshold, &candidates).map(|index| candidates[index]);
        let best = candidates.iter().filter(|row| !row.memory_id.is_empty()).map(|row| row.jaccard).reduce(f64::max);
        prop_assert_eq!(chosen.map(|row| row.jaccard), best.filter(|best| *best >= 0.5));
        if !candidates.is_empty() {
            let middle = seed.index(candidates.len());
            candidates.rotate_left(middle);
        }
        prop_assert_eq!(choose_survivor(threshold, &candidates).map(|index| candidates[index]), chosen);
    }
}
