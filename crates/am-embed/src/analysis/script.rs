//! Which characters count as what. Ranges, because these are the only properties the standard library lacks.

use unicode_normalization::char::is_combining_mark;

const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const ZERO_WIDTH_JOINER: char = '\u{200d}';

/// Returns whether `c` is a letter of a script that writes no spaces between words: Han, kana, Thai, Lao, Khmer,
/// Myanmar and their relatives. UAX #29 makes each such letter a word of its own (and katakana runs one word).
pub(super) fn is_unspaced(c: char) -> bool {
    if matches!(c, '\u{4e00}'..='\u{9fff}') {
        return true;
    }
    let is_in_range = matches!(c,
        '\u{e01}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{19df}'
        | '\u{1a20}'..='\u{1aaf}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aadf}'
        | '\u{11700}'..='\u{1174f}');
    (is_ideograph(c) || is_kana(c) || (is_in_range && !c.is_numeric())) && !is_combining_mark(c)
}

/// Returns whether `c` is an ideograph: Han, Tangut, Khitan, Nushu.
pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303b}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{16fe0}'..='\u{18dff}' | '\u{1b170}'..='\u{1b2ff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{1aff0}'..='\u{1b16f}')
}

/// Returns whether a word that begins with `c` says enough in two characters: Han, kana, Hangul.
pub(super) fn is_dense(c: char) -> bool {
    is_ideograph(c) || is_kana(c) || matches!(c, '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7ff}')
}

/// Returns whether `c` is a pictograph: an emoji, or a sign of the blocks that hold them.
pub(super) fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{2194}'..='\u{2199}' | '\u{21a9}' | '\u{21aa}' | '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2934}' | '\u{2935}' | '\u{2b05}'..='\u{2b55}' | '\u{1f000}'..='\u{1faff}'
        | '\u{1fc00}'..='\u{1fffd}')
        && !is_regional_indicator(c)
}

/// Returns whether `c` is half of a flag.
pub(super) fn is_regional_indicator(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Returns whether `c` only changes the skin of the emoji before it.
pub(super) fn is_skin_tone(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Returns whether `c` has no say in what a word or an emoji is: soft hyphen, direction marks, variation selectors.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200e}' | '\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{e0100}'..='\u{e01ef}')
}

/// Returns whether `c` shapes an emoji but not a word: the joiners and the tag characters of flags.
pub(super) fn is_joiner(c: char) -> bool {
    c == ZERO_WIDTH_NON_JOINER || is_inner_joiner(c)
}

/// Returns whether `c` makes a word of what it is in: a letter or digit. Vowel signs are alphabetic too, but mean
/// nothing without the letter before them.
pub(super) fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() && (c.is_ascii() || !is_combining_mark(c))
}

/// Returns whether `c` continues the part of a word it is in. The zero-width non-joiner separates parts: Persian
/// puts it between a stem and its ending.
pub(super) fn is_part(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    c.is_alphanumeric() || is_combining_mark(c) || is_inner_joiner(c)
}

fn is_inner_joiner(c: char) -> bool {
    c == ZERO_WIDTH_JOINER || matches!(c, '\u{e0020}'..='\u{e007f}')
}
