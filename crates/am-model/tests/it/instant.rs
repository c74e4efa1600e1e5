//! Instants as clients read and write them.

use am_model::Instant;
use proptest::prelude::*;

#[test]
fn shows_what_it_reads() {
    for text in [
        "1970-01-01T00:00:00.000Z",
        "2031-06-15T12:00:00.000Z",
        "2032-02-29T23:59:59.999Z",
        "1969-12-31T23:59:59.999Z",
        "0000-01-01T00:00:00.000Z",
        "9999-12-31T23:59:59.999Z",
    ] {
        assert_eq!(Instant::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn reads_offsets_and_other_precisions() {
    let noon = Instant::parse("2031-06-15T12:00:00.000Z");
    assert_eq!(Instant::parse("2031-06-15T14:00:00+02:00"), noon);
    assert_eq!(Instant::parse("2031-06-15T12:00:00Z"), noon);
    assert_eq!(Instant::parse("2031-06-15T12:00:00.0009Z"), noon);
    // Before 1970 too, the later digits are cut, not rounded away from it.
    assert_eq!(Instant::parse("1969-12-31T23:59:59.9999Z").unwrap().millis(), -1);
}

#[test]
fn reads_nothing_else() {
    for text in [
        "",
        "garbage",
        "not a date",
        "n/a",
        "2031-06-15",
        "2031-06-15T12:00:00",
        "2031-02-30T12:00:00.000Z",
        "2031-06-15T25:00:00.000Z",
        " 2031-06-15T12:00:00.000Z",
        "12031-06-15T12:00:00.000Z",
        "9999-12-31T23:59:59.999-01:00",
        "0000-01-01T00:00:00.000+01:00",
    ] {
        assert_eq!(Instant::parse(text), None, "{text:?}");
    }
}

#[test]
fn stays_within_what_it_can_show() {
    for millis in [i64::MIN, i64::MAX] {
        let instant = Instant::from_millis(0).plus_millis(millis);
        assert_eq!(instant, Instant::from_millis(millis));
        assert_eq!(Instant::parse(&instant.to_string()), Some(instant));
    }
    assert_eq!(Instant::LAST.days_since(Instant::FIRST), -Instant::FIRST.days_since(Instant::LAST));
}

proptest! {
    #[test]
    fn round_trips_through_text(millis in Instant::FIRST.millis()..=Instant::LAST.millis()) {
        let instant = Instant::from_millis(millis);
        prop_assert_eq!(instant.millis(), millis);
        prop_assert_eq!(Instant::parse(&instant.to_string()), Some(instant));
    }

    #[test]
    fn text_orders_like_time(left: i64, right: i64) {
        let (left, right) = (Instant::from_millis(left), Instant::from_millis(right));
        prop_assert_eq!(left.to_string().cmp(&right.to_string()), left.cmp(&right));
    }

    #[test]
    fn any_text_is_read_or_refused(text: String) {
        let _ = Instant::parse(&text);
    }
}
