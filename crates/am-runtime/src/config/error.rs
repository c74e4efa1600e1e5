//! What a configuration can have wrong.

use std::path::PathBuf;

use thiserror::Error;

/// Why there is no usable configuration. Never shows a secret.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A value that the setting can't have.
    #[error("{place}: {value:?} is not usable; allowed: {allowed}")]
    Unusable {
        /// The flag, the variable or the key in the file.
        place: String,
        /// The value as it was given.
        value: String,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// A secret that no request header can carry. The value is not shown.
    #[error("{place}: the secret is not usable; allowed: {allowed}")]
    UnusableSecret {
        /// The flag, the variable or the key in the file.
        place: String,
        /// What is allowed, in words.
        allowed: &'static str,
    },
    /// The file has a key that is no setting.
    #[error("config.toml: unknown key {key:?}{}", suggestion(.nearest.as_ref()))]
    UnknownKey {
        /// The key.
        key: String,
        /// The setting it resembles.
        nearest: Option<&'static str>,
    },
    /// The file has a value of a type that no setting has, such as a table.
    #[error(
        "config.toml: the value of {key:?} must be a string, a number, true or false, or a list of strings"
    )]
    Shape {
        /// The key.
        key: String,
    },
    /// The file is not TOML.
    #[error("config.toml: {0}")]
    Syntax(String),
    /// The file can't be read.
    #[error("can't read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The environment names no place for data.
    #[error(
        "no data directory: set AGENT_MEMORY_DATA_DIR, or {} to the home directory",
        am_hook::places::HOME_VARIABLE
    )]
    NoDataDirectory,
}

fn suggestion(nearest: Option<&&'static str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(" (did you mean {nearest:?}?)"))
}
