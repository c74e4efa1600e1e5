//! Retrieval metrics.

use am_fusion::evaluation::{Metrics, first_rank};
use proptest::prelude::*;

use crate::support::{assert_same, golden, list, strings};

#[test]
fn golden_metrics() {
    let golden = golden("metrics.json");
    let mut all = Vec::new();
    for case in list(&golden, "cases", 11) {
        let (ranked, relevant) = (strings(&case["ranked"]), strings(&case["relevant"]));
        let metrics = Metrics::of(&ranked, &relevant);
        for (actual, key) in [
            (metrics.recall_1, "recall1"),
            (metrics.recall_5, "recall5"),
            (metrics.recall_10, "recall10"),
            (metrics.reciprocal_rank, "reciprocal"),
            (metrics.ndcg_10, "ndcg10"),
        ] {
            assert_same(actual, case[key].as_f64().unwrap(), &case);
        }
        let first = first_rank(&ranked, &relevant).unwrap_or(0);
        assert_eq!(first as u64, case["firstRank"].as_u64().unwrap(), "{case}");
        all.push(metrics);
    }
    let mean = Metrics::mean(&all);
    for (actual, key) in [
        (mean.recall_5, "recall5"),
        (mean.recall_10, "recall10"),
        (mean.reciprocal_rank, "mrr10"),
        (mean.ndcg_10, "ndcg10"),
    ] {
        assert_same(actual, golden["aggregate"][key].as_f64().unwrap(), &golden["aggregate"]);
    }
}

#[test]
fn nothing_relevant_and_no_queries_measure_zero() {
    assert_eq!(Metrics::of(&["a"], &[]), Metrics::default());
    assert_eq!(Metrics::mean(&[]), Metrics::default());
    assert!(Metrics::of::<&str>(&[], &["a"]).ndcg_10.is_sign_positive());
}

proptest! {
    #[test]
    fn metrics_of_distinct_ids_lie_in_0_to_1(
        ranked in proptest::collection::btree_set(0_u8..30, 0..15),
        relevant in proptest::collection::btree_set(0_u8..30, 0..15),
    ) {
        let (ranked, relevant): (Vec<u8>, Vec<u8>) = (ranked.into_iter().collect(), relevant.into_iter().collect());
        let metrics = Metrics::of(&ranked, &relevant);
        for metric in [metrics.recall_1, metrics.recall_10, metrics.reciprocal_rank, metrics.ndcg_10] {
            prop_assert!((0.0..=1.0 + 1e-12).contains(&metric));
        }
        prop_assert!(metrics.recall_1 <= metrics.recall_5 && metrics.recall_5 <= metrics.recall_10);
        let ideal = Metrics::of(&relevant, &relevant);
        prop_assert!(relevant.is_empty() || ideal.reciprocal_rank == 1.0 && ideal.ndcg_10 == 1.0);
    }
}
