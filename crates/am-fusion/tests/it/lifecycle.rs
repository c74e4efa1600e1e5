//! TTL, decay and recall boost.

use am_fusion::lifecycle::{
    DecayLambda, Ttl, boosted, decayed, is_expired, remove_expired, tie_break_weight,
};
use am_model::Instant;
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{assert_same, golden, list, strings};

fn now(golden: &Value) -> Instant {
    Instant::parse(golden["now"].as_str().unwrap()).unwrap()
}

fn created(case: &Value) -> Option<Instant> {
    Instant::parse(case["createdAt"].as_str().unwrap())
}

fn recalls(case: &Value) -> u64 {
    case["recalls"].as_u64().unwrap()
}

#[test]
fn golden_boosts() {
    for case in list(&golden("ranking_weights.json"), "boost", 104) {
        let actual = boosted(case["stored"].as_f64().unwrap(), recalls(&case));
        assert_same(actual, case["boosted"].as_f64().unwrap(), &case);
    }
}

#[test]
fn golden_decays() {
    let golden = golden("ranking_weights.json");
    for case in list(&golden, "decay", 182) {
        let lambda = DecayLambda::parse(case["lambda"].as_str());
        let actual = decayed(case["importance"].as_f64().unwrap(), created(&case), now(&golden), lambda);
        assert!((actual - case["decayed"].as_f64().unwrap()).abs() <= 1e-12, "{actual} {case}");
    }
}

#[test]
fn golden_tie_breaks() {
    let golden = golden("ranking_weights.json");
    for case in list(&golden, "tieBreak", 6) {
        let lambda = DecayLambda::parse(case["lambda"].as_str());
        let importance = case["importance"].as_f64().unwrap();
        let actual = tie_break_weight(importance, created(&case), now(&golden), lambda, recalls(&case));
        assert!((actual - case["weight"].as_f64().unwrap()).abs() <= 1e-12, "{actual} {case}");
    }
}

#[test]
fn golden_ttl() {
    let golden = golden("ranking_weights.json");
    for case in list(&golden, "ttl", 10) {
        let ttl = Ttl::parse(case["ttlDays"].as_str());
        let mut rows = strings(&case["createdAt"]);
        let before = rows.len();
        let removed = remove_expired(&mut rows, |row| Instant::parse(row), now(&golden), ttl);
        assert_eq!(rows, strings(&case["kept"]), "{case}");
        assert_eq!(removed, before - rows.len());
        for row in strings(&case["createdAt"]) {
            let Some((created, ttl)) = Instant::parse(&row).zip(ttl) else { continue };
            assert_eq!(created < ttl.cutoff(now(&golden)), !rows.contains(&row), "{row} {case}");
        }
    }
}

#[test]
fn a_ttl_beyond_time_hides_nothing_and_a_tiny_one_all_but_now() {
    let now = Instant::from_millis(1_900_000_000_000);
    let ttl = |raw: &str| Ttl::parse(Some(raw)).unwrap();
    assert_eq!(ttl("1e300").cutoff(now), Instant::FIRST);
    assert_eq!(ttl("1e-300").cutoff(now), now);
    assert_eq!(ttl("1").cutoff(now), now.plus_millis(-86_400_000));
    assert_eq!(ttl("1").cutoff(Instant::FIRST), Instant::FIRST);
}

#[test]
fn settings_that_are_no_positive_number_are_off() {
    for raw in
        [None, Some(""), Some("0"), Some("-1"), Some("x"), Some("NaN"), Some("Infinity"), Some("7 days")]
    {
        assert_eq!(Ttl::parse(raw), None, "{raw:?}");
        assert_eq!(DecayLambda::parse(raw), None, "{raw:?}");
    }
    assert_eq!(Ttl::parse(Some(" 0x10 ")).map(Ttl::days), Some(16.0));
    assert_eq!(DecayLambda::parse(Some("1e-2")).map(DecayLambda::per_day), Some(0.01));
}

#[test]
fn what_has_no_weight_gains_none_however_far_ahead_it_is_dated() {
    let lambda = DecayLambda::parse(Some("1000"));
    let future = Some(Instant::LAST);
    assert_eq!(decayed(0.0, future, Instant::FIRST, lambda), 0.0);
    assert_eq!(decayed(0.1, future, Instant::FIRST, lambda), 1.0);
}

proptest! {
    #[test]
    fn expired_is_exactly_before_the_cutoff(
        now in Instant::FIRST.millis()..=Instant::LAST.millis(),
        days in prop_oneof![1e-9_f64..1e-3, 0.001_f64..10.0, 1.0_f64..100_000.0, (1_u32..4000).prop_map(f64::from)],
        offset in -3_i64..=3,
        elsewhere: i64,
    ) {
        let now = Instant::from_millis(now);
        let ttl = Ttl::parse(Some(&days.to_string())).unwrap();
        let cutoff = ttl.cutoff(now);
        for created in [cutoff.plus_millis(offset), Instant::from_millis(elsewhere), now, Instant::LAST] {
            prop_assert_eq!(is_expired(Some(created), now, Some(ttl)), created < cutoff);
        }
        prop_assert!(!is_expired(None, now, Some(ttl)) && !is_expired(Some(Instant::FIRST), now, None));
    }

    #[test]
    fn no_expired_row_is_left(millis in proptest::collection::vec(any::<i32>(), 0..50), days in 0.001_f64..40.0) {
        let (now, ttl) = (Instant::from_millis(0), Ttl::parse(Some(&days.to_string())));
        let mut rows: Vec<Instant> = millis.iter().map(|millis| Instant::from_millis(i64::from(*millis))).collect();
        let expired = rows.iter().filter(|row| is_expired(Some(**row), now, ttl)).count();
        prop_assert_eq!(remove_expired(&mut rows, |row| Some(*row), now, ttl), expired);
        prop_assert_eq!(rows.len(), millis.len() - expired);
        prop_assert!(rows.iter().all(|row| !is_expired(Some(*row), now, ttl)));
    }

    #[test]
    fn weights_lie_in_0_to_1(importance: f64, created: i64, now: i64, recalls: u64, lambda in "[0-9]{1,3}(e[0-9]{1,3})?") {
        let (created, now) = (Some(Instant::from_millis(created)), Instant::from_millis(now));
        let lambda = DecayLambda::parse(Some(&lambda));
        let weight = tie_break_weight(importance, created, now, lambda, recalls);
        prop_assert!((0.0..=1.0).contains(&weight), "{}", weight);
    }
}
