//! Bounds of request values.

use am_model::{
    Concept, DedupKey, Importance, InvalidValue, MemoryId, Origin, Project, SessionId, bounded_text, text,
};
use proptest::prelude::*;

#[test]
fn text_is_trimmed_then_measured_in_utf16_units() {
    let at_the_limit = format!(" \u{feff}{}\n", "\u{1f680}".repeat(100));
    let session = SessionId::new(&at_the_limit).unwrap();
    assert_eq!(session.as_str(), "\u{1f680}".repeat(100));
    let over = "\u{1f680}".repeat(100) + "x";
    assert_eq!(SessionId::new(&over), Err(InvalidValue::TooLong { field: "sessionId", maximum: 200 }));
    for blank in ["", " ", "\u{feff}\u{3000}\r\n"] {
        assert_eq!(Project::new(blank), Err(InvalidValue::TooShort { field: "project", minimum: 1 }));
    }
    // U+0085 is no white space of ECMAScript.
    assert_eq!(Project::new("\u{85}").unwrap().as_str(), "\u{85}");
}

#[test]
fn each_name_has_its_own_limit() {
    let long = |units| "a".repeat(units);
    assert!(Project::new(&long(200)).is_ok() && Project::new(&long(201)).is_err());
    assert!(MemoryId::new(&long(200)).is_ok() && MemoryId::new(&long(201)).is_err());
    assert!(Concept::new(&long(200)).is_ok() && Concept::new(&long(201)).is_err());
    assert!(Origin::new(&long(100)).is_ok() && Origin::new(&long(101)).is_err());
    assert_eq!(
        Origin::new(&long(101)).unwrap_err().to_string(),
        "origin: String must contain at most 100 character(s)"
    );
}

#[test]
fn importance_lies_in_0_to_1() {
    for value in [0.0, 1e-7, 0.5, 1.0] {
        assert_eq!(Importance::new(value).unwrap().get(), value);
    }
    for value in [-1e-9, 1.000_000_1, f64::NAN, f64::INFINITY] {
        assert!(Importance::new(value).is_err(), "{value}");
    }
}

#[test]
fn drawn_ids_are_distinct_uuids() {
    let (first, second) = (MemoryId::random(), MemoryId::random());
    assert_ne!(first, second);
    assert_eq!(first.as_str().len(), 36);
    assert_eq!(first.as_str().as_bytes()[14], b'4');
}

#[test]
fn a_dedup_key_is_64_hexadecimal_digits() {
    for text in ["", "00", &"+f".repeat(32), &"g0".repeat(32), &"0".repeat(63), &"\u{e9}".repeat(32)] {
        assert_eq!(DedupKey::from_hex(text), None, "{text:?}");
    }
}

proptest! {
    #[test]
    fn dedup_keys_round_trip_through_hexadecimal(key: [u8; 32]) {
        prop_assert_eq!(DedupKey::from_hex(&DedupKey(key).to_string()), Some(DedupKey(key)));
    }

    #[test]
    fn case_and_white_space_make_no_other_key(content in "[ \ta-z\u{e9}\u{3a9}]{0,40}") {
        let project = Project::unnamed();
        let key = DedupKey::of(&project, &content);
        prop_assert_eq!(DedupKey::of(&project, &content.to_uppercase()), key);
        prop_assert_eq!(DedupKey::of(&project, &format!("\n{}\u{feff}", content.replace(' ', "\u{2003} "))), key);
    }

    #[test]
    fn accepted_text_is_trimmed_and_within_its_bound(value: String, maximum in 0_usize..20) {
        if let Ok(accepted) = bounded_text("x", &value, maximum) {
            prop_assert!((1..=maximum).contains(&text::utf16_len(&accepted)));
            prop_assert_eq!(text::trim(&accepted), &accepted);
            prop_assert!(value.contains(&accepted));
        } else {
            let units = text::utf16_len(text::trim(&value));
            prop_assert!(units == 0 || units > maximum);
        }
    }
}
