//! Golden files, and the frozen text analysis that callers of this crate pass in.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Reads a golden file, with every row that `superseded.json` has of it put in place.
pub(crate) fn golden(file: &str) -> Value {
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

/// Returns the list at `key`, which must hold `count` cases.
pub(crate) fn list(value: &Value, key: &str, count: usize) -> Vec<Value> {
    let list = value[key].as_array().unwrap();
    assert_eq!(list.len(), count, "{key}");
    list.clone()
}

/// Returns the strings of a list.
pub(crate) fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

/// Asserts two doubles to be the same bits, the zeros of either sign being one.
#[track_caller]
pub(crate) fn assert_same(actual: f64, expected: f64, case: &Value) {
    assert!(
        actual.to_bits() == expected.to_bits() || actual == 0.0 && expected == 0.0,
        "{actual} {expected} {case}"
    );
}

/// Returns the frozen tokens of `text` (contract §4).
pub(crate) fn tokens(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit())
        .filter(|token| token.len() >= 2)
        .map(str::to_owned)
        .collect()
}

/// Returns the set of the frozen tokens.
pub(crate) fn token_set(text: &str) -> BTreeSet<String> {
    tokens(text).into_iter().collect()
}

/// Returns the 8 concepts of `text` (contract §4).
pub(crate) fn concepts(text: &str) -> Vec<String> {
    let stop_words = strings(&golden("stopwords.json")["stopwords"]);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for token in tokens(text) {
        if (3..=200).contains(&token.len()) && !stop_words.contains(&token) {
            *counts.entry(token).or_default() += 1;
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    counts.into_iter().take(8).map(|(token, _)| token).collect()
}
