//! `config.toml`: where it is and what it says.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use am_model::number;
use toml::Value;

use super::{ConfigError, Key};

/// Largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// Returns where `config.toml` is expected: below `XDG_CONFIG_HOME` where that is absolute, else below `.config` in
/// the home directory (`APPDATA` on Windows). `None` when the environment names neither.
///
/// `environment` gives the value of a variable; an empty value counts as unset.
pub fn config_file(environment: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute =
        |name: &str| environment(name).map(PathBuf::from).filter(|directory| directory.is_absolute());
    let directory = absolute("XDG_CONFIG_HOME").or_else(|| {
        if cfg!(windows) { absolute("APPDATA") } else { Some(absolute("HOME")?.join(".config")) }
    })?;
    Some(directory.join("agent-memory").join("config.toml"))
}

/// Reads the file; `None` where there is none.
///
/// # Errors
/// It can't be read, is larger than 1 MiB or is not UTF-8.
pub fn read_config_file(path: &Path) -> Result<Option<String>, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.len() > LARGEST => {
            return Err(unreadable(std::io::Error::other("it is larger than 1 MiB")));
        }
        _ => {}
    }
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        // A file in the place of a directory on the way is no file of ours either.
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(source) => Err(unreadable(source)),
    }
}

/// Reads the settings of a file as text, lists with commas between their elements.
pub(super) fn parse(text: &str) -> Result<BTreeMap<Key, String>, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| syntax(text, &error))?;
    let mut settings = BTreeMap::new();
    for (name, value) in table {
        let Some(key) = Key::ALL.into_iter().find(|key| key.name() == name) else {
            let nearest = nearest(&name);
            return Err(ConfigError::UnknownKey { key: name, nearest });
        };
        let value = as_text(&value).ok_or(ConfigError::Shape { key: name })?;
        settings.insert(key, value);
    }
    Ok(settings)
}

/// Says where the file stops being TOML, without quoting the line: it may hold the secret.
fn syntax(text: &str, error: &toml::de::Error) -> ConfigError {
    let line = error
        .span()
        .and_then(|span| text.get(..span.start))
        .map_or(1, |before| before.bytes().filter(|byte| *byte == b'\n').count() + 1);
    ConfigError::Syntax(format!("line {line}: {}", error.message()))
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(integer) => Some(integer.to_string()),
        Value::Float(float) => Some(number::print(*float)),
        Value::Boolean(boolean) => Some(boolean.to_string()),
        Value::Array(elements) => {
            let elements: Option<Vec<&str>> = elements.iter().map(Value::as_str).collect();
            Some(elements?.join(","))
        }
        Value::Datetime(_) | Value::Table(_) => None,
    }
}

/// Returns the setting whose name is at most three edits away.
fn nearest(name: &str) -> Option<&'static str> {
    let name = name.replace('-', "_").to_ascii_lowercase();
    Key::ALL
        .into_iter()
        .map(|key| (edits(&name, key.name()), key.name()))
        .filter(|(edits, known)| *edits <= 3.min(known.len() / 2))
        .min()
        .map(|(_, known)| known)
}

/// Counts the insertions, removals and replacements of characters between two short texts (Levenshtein).
fn edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, l) in left.chars().take(64).enumerate() {
        let mut next = vec![above + 1];
        for ((r, pair), before) in right.iter().zip(row.windows(2)).zip(0..) {
            let (&[diagonal, up], Some(&side)) = (pair, next.get(before)) else { continue };
            next.push((diagonal + usize::from(l != *r)).min(up + 1).min(side + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
