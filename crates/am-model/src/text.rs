//! Text measures and white space as the contract defines them: ECMAScript's set, UTF-16 code units.

use std::cmp::Ordering;

use unicode_segmentation::UnicodeSegmentation;

/// Returns whether `c` is white space or a line end of ECMAScript.
///
/// Unlike [`char::is_whitespace`], U+FEFF is and U+0085 is not.
pub fn is_white_space(c: char) -> bool {
    matches!(c,
        '\u{9}'..='\u{d}' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}'
        | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}')
}

/// Cuts ECMAScript white space from both ends.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_white_space)
}

/// Cuts ECMAScript white space from the end.
pub fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_white_space)
}

/// Collapses every run of ECMAScript white space to one space and trims.
pub fn collapse_white_space(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(is_white_space).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Returns a value as it is printed on one line: white-space runs as one space, trimmed.
pub fn one_line(value: &str) -> String {
    collapse_white_space(value)
}

/// Compares two texts by UTF-16 code unit, which is how the contract orders names, ids and contents.
///
/// Differs from the order of `str` only between U+E000 to U+FFFF and the characters above.
pub fn compare_code_units(left: &str, right: &str) -> Ordering {
    left.encode_utf16().cmp(right.encode_utf16())
}

/// Returns the length of `text` in UTF-16 code units.
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Returns the longest prefix of `text` of at most `units` UTF-16 code units that ends between grapheme clusters.
pub fn cut(text: &str, units: usize) -> &str {
    // No character is more UTF-16 units than bytes, so short texts need no walk.
    if text.len() <= units {
        return text;
    }
    let mut left = units;
    for (start, grapheme) in text.grapheme_indices(true) {
        let length = utf16_len(grapheme);
        if length > left {
            return text.get(..start).unwrap_or_default();
        }
        left -= length;
    }
    text
}

/// Returns `text` cut to `units` UTF-16 code units, the last three of them `...` where something was cut.
pub fn cut_with_dots(text: &str, units: usize) -> String {
    if utf16_len(text) <= units {
        return text.to_owned();
    }
    format!("{}...", cut(text, units.saturating_sub(3)))
}

/// Returns `text` cut to `units` UTF-16 code units, the last one U+2026 where something was cut.
pub fn cut_with_ellipsis(text: &str, units: usize) -> String {
    if utf16_len(text) <= units {
        return text.to_owned();
    }
    format!("{}\u{2026}", cut(text, units.saturating_sub(1)))
}
