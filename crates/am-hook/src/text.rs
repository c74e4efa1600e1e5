//! White space, control characters and cuts, counted as the contract counts them (UTF-16 code units).

use unicode_segmentation::UnicodeSegmentation;

/// Tells whether a character is white space in the ECMAScript sense (with U+FEFF, without U+0085).
fn is_white_space(character: char) -> bool {
    matches!(character,
        '\u{9}'..='\u{d}' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}'
        | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}')
}

/// Tells whether a text is nothing but white space.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(is_white_space)
}

/// Makes one tidy line: control characters and white-space runs become one space, the ends are trimmed,
/// and at most `limit` UTF-16 units are kept.
pub(crate) fn clean(raw: &str, limit: usize) -> String {
    let mut line = String::with_capacity(raw.len().min(4 * limit));
    let mut gap = false;
    for character in raw.chars() {
        if character.is_ascii_control() || is_white_space(character) {
            gap = true;
            continue;
        }
        if gap && !line.is_empty() {
            line.push(' ');
        }
        gap = false;
        line.push(character);
    }
    let end = cut(&line, limit);
    line.truncate(end);
    line
}

/// Tells whether a character only steers how others are shown: bidi controls, zero-width characters, soft hyphens
/// and tags. Text can hide in them, and behind them.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Makes one line that shows all there is: white-space runs become one space, the ends are trimmed, control and
/// invisible characters go.
pub(crate) fn visible_line(raw: &str) -> String {
    let is_gap = |c: char| is_white_space(c) || c == '\u{85}';
    let shown: String =
        raw.chars().filter(|c| !is_invisible(*c) && (is_gap(*c) || !c.is_control())).collect();
    let words: Vec<&str> = shown.split(is_gap).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Finds where to cut so that at most `limit` UTF-16 units stay and no grapheme is split. Only a first
/// grapheme that is longer than the limit is split, between characters, so that something stays.
/// Returns a byte offset.
pub(crate) fn cut(line: &str, limit: usize) -> usize {
    if line.len() <= limit {
        return line.len();
    }
    match fitting(line.grapheme_indices(true), limit) {
        0 => fitting(
            line.char_indices().map(|(at, c)| (at, line.get(at..at + c.len_utf8()).unwrap_or(""))),
            limit,
        ),
        end => end,
    }
}

/// Gives the byte offset behind the last of `pieces` with which the text has at most `limit` units.
fn fitting<'a>(pieces: impl Iterator<Item = (usize, &'a str)>, limit: usize) -> usize {
    let mut units = 0;
    let mut end = 0;
    for (at, piece) in pieces {
        units += piece.encode_utf16().count();
        if units > limit {
            break;
        }
        end = at + piece.len();
    }
    end
}

/// Gives the last segment of a path, written with `/` or `\`, that is not empty.
pub(crate) fn last_segment(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|segment| !segment.is_empty()).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::{clean, last_segment};

    #[test]
    fn white_space_is_that_of_the_contract() {
        assert_eq!(clean("\u{feff} a\u{0}\u{7f}\n b\u{3000}c \u{2029}", 80), "a b c");
        assert_eq!(clean("a\u{85}b", 80), "a\u{85}b");
    }

    #[test]
    fn cuts_keep_graphemes_whole() {
        assert_eq!(clean("abc🚀", 4), "abc");
        assert_eq!(clean("abc🚀", 5), "abc🚀");
        assert_eq!(clean("ab👨‍👩‍👧", 9), "ab");
        assert_eq!(clean("e\u{301}e\u{301}", 3), "e\u{301}");
    }

    #[test]
    fn a_grapheme_longer_than_the_limit_still_leaves_something() {
        let zalgo = format!("z{}", "\u{301}".repeat(300));
        assert_eq!(clean(&zalgo, 80).chars().count(), 80);
    }

    #[test]
    fn segments_of_either_slash() {
        assert_eq!(last_segment("/srv/app//"), "app");
        assert_eq!(last_segment("C:\\Users\\dev"), "dev");
        assert_eq!(last_segment("/"), "");
    }
}
