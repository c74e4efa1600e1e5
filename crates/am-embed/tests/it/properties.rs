//! What holds for every text.

use std::collections::{BTreeMap, BTreeSet};

use am_embed::analysis::{AnalysedText, Analysis, Profile, TermEntry, TermHash, TermsView};
use am_embed::embedder::{Embedder as _, is_zero};
use am_embed::hash::HashEmbedder;
use am_embed::token;
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

/// Texts in which words, joined words, scripts, marks, joiners and emoji meet in every order.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "the",
        "User",
        "a",
        "7",
        "42",
        "_",
        "-",
        ".",
        "'",
        "’",
        ":",
        ",",
        ";",
        " ",
        "  ",
        "\n",
        "größe",
        "É",
        "e\u{301}",
        "J\u{30c}",
        "ß",
        "İ",
        "Σ",
        "сервер",
        "缓存",
        "缓",
        "は",
        "エラー",
        "カ",
        "ที่",
        "배포",
        "תם",
        "\"",
        "🚀",
        "👍🏽",
        "👩\u{200d}💻",
        "🇩🇪",
        "\u{1f1e9}",
        "❤\u{fe0f}",
        "\u{200d}",
        "\u{200c}",
        "\u{ad}",
        "\u{feff}",
        "\u{301}",
        "\u{323}",
        "\u{3000}",
        "ﬁ",
        "\u{fdfa}",
        "²",
        "\u{e0041}",
        "々",
    ]);
    prop_oneof![
        2 => prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

fn profile() -> impl Strategy<Value = Profile> {
    prop_oneof![Just(Profile::Contract), Just(Profile::Default)]
}

/// What an analysed text is by definition, built from the strings.
fn by_definition(analysis: Analysis, text: &str) -> AnalysedText {
    let terms = analysis.search_terms(text);
    let mut entries: BTreeMap<TermHash, TermEntry> = BTreeMap::new();
    let entry = |term: &str| {
        let term = TermHash::of(term);
        (term, TermEntry { term, frequency: 0, similar: false })
    };
    for term in &terms {
        let (hash, empty) = entry(term);
        let found = entries.entry(hash).or_insert(empty);
        found.frequency = found.frequency.saturating_add(1);
    }
    for term in analysis.similarity_terms(text) {
        let (hash, empty) = entry(&term);
        entries.entry(hash).or_insert(empty).similar = true;
    }
    AnalysedText { entries: entries.into_values().collect(), length: terms.len() as u32 }
}

/// Entries in order, as every writer must give them.
fn analysed() -> impl Strategy<Value = AnalysedText> {
    let entries = prop::collection::btree_map(0_u64..1 << 48, any::<(u8, bool)>(), 0..40);
    (entries, any::<u32>()).prop_map(|(entries, length)| AnalysedText {
        entries: entries
            .into_iter()
            .map(|(term, (frequency, similar))| TermEntry { term: TermHash(term), frequency, similar })
            .collect(),
        length,
    })
}

proptest! {
    #[test]
    fn analysis_is_its_definition(text in text(), profile in profile()) {
        let analysis = Analysis::new(profile);
        let analysed = analysis.analyse(&text);
        prop_assert_eq!(&analysed, &by_definition(analysis, &text));
        prop_assert_eq!(&analysed, &analysis.analyse(&text));
        prop_assert_eq!(analysed.similarity_count(), analysis.similarity_terms(&text).len());

        let terms = analysis.search_terms(&text);
        let mut seen = BTreeSet::new();
        let distinct: Vec<TermHash> = terms.iter().map(|term| TermHash::of(term)).filter(|term| seen.insert(*term)).collect();
        prop_assert_eq!(analysis.query(&text), distinct);
        prop_assert!(terms.iter().all(|term| !term.is_empty() && !term.contains(char::is_whitespace)));
    }

    #[test]
    fn concepts_are_few_distinct_and_long_enough(text in text(), profile in profile()) {
        let concepts = Analysis::new(profile).concepts(&text);
        prop_assert!(concepts.len() <= 8);
        prop_assert_eq!(concepts.iter().collect::<BTreeSet<_>>().len(), concepts.len());
        prop_assert!(concepts.iter().all(|concept| concept.chars().count() >= 2));
        let terms = Analysis::new(Profile::Default).search_terms(&text);
        prop_assert!(profile == Profile::Contract || concepts.iter().all(|concept| terms.contains(concept)));
    }

    #[test]
    fn case_and_normal_form_do_not_matter(text in text()) {
        let analysis = Analysis::new(Profile::Default);
        let terms = analysis.search_terms(&text);
        prop_assert_eq!(&analysis.search_terms(&text.to_ascii_uppercase()), &terms);
        prop_assert_eq!(&analysis.search_terms(&text.to_ascii_lowercase()), &terms);
        prop_assert_eq!(&analysis.search_terms(&text.nfc().collect::<String>()), &terms);
        prop_assert_eq!(&analysis.search_terms(&text.nfd().collect::<String>()), &terms);
        prop_assert_eq!(&analysis.search_terms(&text.nfkc().collect::<String>()), &terms);
    }

    /// ASCII text is split without the Unicode tables; they must agree.
    #[test]
    fn words_of_ascii_are_those_of_unicode(text in "[aB7_.':,;\" -]{0,24}") {
        let terms = Analysis::new(Profile::Default).search_terms(&text);
        let mut expected = Vec::new();
        for word in text.to_ascii_lowercase().unicode_words() {
            expected.push(word.to_owned());
            if !word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                let parts = word.split(|c: char| !c.is_ascii_alphanumeric());
                expected.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
            }
        }
        prop_assert_eq!(terms, expected);
    }

    #[test]
    fn stretches_stand_for_themselves(left in text(), right in text()) {
        let analysis = Analysis::new(Profile::Default);
        let mut terms = analysis.search_terms(&left);
        terms.extend(analysis.search_terms(&right));
        prop_assert_eq!(analysis.search_terms(&format!("{left} {right}")), terms);
    }

    #[test]
    fn similarity_is_that_of_the_sets(left in text(), right in text(), profile in profile()) {
        let analysis = Analysis::new(profile);
        let (a, b) = (analysis.analyse(&left), analysis.analyse(&right));
        let (x, y) = (analysis.similarity_terms(&left), analysis.similarity_terms(&right));
        let common = x.intersection(&y).count();
        prop_assert_eq!(a.overlap(&b), common);
        prop_assert_eq!(b.overlap(&a), common);
        let jaccard = a.jaccard(&b);
        prop_assert_eq!(jaccard, b.jaccard(&a));
        prop_assert!((0.0..=1.0).contains(&jaccard));
        prop_assert_eq!(jaccard == 1.0, x == y && !x.is_empty());
    }

    #[test]
    fn what_is_stored_is_read_back(analysed in analysed()) {
        let bytes = analysed.to_bytes();
        prop_assert_eq!(AnalysedText::from_bytes(&bytes), Some(analysed.clone()));
        let view = TermsView::parse(&bytes).unwrap();
        prop_assert_eq!(view.length(), analysed.length);
        prop_assert_eq!(view.count(), analysed.entries.len());
        prop_assert_eq!(view.iter().collect::<Vec<_>>(), analysed.entries);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64), count in 0_u32..5) {
        let mut plausible = bytes.clone();
        if let Some(field) = plausible.get_mut(4..8) {
            field.copy_from_slice(&count.to_le_bytes());
        }
        for bytes in [bytes, plausible] {
            let view = TermsView::parse(&bytes).map(|view| (view.iter().collect::<Vec<_>>(), view.length()));
            let whole = AnalysedText::from_bytes(&bytes);
            prop_assert_eq!(view, whole.clone().map(|text| (text.entries, text.length)));
            if let Some(text) = whole {
                prop_assert_eq!(text.to_bytes(), bytes);
            }
        }
    }

    #[test]
    fn vectors_are_unit_or_zero(text in text()) {
        let vector = HashEmbedder::new().embed_query(&text).unwrap();
        prop_assert_eq!(vector.len(), 384);
        let norm: f64 = vector.iter().map(|component| f64::from(*component).powi(2)).sum();
        prop_assert!(is_zero(&vector) || (norm - 1.0).abs() < 1e-5);
        prop_assert!(!token::tokens(&text).is_empty() || is_zero(&vector));
    }
}
