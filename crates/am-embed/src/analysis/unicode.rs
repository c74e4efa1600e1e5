//! Terms of the default profile. One pass, linear in the text, whatever the text is.

use am_model::CONCEPT_MAX;
use am_model::text::utf16_len;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation as _;

use super::script::{
    is_dense, is_ideograph, is_ignorable, is_joiner, is_part, is_pictograph, is_regional_indicator,
    is_skin_tone, is_unspaced, is_word_character,
};

/// Calls `emit` with each search term of `text`, in text order, and with whether the term is a word that a concept
/// may be made of.
///
/// NFKC, lower case, words by UAX #29. A word that is joined from parts (`user_id`, `auth.rs`, `can't`) is given
/// whole and in its parts. A run of a script without spaces is given as its characters and its pairs of neighbours,
/// so that a query of any length finds it and two such texts are not alike for sharing an alphabet.
pub(super) fn for_each_term(text: &str, emit: &mut impl FnMut(&str, bool)) {
    let lowered = text.to_ascii_lowercase();
    // White space of ASCII always ends a word and takes no part in normalisation: each stretch stands for itself.
    for stretch in lowered.split_ascii_whitespace() {
        if stretch.is_ascii() {
            ascii_words(stretch, emit);
        } else {
            UnicodeWords { emit, neighbour: None, pair: String::new(), scratch: String::new() }
                .stretch(&normalised(stretch));
        }
    }
}

/// Returns whether `word` has the size of a concept.
pub(super) fn is_concept_size(word: &str) -> bool {
    let units = utf16_len(word);
    let least = if word.starts_with(is_dense) { 2 } else { 3 };
    (least..=CONCEPT_MAX).contains(&units)
}

/// Returns the form in which spellings of one word are equal.
fn normalised(text: &str) -> String {
    let folded: String = text
        .nfkc()
        .filter(|c| !is_ignorable(*c))
        .map(|c| match c {
            'ς' => 'σ',
            '\u{2019}' => '\'',
            c => c,
        })
        .flat_map(char::to_lowercase)
        .collect();
    // A small letter may have a composed form that its capital lacks.
    if is_nfkc_quick(folded.chars()) == IsNormalized::Yes { folded } else { folded.nfkc().collect() }
}

/// Splits ASCII text by UAX #29 without its tables.
fn ascii_words(text: &str, emit: &mut impl FnMut(&str, bool)) {
    let bytes = text.as_bytes();
    let mut start = None;
    let mut previous = b' ';
    for (at, &byte) in bytes.iter().enumerate() {
        let is_inside = byte.is_ascii_alphanumeric()
            || byte == b'_'
            || (start.is_some() && bytes.get(at + 1).is_some_and(|next| is_joined(previous, byte, *next)));
        match start {
            None if is_inside => start = Some(at),
            Some(from) if !is_inside => {
                spaced_word(text.get(from..at).unwrap_or_default(), emit);
                start = None;
            }
            _ => {}
        }
        previous = byte;
    }
    if let Some(from) = start {
        spaced_word(text.get(from..).unwrap_or_default(), emit);
    }
}

/// Returns whether `middle` joins its neighbours into one word (rules WB6, WB7, WB11 and WB12).
fn is_joined(previous: u8, middle: u8, next: u8) -> bool {
    match middle {
        b'.' | b'\'' => {
            (previous.is_ascii_alphabetic() && next.is_ascii_alphabetic())
                || (previous.is_ascii_digit() && next.is_ascii_digit())
        }
        b':' => previous.is_ascii_alphabetic() && next.is_ascii_alphabetic(),
        b',' | b';' => previous.is_ascii_digit() && next.is_ascii_digit(),
        _ => false,
    }
}

/// Gives a word whole, and its parts where it has several or signs around one.
fn spaced_word(word: &str, emit: &mut impl FnMut(&str, bool)) {
    if word.chars().all(is_part) {
        emit(word, true);
        return;
    }
    if !word.contains(is_word_character) {
        return;
    }
    // `don't` and `user's` say nothing as concepts that `user` does not.
    let is_contracted = word.contains('\'');
    emit(word, !is_contracted);
    for part in parts(word) {
        emit(part, is_contracted);
    }
}

fn parts(word: &str) -> impl Iterator<Item = &str> {
    word.split(|c| !is_part(c)).filter(|part| part.contains(is_word_character))
}

struct UnicodeWords<'t, 'e, E> {
    emit: &'e mut E,
    /// The character that ends right here, of a script without spaces.
    neighbour: Option<&'t str>,
    pair: String,
    scratch: String,
}

impl<'t, E: FnMut(&str, bool)> UnicodeWords<'t, '_, E> {
    fn stretch(mut self, text: &'t str) {
        for word in text.split_word_bounds() {
            if !word.contains(is_word_character) {
                self.neighbour = None;
                self.pictographs(word);
            } else if word.contains(is_unspaced) {
                self.unspaced_word(word);
            } else {
                self.neighbour = None;
                // A joiner at the end is no sign around a part.
                spaced_word(word.trim_end_matches(is_joiner), &mut |term: &str, is_word| {
                    give(self.emit, &mut self.scratch, term, is_word);
                });
            }
        }
    }

    /// Gives an emoji whole and, where it is joined from several or has a skin tone, its parts.
    fn pictographs(&mut self, word: &str) {
        // A joiner glues an emoji even to the space before it.
        let start = word.find(|c| is_pictograph(c) || is_regional_indicator(c));
        let Some(word) = start.and_then(|start| word.get(start..)) else { return };
        (self.emit)(word, false);
        for c in word.chars().filter(|c| is_pictograph(*c) && !is_skin_tone(*c)) {
            if c.len_utf8() < word.len() {
                (self.emit)(c.encode_utf8(&mut [0; 4]), false);
            }
        }
    }

    /// Gives the characters of a word of a script without spaces, each with its pair with the one before, which may
    /// belong to the word before. A longer word (katakana) and one of mixed scripts are also given whole.
    fn unspaced_word(&mut self, word: &'t str) {
        let is_mixed = word.chars().any(|c| !is_unspaced(c) && !is_combining_mark(c) && !is_joiner(c));
        let size = characters(word).take(3).count();
        if is_mixed || size > 2 {
            give(self.emit, &mut self.scratch, word, true);
        }
        let mut before_is_in_word = false;
        for part in parts(word) {
            if is_mixed {
                self.neighbour = None;
            }
            for (stretch, is_spaced) in
                stretches(part).filter(|(stretch, _)| stretch.contains(is_word_character))
            {
                if is_spaced {
                    self.neighbour = None;
                    give(self.emit, &mut self.scratch, stretch, false);
                    continue;
                }
                for character in characters(stretch).filter(|character| character.contains(is_unspaced)) {
                    self.character(character, size == 2 && before_is_in_word);
                    before_is_in_word = true;
                }
            }
        }
        if is_mixed {
            self.neighbour = None;
        }
    }

    fn character(&mut self, character: &'t str, ends_word_of_two: bool) {
        if let Some(neighbour) = self.neighbour.replace(character) {
            self.pair.clear();
            self.pair.push_str(neighbour);
            self.pair.push_str(character);
            let is_word = ends_word_of_two
                || (neighbour.starts_with(is_ideograph) && character.starts_with(is_ideograph));
            give(self.emit, &mut self.scratch, &self.pair, is_word);
        }
        give(self.emit, &mut self.scratch, character, false);
    }
}

/// Calls `emit` with `term` without its joiners.
fn give(emit: &mut impl FnMut(&str, bool), scratch: &mut String, term: &str, is_word: bool) {
    if term.contains(is_joiner) {
        scratch.clear();
        scratch.extend(term.chars().filter(|c| !is_joiner(*c)));
        emit(scratch, is_word);
    } else {
        emit(term, is_word);
    }
}

/// Splits a part where scripts with and without spaces meet; gives with each stretch whether it has spaces.
fn stretches(mut part: &str) -> impl Iterator<Item = (&str, bool)> {
    std::iter::from_fn(move || {
        let is_spaced = !part.starts_with(is_unspaced);
        let end = part
            .find(|c| is_unspaced(c) == is_spaced && !is_combining_mark(c) && !is_joiner(c))
            .unwrap_or(part.len());
        let (stretch, rest) = part.split_at_checked(end)?;
        part = rest;
        (!stretch.is_empty()).then_some((stretch, is_spaced))
    })
}

/// Splits before every character that is neither a mark nor a joiner.
fn characters(mut stretch: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let end = stretch
            .char_indices()
            .skip(1)
            .find(|(_, c)| !is_combining_mark(*c) && !is_joiner(*c))
            .map_or(stretch.len(), |(at, _)| at);
        let (character, rest) = stretch.split_at_checked(end)?;
        stretch = rest;
        (!character.is_empty()).then_some(character)
    })
}
