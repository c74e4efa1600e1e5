//! JSON text that other languages accept and Rust strings can't hold.

use std::borrow::Cow;

/// Returns JSON as text: invalid UTF-8, and each half of a surrogate pair in an escape, becomes U+FFFD.
///
/// ECMAScript's strings may hold such halves, and cutting a text there makes them; its JSON writes them as escapes.
pub fn repair(json: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(json);
    let mut repaired = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let escape = at + found;
        at = match unit(&text, escape) {
            Some(0xd800..=0xdbff) if matches!(unit(&text, escape + 6), Some(0xdc00..=0xdfff)) => escape + 12,
            Some(0xd800..=0xdfff) => {
                repaired.push_str(text.get(copied..escape).unwrap_or_default());
                repaired.push_str("\\ufffd");
                copied = escape + 6;
                copied
            }
            Some(_) => escape + 6,
            // Another escape, of two characters: its second may be a backslash.
            None => {
                escape
                    + 1
                    + text.get(escape + 1..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
            }
        };
    }
    if copied == 0 {
        return text;
    }
    repaired.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(repaired)
}

/// Reads the escape `\uXXXX` at a place, if there is one.
fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    hexadecimal.then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::repair;

    #[test]
    fn half_pairs_become_the_replacement_character() {
        for (line, expected) in [
            (r#""a\ud83db""#, "a\u{fffd}b"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ude00""#, "\u{1f600}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\\ud83d""#, "\\ud83d"),
            (r#""\\\ud83d""#, "\\\u{fffd}"),
            (r#""\u0000é""#, "\0é"),
        ] {
            let read: String = serde_json::from_str(&repair(line.as_bytes())).expect("JSON");
            assert_eq!(read, expected, "{line}");
        }
    }

    #[test]
    fn invalid_utf_8_is_replaced() {
        assert_eq!(repair(b"\"a\xffb\""), "\"a\u{fffd}b\"");
    }

    proptest! {
        #[test]
        fn what_a_string_can_hold_is_left_alone(text in any::<String>()) {
            let line = serde_json::to_string(&text).expect("JSON");
            prop_assert_eq!(repair(line.as_bytes()), line.as_str());
        }

        #[test]
        fn any_units_read_as_a_lossy_string(units in proptest::collection::vec(any::<u16>(), 0..20)) {
            let escaped = units.iter().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>().concat();
            let read: String = serde_json::from_str(&repair(format!("\"{escaped}\"").as_bytes())).expect("JSON");
            prop_assert_eq!(read, String::from_utf16_lossy(&units));
        }

        #[test]
        fn any_bytes_are_no_danger(line in proptest::collection::vec(any::<u8>(), 0..64)) {
            repair(&line);
        }

        #[test]
        fn any_escapes_are_no_danger(line in "[\\\\uUdD89aé\"]{0,32}") {
            repair(line.as_bytes());
        }
    }
}
