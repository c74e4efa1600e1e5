//! Lenient reading of a host's JSON: only the members asked for are ever decoded.
//!
//! The rest is skipped unread, at any depth and size, so that an odd value in a member nobody needs (a lone
//! surrogate in a tool's output, a thousand nested arrays) can't lose the event.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// A JSON object whose members are still raw text.
pub(crate) struct Object<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Object<'a> {
    /// Reads an object; `None` for broken text or any other JSON value. A repeated name counts once, the
    /// last one, as in ECMAScript.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }

    /// Gives a member if it is a string.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        string(self.0.get(name)?)
    }

    /// Gives a member if it is an object.
    pub(crate) fn object(&self, name: &str) -> Option<Object<'a>> {
        Object::parse(self.0.get(name)?.get())
    }

    /// Gives the elements of a member if it is an array.
    pub(crate) fn array(&self, name: &str) -> Option<Vec<&'a RawValue>> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    /// Gives a member if it is a number.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    /// Gives a member if it is an integer.
    pub(crate) fn integer(&self, name: &str) -> Option<i64> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    /// Tells whether a member is there and is something other than null.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| value.get() != "null")
    }
}

/// Decodes a raw value if it is a string; half of a surrogate pair becomes U+FFFD.
pub(crate) fn string(value: &RawValue) -> Option<String> {
    let raw = value.get();
    if !raw.starts_with('"') {
        return None;
    }
    serde_json::from_str(raw).or_else(|_| serde_json::from_str(&mend_surrogates(raw))).ok()
}

/// Replaces each `\uXXXX` that is half of a surrogate pair without its other half.
fn mend_surrogates(raw: &str) -> String {
    let mut mended = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let length = match (code_unit(escape), escape.get(6..).and_then(code_unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                mended.push('\u{fffd}');
                rest = escape.get(6..).unwrap_or("");
                continue;
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        let (kept, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        mended.push_str(kept);
        rest = after;
    }
    mended.push_str(rest);
    mended
}

/// Reads the code unit of a `\uXXXX` at the start of a text.
fn code_unit(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::Object;

    #[test]
    fn halves_of_surrogate_pairs_are_replaced() {
        let read = |json: &str| Object::parse(json).and_then(|object| object.text("a"));
        assert_eq!(read(r#"{"a":"x\ud83d\ude80y"}"#).as_deref(), Some("x🚀y"));
        assert_eq!(
            read(r#"{"a":"x\ud83dy\ude80\\ud83d\n"}"#).as_deref(),
            Some("x\u{fffd}y\u{fffd}\\ud83d\n")
        );
        assert_eq!(read(r#"{"a":"\ud83d\ud83d\ude80"}"#).as_deref(), Some("\u{fffd}🚀"));
    }

    #[test]
    fn members_nobody_reads_can_hold_anything() {
        let deep =
            format!(r#"{{"a":"x","b":{}{},"c":"\udead","d":1e999}}"#, "[".repeat(5000), "]".repeat(5000));
        assert_eq!(Object::parse(&deep).and_then(|object| object.text("a")).as_deref(), Some("x"));
    }

    #[test]
    fn only_whole_objects_are_read() {
        for broken in ["", "{oops", "[1]", "\"x\"", "null", "{} x", "{\"a\":\"\n\"}"] {
            assert!(Object::parse(broken).is_none(), "{broken}");
        }
    }
}
