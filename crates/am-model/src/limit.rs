//! Limits of request values, in UTF-16 code units where they bound text.

use thiserror::Error;

use crate::text;

/// Largest content.
pub const CONTENT_MAX: usize = 200_000;
/// Largest project name and session id.
pub const SESSION_ID_MAX: usize = 200;
/// Largest origin.
pub const ORIGIN_MAX: usize = 100;
/// Most concepts of one memory.
pub const CONCEPTS_MAX: usize = 64;
/// Largest concept name.
pub const CONCEPT_MAX: usize = 200;
/// Largest query.
pub const QUERY_MAX: usize = 10_000;
/// Largest reason of a governed delete.
pub const REASON_MAX: usize = 1_000;
/// Most rows one request may ask for.
pub const LIMIT_MAX: usize = 100;
/// Rows given when a request names no limit.
pub const LIMIT_DEFAULT: usize = 10;

/// A value outside its rules.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidValue {
    /// Text of less than `minimum` units.
    #[error("{field}: String must contain at least {minimum} character(s)")]
    TooShort {
        /// Name of the field.
        field: &'static str,
        /// Fewest units allowed.
        minimum: usize,
    },
    /// Text of more than `maximum` units.
    #[error("{field}: String must contain at most {maximum} character(s)")]
    TooLong {
        /// Name of the field.
        field: &'static str,
        /// Most units allowed.
        maximum: usize,
    },
    /// A list of more than `maximum` elements.
    #[error("{field}: Array must contain at most {maximum} element(s)")]
    TooMany {
        /// Name of the field.
        field: &'static str,
        /// Most elements allowed.
        maximum: usize,
    },
    /// A number outside its range.
    #[error("{field}: Number must be between {minimum} and {maximum}")]
    OutOfRange {
        /// Name of the field.
        field: &'static str,
        /// Smallest value allowed.
        minimum: &'static str,
        /// Largest value allowed.
        maximum: &'static str,
    },
}

/// Trims `value` and checks that 1 to `maximum` UTF-16 units are left.
pub fn bounded_text(field: &'static str, value: &str, maximum: usize) -> Result<String, InvalidValue> {
    let trimmed = text::trim(value);
    if trimmed.is_empty() {
        return Err(InvalidValue::TooShort { field, minimum: 1 });
    }
    if text::utf16_len(trimmed) > maximum {
        return Err(InvalidValue::TooLong { field, maximum });
    }
    Ok(trimmed.to_owned())
}
