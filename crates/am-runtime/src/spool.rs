//! Draining the spool: what hooks could not deliver becomes memory here, or goes on to the server it was meant for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant as Moment};

use am_hook::places::{EVENT_TIME_HEADER, IDEMPOTENCY_HEADER};
use am_hook::spool::{Drained, Spool, SpoolError, SpooledDelivery, Verdict};
use am_hook::url::BaseUrl;
use am_model::{Actor, CaptureLevel, Channel, Instant, Origin, Project, SessionId};
use am_service::{Caller, Event, Inbox, Remember, Service, ServiceError};
use am_store::StoreError;
use async_trait::async_trait;
use tokio::task::spawn_blocking;

use crate::client::Client;
use crate::config::{Config, Secret};

/// How often a running program looks into the spool.
pub const DRAIN_INTERVAL: Duration = Duration::from_secs(2);

/// Longest wait for a server that a delivery is forwarded to.
const FORWARD_WAIT: Duration = Duration::from_secs(5);
/// Shortest and longest time for which a target that failed is left alone.
const BACKOFF: (Duration, Duration) = (Duration::from_secs(4), Duration::from_secs(300));

/// Drains the spools that a configuration makes ours.
#[derive(Debug)]
pub struct Drainer {
    spools: Vec<Spool>,
    secret: Option<Secret>,
    failing: Mutex<HashMap<String, Failing>>,
}

/// A target that did not take a delivery.
#[derive(Clone, Copy, Debug)]
struct Failing {
    until: Moment,
    pause: Duration,
}

impl Drainer {
    /// Makes a drainer. Touches nothing.
    pub fn new(config: &Config) -> Self {
        let spools = config.spool_directories().iter().map(|directory| Spool::of(directory)).collect();
        Self { spools, secret: config.secret.value.clone(), failing: Mutex::default() }
    }

    /// Delivers everything that waits, once each: to `service`, or to the server it was meant for.
    ///
    /// What can't be delivered now waits on; what never will be is removed and counted in the spool. Ends early, with
    /// the rest waiting, when the memory can't be written.
    ///
    /// # Errors
    /// A spool can't be read or written; deliveries that were made may then be made again, under the same keys.
    pub async fn drain(self: &Arc<Self>, service: &Service) -> Result<Drained, SpoolError> {
        self.drain_what(service, true).await
    }

    async fn drain_what(self: &Arc<Self>, service: &Service, forwards: bool) -> Result<Drained, SpoolError> {
        let mut total = Drained::default();
        for spool in &self.spools {
            let mut after = None;
            loop {
                let (claiming, position) = (spool.clone(), after.take());
                let claimed = spawn_blocking(move || claiming.claim(position.as_deref())).await;
                // The runtime is stopping: whatever is claimed waits on.
                let Ok(claimed) = claimed else { return Ok(total) };
                let Some(claim) = claimed? else { break };
                let mut verdicts = vec![];
                let mut writable = true;
                for waiting in claim.deliveries() {
                    let verdict = match &waiting.target {
                        None if writable => remember(service, waiting).await,
                        Some(_) if forwards => self.forward(waiting).await,
                        _ => Verdict::Keep,
                    };
                    writable &= waiting.target.is_some() || verdict != Verdict::Keep;
                    verdicts.push(verdict);
                }
                after = Some(claim.position().to_owned());
                let settled = spawn_blocking(move || claim.settle(&verdicts)).await;
                let Ok(settled) = settled else { return Ok(total) };
                total.add(&settled?);
                if !writable {
                    return Ok(total);
                }
            }
        }
        Ok(total)
    }

    /// Counts the deliveries that wait, those included that another program has claimed.
    async fn pending(&self) -> u64 {
        let spools = self.spools.clone();
        let counted = spawn_blocking(move || {
            spools.iter().filter_map(|spool| spool.pending().ok()).map(|pending| pending.deliveries).sum()
        });
        counted.await.unwrap_or(0)
    }

    /// Drains now and every [`DRAIN_INTERVAL`], for good. `report` hears of every drain that moved or failed.
    pub async fn run(self: Arc<Self>, service: Service, report: impl Fn(Result<Drained, SpoolError>)) {
        loop {
            match self.drain(&service).await {
                Ok(drained) if Drained { kept: 0, ..drained } == Drained::default() => {}
                drained => report(drained),
            }
            tokio::time::sleep(DRAIN_INTERVAL).await;
        }
    }

    /// Posts a delivery to its target, unless that has just failed.
    async fn forward(self: &Arc<Self>, waiting: &SpooledDelivery) -> Verdict {
        let Some(target) = waiting.target.clone() else { return Verdict::Keep };
        let Some(url) = BaseUrl::parse(&target) else { return Verdict::Refused };
        let known = self.failing().get(&target).copied();
        if known.is_some_and(|failing| Moment::now() < failing.until) {
            return Verdict::Keep;
        }
        let (drainer, delivery) = (Arc::clone(self), waiting.delivery.clone());
        let posted = spawn_blocking(move || {
            let client = Client::to_url(url, drainer.secret.clone(), FORWARD_WAIT);
            // Without its time it would happen when it arrives, and count as one with others that waited beside it.
            let time = delivery.event_time.to_string();
            let headers = [(IDEMPOTENCY_HEADER, delivery.key.as_str()), (EVENT_TIME_HEADER, time.as_str())];
            client.post("memory/remember", &delivery.body(), &headers)
        });
        let verdict = match posted.await {
            Ok(Ok(reply)) => match reply.status {
                200..=299 => Verdict::Delivered,
                401 | 408 | 429 => Verdict::Keep,
                400..=499 => Verdict::Refused,
                _ => Verdict::Keep,
            },
            Ok(Err(_)) | Err(_) => Verdict::Keep,
        };
        if verdict == Verdict::Keep {
            let pause = known.map_or(BACKOFF.0, |failing| (failing.pause * 2).min(BACKOFF.1));
            self.failing().insert(target, Failing { until: Moment::now() + pause, pause });
        } else {
            self.failing().remove(&target);
        }
        verdict
    }

    fn failing(&self) -> std::sync::MutexGuard<'_, HashMap<String, Failing>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long forgetting waits for what other programs are taking in at that moment.
const OTHERS_WAIT: Duration = Duration::from_millis(400);
const OTHERS_LOOK: Duration = Duration::from_millis(20);

/// The spool as the place where events wait: what is forgotten must not come back from it.
///
/// What another program has claimed is waited for, for a short while; what fails, and what is meant for another server,
/// waits on.
#[derive(Debug)]
pub struct SpoolInbox(Arc<Drainer>);

impl SpoolInbox {
    /// Makes the inbox of a configuration. Touches nothing.
    pub fn new(config: &Config) -> Self {
        Self(Arc::new(Drainer::new(config)))
    }
}

#[async_trait]
impl Inbox for SpoolInbox {
    async fn take_in(&self, service: &Service) {
        let since = Moment::now();
        loop {
            // A spool that can't be read holds nothing that could be taken in now.
            let Ok(drained) = self.0.drain_what(service, false).await else { return };
            let waiting = self.0.pending().await;
            if waiting <= drained.kept || since.elapsed() >= OTHERS_WAIT {
                return;
            }
            tokio::time::sleep(OTHERS_LOOK).await;
        }
    }
}

/// Saves a delivery as the memory of this machine.
async fn remember(service: &Service, waiting: &SpooledDelivery) -> Verdict {
    let delivery = &waiting.delivery;
    let names = (
        Project::new(&delivery.project),
        SessionId::new(&delivery.session_id),
        Origin::new(&delivery.origin),
    );
    let (Ok(project), Ok(session_id), Ok(origin)) = names else { return Verdict::Refused };
    let event = Event {
        key: delivery.key.clone(),
        at: Some(Instant::from_millis(delivery.event_time)),
        level: CaptureLevel::Minimal,
    };
    let caller = Caller { channel: Channel::Hook, actor: Actor(origin.as_str().to_owned()) };
    let request = Remember {
        content: delivery.content.clone(),
        concepts: vec![],
        project,
        session_id: Some(session_id),
        origin,
        importance: None,
        event: Some(event),
    };
    match service.remember(&caller, request).await {
        Ok(_) => Verdict::Delivered,
        Err(
            ServiceError::Invalid(_)
            | ServiceError::EventKey
            | ServiceError::Store(StoreError::Invalid { .. }),
        ) => Verdict::Refused,
        Err(_) => Verdict::Keep,
    }
}
