//! JSON documents, read as ECMAScript's `JSON.parse` reads them.
//!
//! Values stay raw until a rule asks for them: nesting costs no stack, and numbers of any size are numbers.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The entries of an object: the last of repeated keys counts, in the place of the first; keys that are array
/// indices come first, in order.
pub(crate) type Entries<'a> = Vec<(String, &'a RawValue)>;

/// A value as far as a rule has to know it.
#[derive(Debug)]
pub(crate) enum Input<'a> {
    Text(String),
    /// NaN where a text holds no number.
    Number(f64),
    Array(Elements<'a>),
    Object,
    Boolean,
    Null,
}

impl<'a> Input<'a> {
    /// Reads a value, arrays one level deep.
    ///
    /// # Errors
    /// None for what was parsed as a part of a document before.
    pub(crate) fn read(raw: &'a RawValue) -> Result<Self, serde_json::Error> {
        let text = raw.get();
        Ok(match text.as_bytes().first() {
            Some(b'"') => Self::Text(serde_json::from_str(text)?),
            Some(b'[') => Self::Array(Elements::Raw(serde_json::from_str(text)?)),
            Some(b'{') => Self::Object,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'n') => Self::Null,
            // JSON's numbers are a part of Rust's, and both round to the nearest.
            _ => Self::Number(text.parse().unwrap_or(f64::NAN)),
        })
    }

    /// Returns the name of the value's type in messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "string",
            Self::Number(number) if number.is_nan() => "nan",
            Self::Number(_) => "number",
            Self::Array(_) => "array",
            Self::Object => "object",
            Self::Boolean => "boolean",
            Self::Null => "null",
        }
    }
}

impl From<Value> for Input<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            Value::Number(number) => Self::Number(number.as_f64().unwrap_or(f64::NAN)),
            Value::Array(elements) => Self::Array(Elements::Parsed(elements)),
            Value::Object(_) => Self::Object,
            Value::Bool(_) => Self::Boolean,
            Value::Null => Self::Null,
        }
    }
}

/// The elements of an array, as its document was read.
#[derive(Debug)]
pub(crate) enum Elements<'a> {
    Raw(Vec<&'a RawValue>),
    Parsed(Vec<Value>),
}

impl<'a> Elements<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Raw(elements) => elements.len(),
            Self::Parsed(elements) => elements.len(),
        }
    }

    /// Reads the first elements, at most so many.
    pub(crate) fn read(self, most: usize) -> Vec<Result<Input<'a>, serde_json::Error>> {
        match self {
            Self::Raw(elements) => elements.into_iter().take(most).map(Input::read).collect(),
            Self::Parsed(elements) => {
                elements.into_iter().take(most).map(|value| Ok(Input::from(value))).collect()
            }
        }
    }
}

/// Reads a document; `Err` in the result's value: it is something else than an object, of this type.
pub(crate) fn parse(document: &str) -> Result<Result<Entries<'_>, &'static str>, serde_json::Error> {
    let raw: &RawValue = serde_json::from_str(document)?;
    match Input::read(raw)? {
        Input::Object => Ok(Ok(serde_json::from_str::<Object<'_>>(raw.get())?.0)),
        other => Ok(Err(other.type_name())),
    }
}

struct Object<'a>(Entries<'a>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut values: HashMap<String, (Place, &'de RawValue)> = HashMap::new();
                let mut position = 0;
                while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
                    position += 1;
                    let place = array_index(&key).map_or(Place::Named(position), Place::Indexed);
                    values.entry(key).and_modify(|entry| entry.1 = value).or_insert((place, value));
                }
                let mut entries: Vec<_> = values.into_iter().collect();
                entries.sort_unstable_by_key(|(_, (place, _))| *place);
                Ok(Object(entries.into_iter().map(|(key, (_, value))| (key, value)).collect()))
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}

/// Where ECMAScript lists a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Indexed(u32),
    Named(usize),
}

fn array_index(key: &str) -> Option<u32> {
    let canonical = key == "0" || key.starts_with(|c: char| matches!(c, '1'..='9'));
    key.parse().ok().filter(|index| canonical && *index != u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(document: &str) -> Vec<String> {
        let entries = parse(document).expect("JSON").expect("an object");
        entries.into_iter().map(|(key, _)| key).collect()
    }

    fn number(document: &str) -> Option<f64> {
        match Input::read(serde_json::from_str(document).ok()?).ok()? {
            Input::Number(number) => Some(number),
            _ => None,
        }
    }

    #[test]
    fn keys_come_in_the_order_of_ecmascript() {
        assert_eq!(keys(r#"{"b":1,"10":1,"a":1,"2":1,"02":1,"b":2}"#), ["2", "10", "b", "a", "02"]);
    }

    #[test]
    fn the_last_of_repeated_keys_counts() {
        let entries = parse(r#"{"a":1,"a":"x"}"#).expect("JSON").expect("an object");
        assert_eq!(entries.first().map(|(_, raw)| raw.get()), Some(r#""x""#));
    }

    #[test]
    fn numbers_of_any_size_are_numbers() {
        for (document, expected) in [("1e999", f64::INFINITY), ("-1E999", f64::NEG_INFINITY), ("1e-999", 0.0)]
        {
            assert_eq!(number(document), Some(expected), "{document}");
        }
    }

    #[test]
    fn depth_is_no_burden() {
        let depth = 500_000;
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        assert_eq!(keys(&deep), ["a"]);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for document in [
            "{bad",
            "{} x",
            "\u{feff}{}",
            "{\"a\":1,}",
            "'a'",
            "[1",
            "\u{a0}{}",
            "{\"a\":\"\t\"}",
            "01",
            "+1",
            "NaN",
        ] {
            assert!(parse(document).is_err(), "{document}");
        }
    }
}
