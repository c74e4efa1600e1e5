//! Instants: integer milliseconds UTC inside, ISO 8601 with milliseconds outside.

use std::fmt;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Instant(i64);

impl Instant {
    /// The first instant, `0000-01-01T00:00:00.000Z`.
    pub const FIRST: Self = Self(-62_167_219_200_000);
    /// The last instant, `9999-12-31T23:59:59.999Z`.
    pub const LAST: Self = Self(253_402_300_799_999);

    /// Makes an instant from milliseconds since 1970, clamped to what four-digit years can show.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(Self::FIRST.0, Self::LAST.0))
    }

    /// Returns the milliseconds since 1970.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// Parses an RFC 3339 instant such as `2031-06-15T12:00:00.000Z`; anything else is `None`.
    ///
    /// Digits past the millisecond are cut. What an offset moves out of the four-digit years is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        let parsed = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        let millis = i64::try_from(parsed.unix_timestamp_nanos().div_euclid(1_000_000)).ok()?;
        (Self::FIRST.0..=Self::LAST.0).contains(&millis).then_some(Self(millis))
    }

    /// Returns the instant `millis` later, or earlier if negative.
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// Returns the days from `earlier` to this instant, negative if it lies before.
    pub fn days_since(self, earlier: Self) -> f64 {
        (self.0 - earlier.0) as f64 / 86_400_000.0
    }
}

impl fmt::Display for Instant {
    /// Writes `YYYY-MM-DDTHH:MM:SS.mmmZ`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.rem_euclid(1000);
        match OffsetDateTime::from_unix_timestamp(self.0.div_euclid(1000)) {
            Ok(at) => write!(
                f,
                "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{millis:03}Z",
                at.year(),
                u8::from(at.month()),
                at.day(),
                at.hour(),
                at.minute(),
                at.second()
            ),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}
