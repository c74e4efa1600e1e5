//! The configuration as a value: every setting with its value and where that came from.
//!
//! A flag beats the environment, the environment beats `config.toml`, that beats the default. Read once, at start.

mod error;
mod file;
mod key;
mod value;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use am_embed::analysis::Profile;
use am_hook::places;
use am_hook::url::BaseUrl;
use am_model::{Project, number};
use am_service::{DecayLambda, MergeThreshold, Settings, Ttl};
use am_store_sqlite::Synchronous;

pub use self::error::ConfigError;
pub use self::file::{config_file, read_config_file};
pub use self::key::Key;

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A flag of the program.
    Flag,
    /// The environment.
    Environment,
    /// `config.toml`.
    File,
    /// Nobody set it.
    Default,
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it came from.
    pub origin: Origin,
}

/// A secret. Shows itself to nobody by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Returns the secret, to be compared or sent; never to be shown.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(set)")
    }
}

/// The address of a server, as the user wrote it and taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl {
    /// As written.
    pub text: String,
    /// Taken apart.
    pub base: BaseUrl,
}

/// Which store holds the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// The embedded one, in the data directory.
    Embedded,
}

/// Which embedder a new store gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbedderKind {
    /// The contract's hash embedder.
    Hash,
}

/// Values that the user gave as flags. They beat all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides(BTreeMap<Key, OsString>);

impl Overrides {
    /// Adds a flag's value; `None` leaves the setting to the environment, the file and the default.
    pub fn with(mut self, key: Key, value: Option<impl Into<OsString>>) -> Self {
        if let Some(value) = value {
            self.0.insert(key, value.into());
        }
        self
    }
}

/// A value that is ignored, by the contract's rule for settings of ranking and merging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The flag, the variable or the key in the file.
    pub place: String,
    /// The value as it was given.
    pub value: String,
    /// What it means instead.
    pub effect: &'static str,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?} is not usable: {} (write `off` to say so)", self.place, self.value, self.effect)
    }
}

/// Every setting of every program.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Directory of the store, the socket and the spool.
    pub data_dir: Setting<PathBuf>,
    /// Which store.
    pub store: Setting<StoreKind>,
    /// Profile of a new store; an existing one keeps its own.
    pub profile: Setting<Profile>,
    /// Embedder of a new store.
    pub embedder: Setting<EmbedderKind>,
    /// What an acknowledged commit survives.
    pub synchronous: Setting<Synchronous>,
    /// Most bytes of search projections in memory; `None` leaves it to the program.
    pub projection_bytes: Setting<Option<usize>>,
    /// Address or name the server binds. An IPv6 address has no brackets.
    pub host: Setting<String>,
    /// Port the server binds.
    pub port: Setting<u16>,
    /// Secret that requests must carry, never empty, without control characters or space at its ends.
    pub secret: Setting<Option<Secret>>,
    /// Further host names, in lower case and without port, that the server answers to.
    pub allow_hosts: Setting<Vec<String>>,
    /// Further origins, such as `http://localhost:8080`, that the server answers to.
    pub allow_origins: Setting<Vec<String>>,
    /// Loopback port of the metrics; `None`: none are served.
    pub metrics_port: Setting<Option<u16>>,
    /// Address of the server, for clients; `None`: the socket of the data directory, else port 3111.
    pub url: Setting<Option<ServerUrl>>,
    /// Project, for clients that are given none.
    pub project: Setting<Option<Project>>,
    /// Age past which memories are hidden.
    pub ttl_days: Setting<Option<Ttl>>,
    /// How fast importance fades.
    pub decay_lambda: Setting<Option<DecayLambda>>,
    /// Similarity from which texts are merged.
    pub merge_jaccard: Setting<Option<MergeThreshold>>,
    /// Whether hooks add the name of the file to what they capture.
    pub capture_paths: Setting<bool>,
    /// Days after which evidence is removed by what runs for long; `None`: never. Memories stay.
    pub evidence_days: Setting<Option<u32>>,
    /// Values that are ignored, to be shown once.
    pub warnings: Vec<Warning>,
    /// The data directory of programs that know only the environment, such as the hook.
    hook_data_dir: Option<PathBuf>,
}

/// One line of `am config show`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The setting.
    pub key: Key,
    /// Its value as text; empty for none, `set` for a secret.
    pub value: String,
    /// Where it came from: `flag`, `environment VARIABLE`, `file`, `default`.
    pub origin: String,
}

impl Config {
    /// Reads the settings from flags, environment and the text of `config.toml`.
    ///
    /// `environment` gives the value of a variable.
    ///
    /// # Errors
    /// A value is unusable, the file has an unknown key or is not TOML, or the environment names no place for data.
    pub fn resolve(
        overrides: &Overrides,
        environment: &dyn Fn(&str) -> Option<OsString>,
        file: Option<&str>,
    ) -> Result<Self, ConfigError> {
        let file = file.map(file::parse).transpose()?.unwrap_or_default();
        let hook_data_dir = places::data_directory(environment);
        let mut given = Given { overrides, environment, file, warnings: vec![] };
        Ok(Self {
            data_dir: given.data_dir(hook_data_dir.clone())?,
            store: given.read(Key::Store, StoreKind::Embedded, "embedded", |raw| {
                (raw == "embedded").then_some(StoreKind::Embedded)
            })?,
            profile: given.read(Key::Profile, Profile::Default, "default, contract", Profile::parse)?,
            embedder: given.read(Key::Embedder, EmbedderKind::Hash, "hash", |raw| {
                (raw == "hash").then_some(EmbedderKind::Hash)
            })?,
            synchronous: given.read(
                Key::Synchronous,
                Synchronous::Full,
                "full, normal",
                |raw| match raw {
                    "full" => Some(Synchronous::Full),
                    "normal" => Some(Synchronous::Normal),
                    _ => None,
                },
            )?,
            projection_bytes: given.optional(Key::ProjectionBytes, |_| false, value::BYTES, value::bytes)?,
            host: given.read(Key::Host, "127.0.0.1".to_owned(), value::HOST, value::host)?,
            port: given.read(Key::Port, places::DEFAULT_ADDRESS.port(), value::PORT, value::port)?,
            secret: given.secret()?,
            allow_hosts: given.read(Key::AllowHosts, vec![], value::HOSTS, value::hosts)?,
            allow_origins: given.read(Key::AllowOrigins, vec![], value::ORIGINS, value::origins)?,
            metrics_port: given.optional(
                Key::MetricsPort,
                value::is_off,
                value::OPTIONAL_PORT,
                value::port,
            )?,
            url: given.optional(Key::Url, value::is_blank, value::URL, value::url)?,
            project: given.optional(Key::Project, value::is_blank, value::PROJECT, value::project)?,
            ttl_days: given.lenient(Key::TtlDays, "memories don't expire", Ttl::parse),
            decay_lambda: given.lenient(Key::DecayLambda, "importance doesn't fade", DecayLambda::parse),
            merge_jaccard: given.lenient(Key::MergeJaccard, "texts are not merged", MergeThreshold::parse),
            capture_paths: given.read(
                Key::CapturePaths,
                false,
                value::CAPTURE_PATHS,
                value::capture_paths,
            )?,
            evidence_days: given.optional(Key::EvidenceDays, value::is_off, value::DAYS, value::days)?,
            warnings: given.warnings,
            hook_data_dir,
        })
    }

    /// Reads the settings, and `config.toml` from where the environment says it is.
    ///
    /// # Errors
    /// As [`Config::resolve`], or the file is there and can't be read.
    pub fn load(
        overrides: &Overrides,
        environment: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ConfigError> {
        let file = match config_file(environment) {
            Some(path) => read_config_file(&path)?,
            None => None,
        };
        Self::resolve(overrides, environment, file.as_deref())
    }

    /// Returns the settings of the verbs.
    pub fn settings(&self) -> Settings {
        Settings {
            ttl: self.ttl_days.value,
            decay: self.decay_lambda.value,
            merge_threshold: self.merge_jaccard.value,
        }
    }

    /// Returns the path of the server's socket.
    pub fn socket(&self) -> PathBuf {
        self.data_dir.value.join(places::SOCKET_NAME)
    }

    /// Returns the data directories whose spools are ours to drain: our own, and that of hooks, which know only
    /// the environment.
    pub fn spool_directories(&self) -> Vec<PathBuf> {
        let mut directories = vec![self.data_dir.value.clone()];
        directories.extend(self.hook_data_dir.clone().filter(|hook| *hook != self.data_dir.value));
        directories
    }

    /// Returns whether the server binds an address that only this machine reaches.
    pub fn is_loopback(&self) -> bool {
        let host = &self.host.value;
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Lists every setting as text, in the order of [`Key::ALL`].
    pub fn show(&self) -> Vec<Shown> {
        Key::ALL
            .into_iter()
            .map(|key| {
                let (value, origin) = self.show_one(key);
                let origin = match origin {
                    Origin::Flag => "flag".to_owned(),
                    Origin::Environment => format!("environment {}", key.variable()),
                    Origin::File => "file".to_owned(),
                    Origin::Default => "default".to_owned(),
                };
                Shown { key, value, origin }
            })
            .collect()
    }

    fn show_one(&self, key: Key) -> (String, Origin) {
        fn show<T>(setting: &Setting<T>, text: impl FnOnce(&T) -> String) -> (String, Origin) {
            (text(&setting.value), setting.origin)
        }
        fn optional<T>(setting: &Setting<Option<T>>, text: impl FnOnce(&T) -> String) -> (String, Origin) {
            (setting.value.as_ref().map_or_else(String::new, text), setting.origin)
        }
        fn or_off<T>(setting: &Setting<Option<T>>, text: impl FnOnce(&T) -> f64) -> (String, Origin) {
            let text = setting.value.as_ref().map_or("off".to_owned(), |value| number::print(text(value)));
            (text, setting.origin)
        }
        match key {
            Key::DataDir => show(&self.data_dir, |path| path.display().to_string()),
            Key::Store => show(&self.store, |StoreKind::Embedded| "embedded".to_owned()),
            Key::Profile => show(&self.profile, |profile| profile.as_str().to_owned()),
            Key::Embedder => show(&self.embedder, |EmbedderKind::Hash| "hash".to_owned()),
            Key::Synchronous => show(&self.synchronous, |synchronous| {
                let name = match synchronous {
                    Synchronous::Full => "full",
                    Synchronous::Normal => "normal",
                };
                name.to_owned()
            }),
            Key::ProjectionBytes => optional(&self.projection_bytes, ToString::to_string),
            Key::Host => show(&self.host, Clone::clone),
            Key::Port => show(&self.port, ToString::to_string),
            Key::Secret => optional(&self.secret, |_| "set".to_owned()),
            Key::AllowHosts => show(&self.allow_hosts, |hosts| hosts.join(",")),
            Key::AllowOrigins => show(&self.allow_origins, |origins| origins.join(",")),
            Key::MetricsPort => or_off(&self.metrics_port, |port| f64::from(*port)),
            Key::Url => optional(&self.url, |url| url.text.clone()),
            Key::Project => optional(&self.project, ToString::to_string),
            Key::TtlDays => or_off(&self.ttl_days, |ttl| ttl.days()),
            Key::DecayLambda => or_off(&self.decay_lambda, |lambda| lambda.per_day()),
            Key::MergeJaccard => or_off(&self.merge_jaccard, |threshold| threshold.get()),
            Key::CapturePaths => {
                show(&self.capture_paths, |names| (if *names { "basename" } else { "off" }).to_owned())
            }
            Key::EvidenceDays => or_off(&self.evidence_days, |days| f64::from(*days)),
        }
    }
}

/// What the user gave, from all sides.
struct Given<'a> {
    overrides: &'a Overrides,
    environment: &'a dyn Fn(&str) -> Option<OsString>,
    file: BTreeMap<Key, String>,
    warnings: Vec<Warning>,
}

impl Given<'_> {
    /// Returns the value that counts.
    fn raw(&self, key: Key) -> Option<(OsString, Origin)> {
        if let Some(value) = self.overrides.0.get(&key) {
            return Some((value.clone(), Origin::Flag));
        }
        if let Some(value) = (self.environment)(key.variable()) {
            return Some((value, Origin::Environment));
        }
        self.file.get(&key).map(|value| (value.into(), Origin::File))
    }

    fn read<T>(
        &self,
        key: Key,
        default: T,
        allowed: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Setting<T>, ConfigError> {
        let Some((raw, origin)) = self.raw(key) else {
            return Ok(Setting { value: default, origin: Origin::Default });
        };
        match raw.to_str().and_then(parse) {
            Some(value) => Ok(Setting { value, origin }),
            None => Err(unusable(key, origin, &raw, allowed)),
        }
    }

    /// Reads a setting that may also say, in the words of `unset`, that there is none.
    fn optional<T>(
        &self,
        key: Key,
        unset: impl FnOnce(&str) -> bool,
        allowed: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Setting<Option<T>>, ConfigError> {
        match self.raw(key) {
            Some((raw, origin)) if raw.to_str().is_some_and(unset) => Ok(Setting { value: None, origin }),
            Some((raw, origin)) => match raw.to_str().and_then(parse) {
                Some(value) => Ok(Setting { value: Some(value), origin }),
                None => Err(unusable(key, origin, &raw, allowed)),
            },
            None => Ok(Setting { value: None, origin: Origin::Default }),
        }
    }

    fn secret(&self) -> Result<Setting<Option<Secret>>, ConfigError> {
        self.optional(Key::Secret, str::is_empty, value::SECRET, value::secret).map_err(|error| match error {
            ConfigError::Unusable { place, allowed, .. } => ConfigError::UnusableSecret { place, allowed },
            error => error,
        })
    }

    /// Reads a setting that is off where its value is unusable, and says so.
    fn lenient<T>(
        &mut self,
        key: Key,
        effect: &'static str,
        parse: impl Fn(Option<&str>) -> Option<T>,
    ) -> Setting<Option<T>> {
        let Some((raw, origin)) = self.raw(key) else {
            return Setting { value: parse(None), origin: Origin::Default };
        };
        let value = parse(Some(raw.to_str().unwrap_or("not text")));
        // An empty variable is the usual way to take back a setting, so it is no mistake where that means off anyway.
        let meant = raw == "off" || (raw.is_empty() && parse(None).is_none());
        if value.is_none() && !meant {
            let place = key.place(origin);
            self.warnings.push(Warning { place, value: raw.to_string_lossy().into_owned(), effect });
        }
        Setting { value, origin }
    }

    fn data_dir(&self, default: Option<PathBuf>) -> Result<Setting<PathBuf>, ConfigError> {
        const ALLOWED: &str = "a path; in config.toml an absolute one";
        let set = self.raw(Key::DataDir).filter(|(raw, origin)| {
            // In the environment an empty value counts as unset, as everywhere where paths are named.
            *origin != Origin::Environment || !raw.is_empty()
        });
        let from_file = || self.file.get(&Key::DataDir).map(|value| (value.into(), Origin::File));
        let Some((raw, origin)) = set.or_else(from_file) else {
            let value = default.ok_or(ConfigError::NoDataDirectory)?;
            return Ok(Setting { value, origin: Origin::Default });
        };
        let path = PathBuf::from(&raw);
        if raw.is_empty() || (origin == Origin::File && !path.is_absolute()) {
            return Err(unusable(Key::DataDir, origin, &raw, ALLOWED));
        }
        Ok(Setting { value: path, origin })
    }
}

fn unusable(key: Key, origin: Origin, raw: &OsStr, allowed: &'static str) -> ConfigError {
    let value = raw.to_string_lossy().into_owned();
    ConfigError::Unusable { place: key.place(origin), value, allowed }
}
