//! JSON bodies, read as ECMAScript's `JSON.parse` reads them.
//!
//! Values stay raw until a rule asks for them: nesting costs no stack, numbers of any size are numbers, and half of a
//! surrogate pair in an escape becomes U+FFFD, as it would when written.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The entries of an object: the last of repeated keys counts, in the place of the first; keys that are array
/// indices come first, in order.
pub(crate) type Entries<'a> = Vec<(String, &'a RawValue)>;

/// A value as far as a rule has to know it.
#[derive(Clone, Debug)]
pub(crate) enum Input<'a> {
    Text(String),
    /// NaN where a query string holds no number.
    Number(f64),
    Array(Vec<&'a RawValue>),
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
            Some(b'"') => Self::Text(serde_json::from_str::<Text>(text)?.0),
            Some(b'[') => Self::Array(serde_json::from_str(text)?),
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

/// Reads a document; `Err` in the result's value: it is something else than an object, of this type.
pub(crate) fn parse(document: &str) -> Result<Result<Entries<'_>, &'static str>, serde_json::Error> {
    let raw: &RawValue = serde_json::from_str(document)?;
    match Input::read(raw)? {
        Input::Object => Ok(Ok(serde_json::from_str::<Object<'_>>(raw.get())?.0)),
        other => Ok(Err(other.type_name())),
    }
}

/// A string, with U+FFFD for each half of a surrogate pair.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Text, E> {
                Ok(Text(match std::str::from_utf8(bytes) {
                    Ok(text) => text.to_owned(),
                    Err(_) => replace_surrogates(bytes),
                }))
            }
        }
        // Asked for bytes, serde_json gives half pairs in the three bytes that UTF-8 would have for them.
        deserializer.deserialize_bytes(TextVisitor)
    }
}

fn replace_surrogates(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // Of the three bytes the first is one invalid chunk, and each of the others is another.
        if chunk.invalid().first() == Some(&0xed) {
            text.push('\u{fffd}');
        }
    }
    text
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
                while let Some((Text(key), value)) = map.next_entry::<Text, &'de RawValue>()? {
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

    fn text(document: &str) -> Option<String> {
        match Input::read(serde_json::from_str(document).ok()?).ok()? {
            Input::Text(text) => Some(text),
            _ => None,
        }
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
    fn half_a_surrogate_pair_is_replaced_by_one_character() {
        for (document, expected) in [
            (r#""a\ud83db""#, "a\u{fffd}b"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ude00""#, "\u{1f600}"),
            (r#""\u0000""#, "\0"),
        ] {
            assert_eq!(text(document).as_deref(), Some(expected), "{document}");
        }
        assert_eq!(keys(r#"{"\ud800":1}"#), ["\u{fffd}"]);
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
