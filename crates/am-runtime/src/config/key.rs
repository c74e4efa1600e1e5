//! The settings by name.

use super::Origin;

/// One setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// Directory of the store, the socket and the spool.
    DataDir,
    /// Which store.
    Store,
    /// Profile of a new store.
    Profile,
    /// Embedder of a new store.
    Embedder,
    /// What an acknowledged commit survives.
    Synchronous,
    /// Most bytes of search projections in memory.
    ProjectionBytes,
    /// Address the server binds.
    Host,
    /// Port the server binds.
    Port,
    /// Secret that requests must carry.
    Secret,
    /// Further values of `Host` that the server answers to.
    AllowHosts,
    /// Further values of `Origin` that the server answers to.
    AllowOrigins,
    /// Loopback port of the metrics.
    MetricsPort,
    /// Address of the server, for clients.
    Url,
    /// Project, for clients.
    Project,
    /// Age past which memories are hidden.
    TtlDays,
    /// How fast importance fades.
    DecayLambda,
    /// Similarity from which texts are merged.
    MergeJaccard,
    /// What of a file's path hooks capture.
    CapturePaths,
    /// Age past which evidence is removed.
    EvidenceDays,
}

impl Key {
    /// Every setting, in the order they are shown.
    pub const ALL: [Self; 19] = [
        Self::DataDir,
        Self::Store,
        Self::Profile,
        Self::Embedder,
        Self::Synchronous,
        Self::ProjectionBytes,
        Self::Host,
        Self::Port,
        Self::Secret,
        Self::AllowHosts,
        Self::AllowOrigins,
        Self::MetricsPort,
        Self::Url,
        Self::Project,
        Self::TtlDays,
        Self::DecayLambda,
        Self::MergeJaccard,
        Self::CapturePaths,
        Self::EvidenceDays,
    ];

    fn names(self) -> (&'static str, Option<&'static str>, &'static str) {
        macro_rules! names {
            ($name:literal, $flag:literal, $variable:literal) => {
                ($name, Some(concat!("--", $flag)), concat!("AGENT_MEMORY_", $variable))
            };
            ($name:literal, $variable:literal) => {
                ($name, None, concat!("AGENT_MEMORY_", $variable))
            };
        }
        match self {
            Self::DataDir => names!("data_dir", "data-dir", "DATA_DIR"),
            Self::Store => names!("store", "store", "STORE"),
            Self::Profile => names!("profile", "profile", "PROFILE"),
            Self::Embedder => names!("embedder", "embedder", "EMBEDDER"),
            Self::Synchronous => names!("synchronous", "synchronous", "SYNCHRONOUS"),
            Self::ProjectionBytes => names!("projection_bytes", "projection-bytes", "PROJECTION_BYTES"),
            Self::Host => names!("host", "host", "HOST"),
            Self::Port => names!("port", "port", "PORT"),
            Self::Secret => names!("secret", "SECRET"),
            Self::AllowHosts => names!("allow_hosts", "allow-hosts", "ALLOW_HOSTS"),
            Self::AllowOrigins => names!("allow_origins", "allow-origins", "ALLOW_ORIGINS"),
            Self::MetricsPort => names!("metrics_port", "metrics-port", "METRICS_PORT"),
            Self::Url => names!("url", "URL"),
            Self::Project => names!("project", "project", "PROJECT"),
            Self::TtlDays => names!("ttl_days", "ttl-days", "TTL_DAYS"),
            Self::DecayLambda => names!("decay_lambda", "decay-lambda", "DECAY_LAMBDA"),
            Self::MergeJaccard => names!("merge_jaccard", "merge-jaccard", "MERGE_JACCARD"),
            Self::CapturePaths => names!("capture_paths", "CAPTURE_PATHS"),
            Self::EvidenceDays => names!("evidence_days", "evidence-days", "EVIDENCE_DAYS"),
        }
    }

    /// Returns the name in `config.toml`, such as `data_dir`.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// Returns the flag that sets it, such as `--data-dir`, of `am-server` and `am serve`, or of every `am` command.
    /// `None`: there is none, such as for the secret, which a command line would show to others.
    pub fn flag(self) -> Option<&'static str> {
        self.names().1
    }

    /// Returns the name in the environment, such as `AGENT_MEMORY_DATA_DIR`.
    pub fn variable(self) -> &'static str {
        self.names().2
    }

    /// Says where the user wrote a value of `origin`, for messages.
    pub(super) fn place(self, origin: Origin) -> String {
        match origin {
            Origin::Flag => self.flag().map_or_else(|| format!("the {} given", self.name()), str::to_owned),
            Origin::Environment => self.variable().to_owned(),
            Origin::File => format!("{} in config.toml", self.name()),
            Origin::Default => format!("the default of {}", self.name()),
        }
    }
}
