//! Golden data is all in use, and what we answer otherwise stands in one table.

use serde_json::Value;

use super::read;
use super::source::{SOURCES, root};

/// The table of what we answer otherwise, and why.
const TABLE: &str = "superseded.json";

#[test]
fn every_golden_file_is_read_by_a_test() {
    for entry in std::fs::read_dir(root().join("tests/golden")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let mut tests = SOURCES.iter().filter(|source| source.path.split('/').nth(2) == Some("tests"));
        let named = tests.any(|source| source.text.contains(&file));
        assert!(named || file == "README.md", "no test reads {file}");
    }
}

#[test]
fn the_table_of_differences_names_cases_that_exist_and_says_why() {
    let table = golden(TABLE);
    for row in table["rows"].as_array().unwrap() {
        let mut fields: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["because", "case", "file", "kind", "ours", "section"], "{row}");
        assert!(["superseded", "representation"].map(Value::from).contains(&row["kind"]), "{row}");
        assert!(!row["because"].as_str().unwrap().is_empty(), "{row}");

        let names = row["case"].as_object().unwrap();
        let ours = row["ours"].as_object().unwrap();
        assert!(!names.is_empty() && !ours.is_empty(), "{row}");
        let file = golden(row["file"].as_str().unwrap());
        let cases = file[row["section"].as_str().unwrap()].as_array().unwrap().iter();
        let named: Vec<&Value> =
            cases.filter(|case| names.iter().all(|(name, value)| case[name] == *value)).collect();
        let [case] = named.as_slice() else { panic!("names {} cases: {row}", named.len()) };
        for (place, ours) in ours {
            assert!(case.pointer(place).is_some_and(|theirs| theirs != ours), "{place}: {row}");
        }
    }
}

fn golden(file: &str) -> Value {
    serde_json::from_str(&read(&format!("tests/golden/{file}"))).unwrap()
}
