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

impl ConfigError {
    /// Returns whether the mistake is in the arguments of the program, not in its surroundings.
    pub fn is_of_a_flag(&self) -> bool {
        self.place().is_some_and(|place| place.starts_with("--"))
    }

    /// Returns the exit code of a program that can't start for it: 2 for a mistake in its arguments, else 78
    /// (`EX_CONFIG` of `sysexits.h`).
    pub fn exit_code(&self) -> u8 {
        if self.is_of_a_flag() { 2 } else { 78 }
    }

    /// Says what the user can do about it; `None` where the message says it.
    pub fn hint(&self) -> Option<String> {
        match (self, self.place()) {
            (Self::NoDataDirectory, _) => None,
            (Self::Unreadable { .. }, _) => {
                Some("make it a readable file, or take it away: every setting has a default".to_owned())
            }
            (_, Some(place)) if place.starts_with("--") => {
                Some(format!("without {place} the environment, config.toml or the default counts"))
            }
            (_, Some(place)) if place.starts_with("AGENT_MEMORY_") => Some(format!(
                "correct {place}, or unset it, where this program gets its environment: the shell, the agent's \
                 settings, the service"
            )),
            _ => Some(format!(
                "config.toml is in {}; `am config show --origin` tells where each value comes from, once all \
                 are usable",
                if cfg!(windows) {
                    "%APPDATA%\\agent-memory"
                } else {
                    "$XDG_CONFIG_HOME/agent-memory, else ~/.config/agent-memory"
                }
            )),
        }
    }

    /// Returns the flag, the variable or the key in the file that has the unusable value.
    fn place(&self) -> Option<&str> {
        match self {
            Self::Unusable { place, .. } | Self::UnusableSecret { place, .. } => Some(place),
            _ => None,
        }
    }
}

fn suggestion(nearest: Option<&&'static str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(" (did you mean {nearest:?}?)"))
}
