//! Numbers as ECMAScript reads and prints them.

use am_model::number::{parse, print};
use proptest::prelude::*;

#[test]
fn reads_what_ecmascript_reads() {
    for (text, value) in [
        ("", 0.0),
        (" \n\u{feff}", 0.0),
        ("0", 0.0),
        (" 7 ", 7.0),
        ("1e1", 10.0),
        ("1E+2", 100.0),
        (".7", 0.7),
        ("5.", 5.0),
        ("5.e1", 50.0),
        ("+5", 5.0),
        ("-0.5", -0.5),
        ("007", 7.0),
        ("0x10", 16.0),
        ("0XfF", 255.0),
        ("0o17", 15.0),
        ("0b101", 5.0),
        ("Infinity", f64::INFINITY),
        ("-Infinity", f64::NEG_INFINITY),
        ("1e999", f64::INFINITY),
        ("1e-999", 0.0),
        ("0x20000000000001", 9_007_199_254_740_992.0),
        ("0x20000000000003", 9_007_199_254_740_996.0),
    ] {
        assert_eq!(parse(text), Some(value), "{text:?}");
    }
    // Halfway between two doubles, and a bit far below decides upwards.
    let halfway = format!("0x20000000000001{}", "0".repeat(40));
    let above = format!("0x20000000000001{}1", "0".repeat(39));
    assert_eq!(parse(&halfway), Some(2_f64.powi(53 + 160)));
    assert_eq!(parse(&above), Some(2_f64.powi(53 + 160) + 2_f64.powi(1 + 160)));
    assert_eq!(parse(&format!("0x{}", "f".repeat(100_000))), Some(f64::INFINITY));
    assert_eq!(parse(&format!("0x{}1", "0".repeat(100_000))), Some(1.0));
}

#[test]
fn reads_nothing_else() {
    for text in [
        "abc", "NaN", "nan", "inf", "infinity", "INFINITY", "+-5", "--5", "1_000", "1,5", "1 2", ".", "e5",
        ".e5", "1e", "1e+", "0x", "0x0.8", "-0x10", "+0b1", "0b2", "0o8", "10n", "1f", "\u{663}", "\u{85}1",
    ] {
        assert_eq!(parse(text), None, "{text:?}");
    }
}

#[test]
fn prints_as_ecmascript_prints() {
    for (value, text) in [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (-1.5, "-1.5"),
        (0.7, "0.7"),
        (0.575_000_000_000_000_1, "0.5750000000000001"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"),
        (123_456_789_012_345_680_000.0, "123456789012345680000"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "Infinity"),
        (f64::NEG_INFINITY, "-Infinity"),
    ] {
        assert_eq!(print(value), text);
    }
}

proptest! {
    #[test]
    fn what_it_prints_it_reads(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
        prop_assert_eq!(parse(&print(value)), Some(value));
    }

    #[test]
    fn any_text_is_a_number_or_not(text in "\\PC*|[0-9a-fxobeEInity.+ -]{0,12}") {
        prop_assert!(parse(&text).is_none_or(|value| !value.is_nan()));
    }

    #[test]
    fn hexadecimal_integers_are_rounded_like_casts(value: u128) {
        prop_assert_eq!(parse(&format!("0x{value:x}")), Some(value as f64));
        prop_assert_eq!(parse(&format!("0b{value:b}")), Some(value as f64));
    }
}
