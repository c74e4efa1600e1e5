//! Readers of single values. Each gives `None` for what the setting can't have.

use std::net::IpAddr;

use am_hook::url::BaseUrl;
use am_model::{Project, number, text};

use super::{Secret, ServerUrl};

/// Smallest budget for projections: below, not even an empty project's fits.
const PROJECTION_MINIMUM: u64 = 1 << 20;

pub(super) const PORT: &str = "an integer from 1 to 65535";

pub(super) fn port(raw: &str) -> Option<u16> {
    let value = number::parse(raw)?;
    (value.fract() == 0.0 && (1.0..=65535.0).contains(&value)).then_some(value as u16)
}

pub(super) const OPTIONAL_PORT: &str = "an integer from 1 to 65535, or off";

pub(super) const HOST: &str = "an IP address or a host name, such as 127.0.0.1 or localhost";

pub(super) fn host(raw: &str) -> Option<String> {
    let bare = raw.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if let Some(bare) = bare {
        return bare.parse::<std::net::Ipv6Addr>().ok().map(|address| address.to_string());
    }
    if let Ok(address) = raw.parse::<IpAddr>() {
        return Some(address.to_string());
    }
    // Digits and dots alone are an address with a mistake in it.
    let is_name = !raw.is_empty()
        && raw.len() <= 253
        && raw.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
        && !raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_name.then(|| raw.to_ascii_lowercase())
}

pub(super) const SECRET: &str = "text without control characters, and without a space or tab at either end";

pub(super) fn secret(raw: &str) -> Option<Secret> {
    // What a header can't carry could never be presented; and whoever reads one trims its value.
    let usable = !raw.starts_with([' ', '\t'])
        && !raw.ends_with([' ', '\t'])
        && !raw.chars().any(|c| c.is_ascii_control() && c != '\t');
    usable.then(|| Secret(raw.to_owned()))
}

pub(super) const URL: &str = "an http or https URL without user name and password";

pub(super) fn url(raw: &str) -> Option<ServerUrl> {
    BaseUrl::parse(raw).map(|base| ServerUrl { text: raw.to_owned(), base })
}

pub(super) const PROJECT: &str = "1 to 200 characters";

pub(super) fn project(raw: &str) -> Option<Project> {
    Project::new(raw).ok()
}

pub(super) const BYTES: &str = "a number of bytes from 1048576, or with a unit, such as 64MiB";

pub(super) fn bytes(raw: &str) -> Option<usize> {
    let raw = text::trim(raw);
    let (digits, unit) = [("KiB", 1_u64 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)]
        .into_iter()
        .find_map(|(name, unit)| Some((raw.strip_suffix(name)?, unit)))
        .unwrap_or((raw, 1));
    let digits = text::trim(digits);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let bytes = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    usize::try_from(bytes).ok().filter(|_| bytes >= PROJECTION_MINIMUM)
}

pub(super) const HOSTS: &str = "a list of host names or addresses, without ports, with commas between them";

pub(super) fn hosts(raw: &str) -> Option<Vec<String>> {
    elements(raw).map(host).collect()
}

pub(super) const ORIGINS: &str =
    "a list of origins such as http://localhost:8080, without paths, with commas between them";

pub(super) fn origins(raw: &str) -> Option<Vec<String>> {
    elements(raw)
        .map(|element| {
            let base = BaseUrl::parse(element)?;
            let scheme = if base.secure { "https" } else { "http" };
            let origin = format!("{scheme}://{}", base.authority());
            // A path says that the user means something an origin can't say.
            (base.path("") == "/" && !element.contains(['?', '#'])).then_some(origin)
        })
        .collect()
}

fn elements(raw: &str) -> impl Iterator<Item = &str> {
    raw.split(',').map(text::trim).filter(|element| !element.is_empty())
}

pub(super) const CAPTURE_PATHS: &str = "basename, off";

pub(super) fn capture_paths(raw: &str) -> Option<bool> {
    match raw {
        "basename" => Some(true),
        raw if is_off(raw) => Some(false),
        _ => None,
    }
}

/// Returns whether a value says that something optional is not wanted.
pub(super) fn is_off(raw: &str) -> bool {
    raw.is_empty() || raw == "off"
}

/// Returns whether a value says nothing.
pub(super) fn is_blank(raw: &str) -> bool {
    text::trim(raw).is_empty()
}

/// What [`days`] allows.
pub(super) const DAYS: &str = "off, or whole days from 1 to 36500";

/// Reads a number of days.
pub(super) fn days(raw: &str) -> Option<u32> {
    raw.parse().ok().filter(|days| (1..=36_500).contains(days))
}
