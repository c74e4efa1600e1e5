//! JSON that keeps the order of keys, and comparisons with golden values.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A document. Whole numbers and others differ, as `1` and `1.0` do on the wire.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    /// Reads a golden file, with every row that `superseded.json` has of it put in place.
    pub(crate) fn golden(file: &str) -> Self {
        let read = |file: &str| {
            let path = format!("{}/../../tests/golden/{file}", env!("CARGO_MANIFEST_DIR"));
            Self::parse(&std::fs::read_to_string(path).unwrap())
        };
        let mut golden = read(file);
        for row in read("superseded.json").at("rows").elements() {
            if row.at("file").text() != file {
                continue;
            }
            let Self::Array(cases) = golden.at_mut(row.at("section").text()) else {
                panic!("no list: {row}")
            };
            let names = row.at("case").entries();
            let case =
                cases.iter_mut().find(|case| names.iter().all(|(name, value)| case.get(name) == Some(value)));
            let case = case.unwrap_or_else(|| panic!("of no case: {row}"));
            for (place, ours) in row.at("ours").entries() {
                // A pointer to a field of the case.
                let theirs = case.at_mut(place.strip_prefix('/').unwrap());
                assert_ne!(theirs, ours, "differs in nothing: {row}");
                *theirs = ours.clone();
            }
        }
        golden
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn at(&self, key: &str) -> &Self {
        self.get(key).unwrap_or_else(|| panic!("no {key} in {self:?}"))
    }

    fn at_mut(&mut self, key: &str) -> &mut Self {
        let Self::Object(entries) = self else { panic!("no object") };
        entries.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value).unwrap()
    }

    pub(crate) fn entries(&self) -> &[(String, Self)] {
        let Self::Object(entries) = self else { panic!("no object: {self:?}") };
        entries
    }

    pub(crate) fn text(&self) -> &str {
        let Self::Text(text) = self else { panic!("no text: {self:?}") };
        text
    }

    pub(crate) fn elements(&self) -> &[Self] {
        let Self::Array(elements) = self else { panic!("no array: {self:?}") };
        elements
    }

    pub(crate) fn number(&self) -> f64 {
        match self {
            Self::Whole(number) => *number as f64,
            Self::Number(number) => *number,
            _ => panic!("no number: {self:?}"),
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| serde_json::to_string(text).unwrap();
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Array(elements) => {
                let elements: Vec<String> = elements.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", elements.join(","))
            }
            Self::Object(entries) => {
                let entries: Vec<String> =
                    entries.iter().map(|(key, value)| format!("{}:{value}", quoted(key))).collect();
                write!(f, "{{{}}}", entries.join(","))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct JsonVisitor;
        impl<'de> Visitor<'de> for JsonVisitor {
            type Value = Json;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
                Ok(Json::Bool(value))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
                Ok(Json::Whole(number as i64))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
                Ok(Json::Whole(number))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
                Ok(Json::Number(number))
            }

            fn visit_str<E>(self, text: &str) -> Result<Json, E> {
                Ok(Json::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json, A::Error> {
                let mut array = vec![];
                while let Some(element) = elements.next_element()? {
                    array.push(element);
                }
                Ok(Json::Array(array))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
                let mut object = vec![];
                while let Some(entry) = entries.next_entry()? {
                    object.push(entry);
                }
                Ok(Json::Object(object))
            }
        }
        deserializer.deserialize_any(JsonVisitor)
    }
}

/// What masks stand for, learnt on the way.
#[derive(Debug, Default)]
pub(crate) struct Masks {
    pub(crate) known: BTreeMap<String, String>,
}

impl Masks {
    /// Puts known values in place of their masks.
    pub(crate) fn fill(&self, text: &str) -> String {
        // Longer names first: `$P2` begins like `$P`.
        self.known.iter().rev().fold(text.to_owned(), |text, (mask, value)| text.replace(mask, value))
    }

    /// Compares a reply with a golden one, key order included. Scores and distances may differ by 1e-5.
    pub(crate) fn compare(&mut self, golden: &Json, reply: &Json) -> Result<(), String> {
        let differs = || Err(format!("expected {golden}\nreceived {reply}"));
        match (golden, reply) {
            (Json::Text(expected), Json::Text(text)) => {
                if self.matches(expected, text) {
                    Ok(())
                } else {
                    differs()
                }
            }
            (Json::Array(expected), Json::Array(elements)) if expected.len() == elements.len() => {
                expected.iter().zip(elements).try_for_each(|(golden, reply)| self.compare(golden, reply))
            }
            (Json::Object(expected), Json::Object(entries)) if expected.len() == entries.len() => {
                for ((golden_key, golden), (key, reply)) in expected.iter().zip(entries) {
                    if golden_key != key {
                        return differs();
                    }
                    if matches!(key.as_str(), "score" | "distance") {
                        if (golden.number() - reply.number()).abs() > 1e-5 {
                            return differs();
                        }
                    } else {
                        self.compare(golden, reply)?;
                    }
                }
                Ok(())
            }
            _ if golden == reply => Ok(()),
            _ => differs(),
        }
    }

    fn matches(&mut self, expected: &str, text: &str) -> bool {
        let Some((before, masked)) = expected.split_once('$') else { return expected == text };
        let Some(text) = text.strip_prefix(before) else { return false };
        let name_length = masked.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(masked.len());
        let (name, after) = masked.split_at(name_length);
        let mask = format!("${name}");
        let length = match name {
            "time" => 24,
            "node" => text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()),
            "failure" => text.len(),
            _ if name.starts_with("uuid") => 36,
            _ => self.known.get(&mask).map_or(0, String::len),
        };
        let Some((value, rest)) = text.split_at_checked(length) else { return false };
        let fits = match name {
            "time" => am_model::Instant::parse(value).is_some_and(|at| at.to_string() == value),
            "node" | "failure" => !value.is_empty(),
            _ => self.known.entry(mask).or_insert_with(|| value.to_owned()) == value,
        };
        fits && self.matches(after, rest)
    }
}
