//! Numbers in text, read and written as ECMAScript does (`Number(text)` and `String(number)`).

use crate::text;

/// Reads `text` as ECMAScript's `Number` does; `None` where that gives NaN.
///
/// White space around it is cut, and empty text is 0. Decimals, exponents, `Infinity`, `0x`, `0o` and `0b` are read.
pub fn parse(text: &str) -> Option<f64> {
    let text = text::trim(text);
    if text.is_empty() {
        return Some(0.0);
    }
    let (prefix, digits) = text.split_at_checked(2).unwrap_or((text, ""));
    match prefix {
        "0x" | "0X" => return power_of_two_radix(digits, 4),
        "0o" | "0O" => return power_of_two_radix(digits, 3),
        "0b" | "0B" => return power_of_two_radix(digits, 1),
        _ => {}
    }
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if unsigned == "Infinity" {
        return Some(sign * f64::INFINITY);
    }
    // `f64::from_str` also reads `inf`, `nan` and a second sign, which ECMAScript does not.
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || !unsigned.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
    {
        return None;
    }
    unsigned.parse::<f64>().ok().map(|value| sign * value)
}

/// Reads digits of `bits` bits each, rounded to the nearest double, ties to even.
fn power_of_two_radix(digits: &str, bits: u32) -> Option<f64> {
    if digits.is_empty() {
        return None;
    }
    let mut mantissa = 0_u128;
    let mut dropped_digits = 0_i32;
    let mut dropped_something = false;
    for c in digits.chars() {
        let digit = c.to_digit(1 << bits)?;
        if mantissa >> 120 == 0 {
            mantissa = (mantissa << bits) | u128::from(digit);
        } else {
            dropped_digits = dropped_digits.saturating_add(1);
            dropped_something |= digit != 0;
        }
    }
    // The last bit lies far below a double's precision: it only tells the rounding that more follows.
    let rounded = (mantissa | u128::from(dropped_something)) as f64;
    Some(rounded * 2_f64.powi(dropped_digits.saturating_mul(bits as i32)))
}

/// Returns `value` as ECMAScript prints it: `1`, `0.7`, `1e-7`, `1e+21`, `NaN`, `-Infinity`.
pub fn print(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        let name = if value.is_nan() { "NaN" } else { "Infinity" };
        return format!("{}{name}", if value < 0.0 { "-" } else { "" });
    }
    // Rust's `e` format gives the same shortest round-trip digits; only the notation differs.
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if value < 0.0 { "-" } else { "" };
    let count = digits.len() as i32;
    let point = exponent + 1;
    if (count..=21).contains(&point) {
        return format!("{sign}{digits}{}", "0".repeat((point - count) as usize));
    }
    if (1..=21).contains(&point) {
        let (whole, fraction) = digits.split_at_checked(point as usize).unwrap_or((&digits, ""));
        return format!("{sign}{whole}.{fraction}");
    }
    if (-5..=0).contains(&point) {
        return format!("{sign}0.{}{digits}", "0".repeat(-point as usize));
    }
    let (first, rest) = digits.split_at_checked(1).unwrap_or((&digits, ""));
    let dot = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{dot}{rest}e{exponent:+}")
}
