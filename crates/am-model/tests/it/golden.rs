//! Every case of the golden files that this crate answers for.

use am_model::{DedupKey, Importance, Project, normalise, text};
use serde_json::Value;

/// Reads a golden file and returns its list `cases`.
fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/../../tests/golden/{file}", env!("CARGO_MANIFEST_DIR"));
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    golden["cases"].as_array().unwrap().clone()
}

#[test]
fn dedup_keys() {
    let cases = cases("dedup.json");
    assert_eq!(cases.len(), 37);
    for case in cases {
        let (project, content) = (case["project"].as_str().unwrap(), case["content"].as_str().unwrap());
        assert_eq!(normalise(content), case["normalized"].as_str().unwrap(), "{content:?}");
        let key = DedupKey::of(&Project::from_stored(project), content);
        assert_eq!(key.to_string(), case["dedupKey"].as_str().unwrap(), "{content:?}");
    }
}

#[test]
fn derived_importance_is_bit_equal() {
    let cases = cases("importance.json");
    assert_eq!(cases.len(), 68);
    for case in cases {
        // The contract clamps a count below 0 to 0; ours can't be below 0.
        let concepts = usize::try_from(case["conceptCount"].as_i64().unwrap()).unwrap_or(0);
        let importance = Importance::derived(case["origin"].as_str().unwrap(), concepts).get();
        assert_eq!(importance.to_bits(), case["importance"].as_f64().unwrap().to_bits(), "{case}");
    }
}

#[test]
fn values_on_one_line() {
    let cases = cases("one_line.json");
    assert_eq!(cases.len(), 7);
    for case in cases {
        assert_eq!(text::one_line(case["value"].as_str().unwrap()), case["line"].as_str().unwrap());
    }
}
