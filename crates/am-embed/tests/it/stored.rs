//! The forms on disk: pinned, exact, and safe to read from a damaged file.

use am_embed::analysis::{AnalysedText, Analysis, Profile, TermEntry, TermHash, TermsView};

/// Computed by another implementation of 64-bit FNV-1a.
const PINNED: [(&str, u64); 6] = [
    ("", 0x9ce48422e8d7),
    ("a", 0xdc4c860143ef),
    ("parser", 0x7fd836b176f4),
    ("user_id", 0x29a4571e1b38),
    ("größe", 0x0e1ef581f79f),
    ("检索", 0xa8f62b7ca06d),
];

#[test]
fn term_hashes_never_change() {
    for (term, hash) in PINNED {
        assert_eq!(TermHash::of(term), TermHash(hash), "{term}");
    }
}

#[test]
fn the_stored_form_never_changes() {
    let text = AnalysedText {
        entries: vec![
            TermEntry { term: TermHash(0x0102_0304_0506), frequency: 2, similar: true },
            TermEntry { term: TermHash(0xffff_ffff_ffff), frequency: 0, similar: true },
        ],
        length: 0x0403_0201,
    };
    let bytes = [1, 2, 3, 4, 2, 0, 0, 0, 6, 5, 4, 3, 2, 1, 255, 255, 255, 255, 255, 255, 2, 0, 0b11];
    assert_eq!(text.to_bytes(), bytes);
    assert_eq!(AnalysedText::from_bytes(&bytes), Some(text));
    assert_eq!(AnalysedText::default().to_bytes(), [0; 8]);
    assert_eq!(AnalysedText::from_bytes(&[0; 8]), Some(AnalysedText::default()));
}

#[test]
fn damaged_bytes_are_refused() {
    let whole = Analysis::new(Profile::Default).analyse("one two three").to_bytes();
    assert!(AnalysedText::from_bytes(&whole).is_some());
    for end in 0..whole.len() {
        assert_eq!(AnalysedText::from_bytes(&whole[..end]), None, "cut at {end}");
    }
    let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        AnalysedText::from_bytes(&bytes)
    };
    assert_eq!(damaged(&|bytes| bytes.push(0)), None, "a byte too many");
    assert_eq!(damaged(&|bytes| bytes[4] = 2), None, "another count");
    assert_eq!(damaged(&|bytes| bytes[4..8].fill(255)), None, "a count beyond memory");
    assert_eq!(damaged(&|bytes| bytes[8..20].rotate_left(6)), None, "terms out of order");
    assert_eq!(damaged(&|bytes| bytes.copy_within(8..14, 14)), None, "a term twice");
    assert_eq!(damaged(&|bytes| *bytes.last_mut().unwrap() |= 8), None, "a bit beyond the last entry");
}

#[test]
fn frequencies_are_counted_and_capped() {
    for (repeats, frequency) in [(1, 1), (255, 255), (256, 255), (5_000, 255)] {
        let text = Analysis::new(Profile::Default).analyse(&"word ".repeat(repeats));
        assert_eq!(text.length as usize, repeats);
        assert_eq!(text.entries, [TermEntry { term: TermHash::of("word"), frequency, similar: true }]);
    }
}

#[test]
fn contract_terms_serve_search_similarity_or_both() {
    // `größe` is searched whole and compared as `gr`; `x` is too short to be compared.
    let text = Analysis::new(Profile::Contract).analyse("größe x node");
    let entry = |term| text.entries.iter().find(|entry| entry.term == TermHash::of(term)).copied();
    let expected =
        |term, frequency, similar| Some(TermEntry { term: TermHash::of(term), frequency, similar });
    assert_eq!(entry("größe"), expected("größe", 1, false));
    assert_eq!(entry("gr"), expected("gr", 0, true));
    assert_eq!(entry("x"), expected("x", 1, false));
    assert_eq!(entry("node"), expected("node", 1, true));
    assert_eq!(text.entries.len(), 4);
    assert_eq!(text.length, 3);
    assert_eq!(text.similarity_count(), 2);
}

#[test]
fn a_view_reads_in_place() {
    let text = Analysis::new(Profile::Contract).analyse("größe x node ".repeat(9).as_str());
    let bytes = text.to_bytes();
    let view = TermsView::parse(&bytes).unwrap();
    assert_eq!(view.length(), 27);
    assert_eq!(view.count(), 4);
    assert_eq!(view.iter().collect::<Vec<_>>(), text.entries);
}

#[test]
fn an_analysis_supersedes_older_ones_of_its_profile_only() {
    let analysis = Analysis::new(Profile::Default);
    assert!(analysis.supersedes("default-0"));
    for stored in [analysis.id(), "default-4000000", "contract-0", "default", "default-", "default-x", ""] {
        assert!(!analysis.supersedes(stored), "{stored}");
    }
}
