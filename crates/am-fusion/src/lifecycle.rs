//! What time and use do to a memory: TTL, decay, recall boost.
//!
//! Stored dates may be unparseable, hence `Option<Instant>`: such a row neither expires nor decays.

use am_model::{Instant, number};

/// Reads a setting that must be a finite number above 0; anything else means off.
fn positive(raw: Option<&str>) -> Option<f64> {
    raw.and_then(number::parse).filter(|value| value.is_finite() && *value > 0.0)
}

/// Clamps to 0 to 1, what is not a number to 0.
fn unit(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

/// The age in days past which memories are hidden: finite and above 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Ttl(f64);

impl Ttl {
    /// Reads the setting as ECMAScript reads numbers; unset or unusable means off.
    pub fn parse(raw: Option<&str>) -> Option<Self> {
        positive(raw).map(Self)
    }

    /// Returns the age in days.
    pub fn days(self) -> f64 {
        self.0
    }

    /// Returns the oldest instant that is still shown at `now`: exactly what was made before it is expired.
    pub fn cutoff(self, now: Instant) -> Instant {
        // Age grows as the instant goes back, so the first one that is shown is found by halving.
        let (mut before, mut shown) = (Instant::FIRST.millis() - 1, now.millis());
        while shown - before > 1 {
            let middle = before + (shown - before) / 2;
            if is_expired(Some(Instant::from_millis(middle)), now, Some(self)) {
                before = middle;
            } else {
                shown = middle;
            }
        }
        Instant::from_millis(shown)
    }
}

/// Returns whether a memory made at `created` is hidden at `now`: its age in days is above the TTL.
pub fn is_expired(created: Option<Instant>, now: Instant, ttl: Option<Ttl>) -> bool {
    matches!((created, ttl), (Some(created), Some(ttl)) if now.days_since(created) > ttl.0)
}

/// Removes the expired ones of `rows`, keeps the order of the others, and returns how many it removed.
pub fn remove_expired<T>(
    rows: &mut Vec<T>,
    created_at: impl Fn(&T) -> Option<Instant>,
    now: Instant,
    ttl: Option<Ttl>,
) -> usize {
    let before = rows.len();
    rows.retain(|row| !is_expired(created_at(row), now, ttl));
    before - rows.len()
}

/// How fast importance fades, per day: finite and above 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct DecayLambda(f64);

impl DecayLambda {
    /// Reads the setting as ECMAScript reads numbers; unset or unusable means off.
    pub fn parse(raw: Option<&str>) -> Option<Self> {
        positive(raw).map(Self)
    }

    /// Returns the rate per day.
    pub fn per_day(self) -> f64 {
        self.0
    }
}

/// Returns `importance * exp(-lambda * age in days)`, 0 to 1. A future date inflates it before the clamp.
pub fn decayed(importance: f64, created: Option<Instant>, now: Instant, lambda: Option<DecayLambda>) -> f64 {
    match (created, lambda) {
        (Some(created), Some(lambda)) => unit(importance * (-lambda.0 * now.days_since(created)).exp()),
        _ => unit(importance),
    }
}

/// Returns `stored + 0.2 * n / (n + 1)`, 0 to 1, for a memory that was recalled `recalls` times.
pub fn boosted(stored: f64, recalls: u64) -> f64 {
    let recalls = recalls as f64;
    unit(stored + (0.2 * recalls) / (recalls + 1.0))
}

/// Returns the weight that orders rows of equal score, 0 to 1: importance decayed, then boosted.
pub fn tie_break_weight(
    importance: f64,
    created: Option<Instant>,
    now: Instant,
    lambda: Option<DecayLambda>,
    recalls: u64,
) -> f64 {
    boosted(decayed(importance, created, now, lambda), recalls)
}
