//! Every case of the golden files that this crate answers for.

use am_model::{DedupKey, Importance, Project, normalise, text};
use serde_json::Value;

/// Reads a golden file, with every row that `superseded.json` has of it put in place.
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

fn cases(file: &str) -> Vec<Value> {
    golden(file)["cases"].as_array().unwrap().clone()
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
        let concepts = usize::try_from(case["conceptCount"].as_u64().unwrap()).unwrap();
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
