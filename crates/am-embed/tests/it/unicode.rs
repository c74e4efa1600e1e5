//! The default profile against the Unicode tables, character by character.

use am_embed::analysis::{Analysis, Profile};
use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

fn terms(text: &str) -> Vec<String> {
    Analysis::new(Profile::Default).search_terms(text)
}

/// Every assigned plane.
fn characters() -> impl Iterator<Item = char> {
    ('\0'..='\u{33fff}').chain('\u{e0000}'..='\u{e01ff}')
}

#[test]
fn normal_forms_are_one_text() {
    for c in characters() {
        let composed: String = [c].into_iter().nfc().collect();
        let decomposed: String = [c].into_iter().nfd().collect();
        assert_eq!(terms(&composed), terms(&decomposed), "{c:?}");
        assert_eq!(terms(c.encode_utf8(&mut [0; 4])), terms(&composed), "{c:?}");
    }
}

#[test]
fn every_letter_and_digit_is_found() {
    let is_mark = unicode_normalization::char::is_combining_mark;
    for c in characters() {
        let stands_alone = [c].into_iter().nfkc().any(|c| c.is_alphanumeric() && !is_mark(c));
        assert!(!stands_alone || !terms(c.encode_utf8(&mut [0; 4])).is_empty(), "{c:?}");
    }
}

/// A text of letters that UAX #29 breaks apart would else be a bag of letters, and all long texts alike.
#[test]
fn letters_that_are_words_of_their_own_are_also_paired() {
    for c in characters().filter(|c| c.is_alphabetic()) {
        let twice = format!("{c}{c}");
        if twice.unicode_words().count() == 2 {
            assert!(terms(&twice).len() >= 3, "{c:?} U+{:04x}", c as u32);
        }
    }
}

#[test]
fn only_pictographs_are_terms_beside_words() {
    for c in characters().filter(|c| !c.is_alphanumeric()) {
        let found = terms(c.encode_utf8(&mut [0; 4]));
        if c < '\u{2190}' {
            let is_compatibility = found.iter().all(|term| term.chars().all(char::is_alphanumeric));
            assert!(is_compatibility, "{c:?}: {found:?}");
        }
    }
    for emoji in ["☀", "✅", "⚠", "⌛", "⭐", "🀄", "🦀", "🧑", "🪿", "🫠", "✓", "✗"] {
        assert_eq!(terms(emoji), [emoji]);
    }
}
