//! Flags, for `am-server` and `am serve` alike.

use std::ffi::OsString;

use am_runtime::config::{Key, Overrides};
use clap::Args;

use crate::run::Launch;

/// The flags of a server. Values are checked with the rest of the configuration.
#[derive(Args, Clone, Debug, Default)]
pub struct Arguments {
    /// Address or name to listen on; beyond loopback only with a secret [default: 127.0.0.1]
    #[arg(long, value_name = "HOST")]
    pub host: Option<OsString>,
    /// Port to listen on; 0 picks a free one and prints it [default: 3111]
    #[arg(long, value_name = "PORT")]
    pub port: Option<OsString>,
    /// Directory of the store, the socket and the spool
    #[arg(long, value_name = "DIRECTORY")]
    pub data_dir: Option<OsString>,
    /// Which store
    #[arg(long, value_name = "STORE")]
    pub store: Option<OsString>,
    /// Profile of a new store: default, contract
    #[arg(long, value_name = "PROFILE")]
    pub profile: Option<OsString>,
    /// Embedder of a new store
    #[arg(long, value_name = "EMBEDDER")]
    pub embedder: Option<OsString>,
    /// What an acknowledged save survives: full (power loss too), normal
    #[arg(long, value_name = "LEVEL")]
    pub synchronous: Option<OsString>,
    /// Most memory for search projections, such as 64MiB
    #[arg(long, value_name = "BYTES")]
    pub projection_bytes: Option<OsString>,
    /// Further host names that requests may name, with commas between them
    #[arg(long, value_name = "HOSTS", alias = "allow-host")]
    pub allow_hosts: Option<OsString>,
    /// Further origins whose pages may ask, with commas between them
    #[arg(long, value_name = "ORIGINS", alias = "allow-origin")]
    pub allow_origins: Option<OsString>,
    /// Serve metrics on this loopback port
    #[arg(long, value_name = "PORT")]
    pub metrics_port: Option<OsString>,
    /// Hide memories older than this
    #[arg(long, value_name = "DAYS")]
    pub ttl_days: Option<OsString>,
    /// How fast importance fades with age
    #[arg(long, value_name = "LAMBDA")]
    pub decay_lambda: Option<OsString>,
    /// Similarity from which texts are merged, between 0 and 1, or off
    #[arg(long, value_name = "JACCARD")]
    pub merge_jaccard: Option<OsString>,
    /// Remove evidence, the captured events, at this age; memories stay
    #[arg(long, value_name = "DAYS")]
    pub evidence_days: Option<OsString>,
}

impl Arguments {
    /// Returns whether the user wants any free port.
    fn any_port(&self) -> bool {
        self.port.as_ref().is_some_and(|port| port == "0")
    }

    /// Returns the flags that were given, for the configuration.
    pub fn overrides(&self) -> Overrides {
        let flags = [
            (Key::Host, &self.host),
            (Key::DataDir, &self.data_dir),
            (Key::Store, &self.store),
            (Key::Profile, &self.profile),
            (Key::Embedder, &self.embedder),
            (Key::Synchronous, &self.synchronous),
            (Key::ProjectionBytes, &self.projection_bytes),
            (Key::AllowHosts, &self.allow_hosts),
            (Key::AllowOrigins, &self.allow_origins),
            (Key::MetricsPort, &self.metrics_port),
            (Key::TtlDays, &self.ttl_days),
            (Key::DecayLambda, &self.decay_lambda),
            (Key::MergeJaccard, &self.merge_jaccard),
            (Key::EvidenceDays, &self.evidence_days),
        ];
        let port = self.port.clone().filter(|_| !self.any_port());
        flags.into_iter().fold(Overrides::default().with(Key::Port, port), |overrides, (key, value)| {
            overrides.with(key, value.clone())
        })
    }

    /// Returns what a start depends on beside the configuration. `environment` gives the value of a variable.
    pub fn launch(&self, environment: &dyn Fn(&str) -> Option<OsString>) -> Launch {
        Launch {
            any_port: self.any_port(),
            notify_socket: environment("NOTIFY_SOCKET").filter(|socket| !socket.is_empty()),
            ..Launch::default()
        }
    }
}
