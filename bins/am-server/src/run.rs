//! A server's life: listen, open the store, announce, serve, stop.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use am_api::{ApiSettings, Metrics, Router, router};
use am_hook::spool::{Drained, SpoolError};
use am_runtime::config::{Config, Secret};
use am_runtime::maintenance::{self, Maintained};
use am_runtime::open::{self, Opened, SERVER_PROJECTION_BYTES};
use am_runtime::spool::Drainer;
use am_service::ServiceError;
use am_store_sqlite::SqliteStore;
use tokio::runtime::{Builder, Runtime};

use crate::accept::{Acceptor, Limits};
use crate::error::{ServeError, warn};
use crate::listen::{self, Bound};
use crate::log::{Log, say};
use crate::signal::Stop;

/// Threads that answer requests. Verbs wait for the store more than they compute.
const WORKERS: usize = 2;
/// Most threads that wait for the store.
const BLOCKING: usize = 16;
/// Longest time for requests under way when the server stops. With what follows it ends within 500 ms.
const DRAIN_TIME: Duration = Duration::from_millis(300);
/// Longest time for work in the background after that.
const WIND_DOWN: Duration = Duration::from_millis(50);
/// Longest time for folding the store's write-ahead log back. It is whole without that.
const CLOSE_TIME: Duration = Duration::from_millis(100);
/// Where metrics listen.
const METRICS_HOST: &str = "127.0.0.1";

/// What a start depends on beside the configuration.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Listen on any free port instead of the configured one.
    pub any_port: bool,
    /// Where systemd wants to hear of the start: the value of `NOTIFY_SOCKET`.
    pub notify_socket: Option<OsString>,
    /// What connections may cost.
    pub limits: Limits,
}

/// Serves until a signal asks to stop. Prints the start line when requests can come.
///
/// Blocks, and makes its own runtime: not to be called from within one.
///
/// # Errors
/// The address can't be listened on, or the store can't be opened. Neither leaves anything behind.
pub fn run(config: &Config, launch: Launch) -> Result<(), ServeError> {
    for warning in &config.warnings {
        warn(&warning.to_string());
    }
    let runtime = runtime()?;
    let served = runtime.block_on(serve(config, &launch));
    // Threads that are in the middle of something don't hold the end up: what they did not commit never was.
    runtime.shutdown_timeout(WIND_DOWN);
    close(served?);
    Ok(())
}

/// Drops the last handle of the store, which takes as long as the disk likes, and waits only so long.
fn close(store: SqliteStore) {
    let (closed, closing) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || drop((store, closed)));
    // Both mean that it is time to go.
    let _ = closing.recv_timeout(CLOSE_TIME);
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(BLOCKING)
        .thread_name("am-server")
        .enable_all()
        .build()
}

/// Serves, and gives the store back.
async fn serve(config: &Config, launch: &Launch) -> Result<SqliteStore, ServeError> {
    let mut stop = Stop::new()?;
    let host = &config.host.value;
    let port = if launch.any_port { 0 } else { config.port.value };
    let secret = config.secret.value.as_ref();
    let bound = listen::bind(host, port, secret.is_some()).await?;
    let metrics_bound = match config.metrics_port.value {
        Some(port) => Some(listen::bind(METRICS_HOST, port, false).await?),
        None => None,
    };
    let Opened { store, service } =
        open::open(config, SERVER_PROJECTION_BYTES).await.map_err(ServeError::Store)?;

    let metrics = metrics_bound.as_ref().map(|_| Arc::new(Metrics::new()));
    let api = router(service.clone(), settings(config, &bound, metrics.clone()));
    let acceptor = Acceptor::new(launch.limits);
    if let (Some(bound), Some(metrics)) = (metrics_bound, metrics) {
        acceptor.serve(bound.listener, metrics.router(service.clone()));
    }
    #[cfg(unix)]
    let own_socket = serve_socket(config, &acceptor, &api).await;
    acceptor.serve(bound.listener, api);
    tokio::spawn(Arc::new(Drainer::new(config)).run(service.clone(), report_drain));
    let opened = Opened { store: store.clone(), service: service.clone() };
    tokio::spawn(maintenance::run(config.clone(), opened, report_maintenance));

    let auth = if secret.is_some() { "bearer-required" } else { "open" };
    say(&format!("agent-memory REST on http://{}:{} (auth: {auth})", listen::in_url(host), bound.port));
    tell(launch, "READY=1");

    stop.asked().await;
    tell(launch, "STOPPING=1");
    tokio::select! {
        () = acceptor.stop(DRAIN_TIME) => {}
        () = stop.asked() => {}
    }
    #[cfg(unix)]
    drop(own_socket);
    Ok(store)
}

fn settings(config: &Config, bound: &Bound, metrics: Option<Arc<Metrics>>) -> ApiSettings {
    // Whoever listens on a name is called by it.
    let mut allowed_hosts = config.allow_hosts.value.clone();
    allowed_hosts.push(config.host.value.clone());
    ApiSettings {
        secret: config.secret.value.as_ref().map(Secret::expose).map(str::to_owned),
        allowed_hosts,
        allowed_origins: config.allow_origins.value.clone(),
        allow_addresses: bound.beyond_loopback,
        observer: Arc::new(Log { metrics }),
        ..ApiSettings::default()
    }
}

/// Serves the private socket too, if it can be had. A server without it is one all the same.
#[cfg(unix)]
async fn serve_socket(config: &Config, acceptor: &Acceptor, api: &Router) -> Option<crate::socket::OwnPath> {
    use crate::socket::{Claim, PrivateSocket, claim};

    let path = config.socket();
    match claim(&path).await {
        Claim::Ours(PrivateSocket { listener, path }) => {
            acceptor.serve(listener, api.over_private_socket());
            Some(path)
        }
        Claim::Taken => {
            warn(&format!("another server has {}: this one is reached over TCP only", path.display()));
            None
        }
        Claim::Unusable(error) => {
            warn(&format!("no socket at {} ({error}): reached over TCP only", path.display()));
            None
        }
    }
}

/// Tells systemd, where it asked. It may have stopped listening: that is no reason to stop.
fn tell(launch: &Launch, state: &str) {
    #[cfg(target_os = "linux")]
    if let Some(socket) = &launch.notify_socket
        && let Err(error) = crate::notify::notify(socket, state)
    {
        warn(&format!("can't tell systemd {state}: {error}"));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (launch, state);
}

fn report_drain(drained: Result<Drained, SpoolError>) {
    match drained {
        Ok(Drained { delivered, kept, refused, broken }) => {
            say(&format!(
                "[agentmemory] spool delivered={delivered} waiting={kept} refused={refused} broken={broken}"
            ));
        }
        Err(error) => warn(&format!("can't drain the spool: {error}")),
    }
}

fn report_maintenance(maintained: Result<Maintained, ServiceError>) {
    match maintained {
        Ok(Maintained::Erasure { pending: false }) => say("[agentmemory] erasure complete"),
        // It is tried again.
        Ok(Maintained::Erasure { pending: true }) => {}
        Ok(Maintained::Evidence { purged }) => {
            say(&format!("[agentmemory] {purged} observations past their age were removed"));
        }
        Ok(Maintained::Rebuilt { memories }) => {
            say(&format!("[agentmemory] the index of {memories} memories was derived anew for this version"));
        }
        Err(error) => warn(&format!("can't look after the store: {error}")),
    }
}
