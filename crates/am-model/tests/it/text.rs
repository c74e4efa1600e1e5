//! White space, measures and cuts.

use am_model::text::{
    collapse_white_space, compare_code_units, cut, cut_with_dots, cut_with_ellipsis, is_white_space, trim,
    trim_end, utf16_len,
};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

/// `WhiteSpace` and `LineTerminator` of ECMAScript.
const WHITE_SPACE: [char; 25] = [
    '\u{9}', '\u{a}', '\u{b}', '\u{c}', '\u{d}', ' ', '\u{a0}', '\u{1680}', '\u{2000}', '\u{2001}',
    '\u{2002}', '\u{2003}', '\u{2004}', '\u{2005}', '\u{2006}', '\u{2007}', '\u{2008}', '\u{2009}',
    '\u{200a}', '\u{2028}', '\u{2029}', '\u{202f}', '\u{205f}', '\u{3000}', '\u{feff}',
];

/// A family of four: one grapheme of 11 units.
const FAMILY: &str = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}";

#[test]
fn white_space_is_the_ecmascript_set() {
    for c in '\0'..=char::MAX {
        let text = format!("{c}x{c}");
        assert_eq!(is_white_space(c), WHITE_SPACE.contains(&c), "{c:?}");
        assert_eq!(trim(&text) == "x", WHITE_SPACE.contains(&c), "{c:?}");
    }
}

#[test]
fn cuts_fall_between_graphemes() {
    assert_eq!(cut("abc", 2), "ab");
    assert_eq!(cut("abc", 3), "abc");
    assert_eq!(cut("a\u{1f680}b", 2), "a");
    assert_eq!(cut("e\u{301}x", 1), "");
    assert_eq!(cut(FAMILY, 10), "");
    assert_eq!(cut(FAMILY, 11), FAMILY);
    assert_eq!(cut_with_dots("abcdef", 5), "ab...");
    assert_eq!(cut_with_dots("abcde", 5), "abcde");
    assert_eq!(cut_with_ellipsis("abcdef", 5), "abcd\u{2026}");
    assert_eq!(cut_with_ellipsis("a\u{1f680}\u{1f680}", 4), "a\u{1f680}\u{2026}");
}

#[test]
fn code_units_put_surrogates_before_the_last_of_the_plane() {
    assert!(compare_code_units("\u{1f680}", "\u{ff21}").is_lt());
    assert!("\u{1f680}" > "\u{ff21}");
    assert!(compare_code_units("Z", "a").is_lt() && compare_code_units("a", "ab").is_lt());
}

/// Text rich in white space, surrogate pairs, combining marks and joiners.
fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        any::<char>().prop_map(String::from),
        proptest::sample::select(WHITE_SPACE.to_vec()).prop_map(String::from),
        proptest::sample::select(vec![FAMILY, "e\u{301}", "\u{1f1e9}\u{1f1ea}", "\r\n", "a", "\u{85}"])
            .prop_map(String::from),
    ];
    proptest::collection::vec(pieces, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_cut_splits_no_grapheme_and_keeps_its_bound(text in any_text(), units in 0_usize..80) {
        let kept = cut(&text, units);
        prop_assert!(text.starts_with(kept));
        prop_assert!(utf16_len(kept) <= units);
        let mut bounds: Vec<usize> = text.grapheme_indices(true).map(|(start, _)| start).collect();
        bounds.push(text.len());
        let at = bounds.iter().position(|bound| *bound == kept.len());
        prop_assert!(at.is_some(), "cut inside a grapheme");
        // One grapheme more would not fit.
        if let Some(next) = at.and_then(|at| bounds.get(at + 1)) {
            prop_assert!(utf16_len(&text[..*next]) > units);
        }
        prop_assert!(utf16_len(&cut_with_dots(&text, units.max(3))) <= units.max(3));
        prop_assert!(utf16_len(&cut_with_ellipsis(&text, units.max(1))) <= units.max(1));
    }

    #[test]
    fn units_are_those_of_utf16(text in any_text()) {
        prop_assert_eq!(utf16_len(&text), text.encode_utf16().count());
    }

    #[test]
    fn collapsing_is_idempotent_and_leaves_single_spaces(text in any_text()) {
        let once = collapse_white_space(&text);
        prop_assert_eq!(collapse_white_space(&once), once.clone());
        prop_assert!(!once.contains("  ") && !once.starts_with(' ') && !once.ends_with(' '));
        let without = |text: &str| text.chars().filter(|c| !is_white_space(*c)).collect::<String>();
        prop_assert_eq!(without(&once), without(&text));
    }

    #[test]
    fn trimming_cuts_white_space_and_nothing_else(text in any_text()) {
        let trimmed = trim(&text);
        prop_assert!(!trimmed.starts_with(is_white_space) && !trimmed.ends_with(is_white_space));
        let (before, after) = text.split_once(trimmed).unwrap();
        prop_assert!(before.chars().chain(after.chars()).all(|c| trimmed.is_empty() || is_white_space(c)));
        prop_assert!(trim_end(&text).ends_with(trimmed));
    }
}
