//! Counts and times for a scraper, and the service that shows them on a listener of their own.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll};

use am_service::Service;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::access::AllowList;
use crate::observer::Answered;

/// Upper bounds of the latency buckets, in seconds.
const BUCKETS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answer {
    route: &'static str,
    status: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Timed {
    route: &'static str,
}

/// What is counted. Labels are routes of the table, never paths of clients.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<Answer, Counter>,
    seconds: Family<Timed, Histogram>,
    memories: Gauge<u64, AtomicU64>,
    sessions: Gauge<u64, AtomicU64>,
    observations: Gauge<u64, AtomicU64>,
    disk_bytes: Gauge<u64, AtomicU64>,
    projection_bytes: Gauge<u64, AtomicU64>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Starts at zero.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("agent_memory");
        let requests = Family::<Answer, Counter>::default();
        let seconds = Family::<Timed, Histogram>::new_with_constructor(|| Histogram::new(BUCKETS));
        registry.register("requests", "Requests answered", requests.clone());
        registry.register_with_unit(
            "request_duration",
            "Time from the head of a request to its reply",
            Unit::Seconds,
            seconds.clone(),
        );
        let mut gauge = |name: &str, help: &str, unit: Option<Unit>| {
            let gauge = Gauge::<u64, AtomicU64>::default();
            match unit {
                Some(unit) => registry.register_with_unit(name, help, unit, gauge.clone()),
                None => registry.register(name, help, gauge.clone()),
            }
            gauge
        };
        let memories = gauge("memories", "Memories in the store", None);
        let sessions = gauge("sessions", "Sessions in the store", None);
        let observations = gauge("observations", "Observations in the store", None);
        let disk_bytes = gauge("disk", "Size of the store on disk", Some(Unit::Bytes));
        let projection_bytes =
            gauge("projection", "Size of this process's search projections", Some(Unit::Bytes));
        Self { registry, requests, seconds, memories, sessions, observations, disk_bytes, projection_bytes }
    }

    /// Counts a reply.
    pub fn answered(&self, request: &Answered<'_>) {
        let route = request.route.unwrap_or("unknown");
        self.requests.get_or_create(&Answer { route, status: request.status.into() }).inc();
        self.seconds.get_or_create(&Timed { route }).observe(request.elapsed.as_secs_f64());
    }

    /// Makes the service that shows them at `/metrics`, to callers that name it by a loopback name.
    pub fn router(self: &Arc<Self>, service: Service) -> MetricsRouter {
        MetricsRouter { metrics: Arc::clone(self), service }
    }

    /// Writes the metrics in the OpenMetrics text format. What the store holds is left as it was if it can't tell.
    async fn write(&self, service: &Service) -> Option<String> {
        if let Ok(statistics) = service.store().statistics().await {
            self.memories.set(statistics.memories);
            self.sessions.set(statistics.sessions);
            self.observations.set(statistics.observations);
            self.disk_bytes.set(statistics.disk_bytes);
            self.projection_bytes.set(statistics.projection_bytes);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry).ok()?;
        Some(text)
    }
}

/// Shows metrics.
#[derive(Clone, Debug)]
pub struct MetricsRouter {
    metrics: Arc<Metrics>,
    service: Service,
}

impl<B: Send + 'static> tower::Service<Request<B>> for MetricsRouter {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Self { metrics, service } = self.clone();
        Box::pin(async move {
            let (head, _) = request.into_parts();
            let allowed = AllowList::default();
            let status = if !allowed.admits_host(&head) || !allowed.admits_origin(&head) {
                StatusCode::FORBIDDEN
            } else if head.uri.path() != "/metrics" {
                StatusCode::NOT_FOUND
            } else if head.method != Method::GET {
                StatusCode::METHOD_NOT_ALLOWED
            } else {
                StatusCode::OK
            };
            let text =
                if status == StatusCode::OK { metrics.write(&service).await } else { Some(String::new()) };
            let mut response = Response::new(Full::new(Bytes::from(text.clone().unwrap_or_default())));
            *response.status_mut() = if text.is_some() { status } else { StatusCode::INTERNAL_SERVER_ERROR };
            let text_format =
                HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, text_format);
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            Ok(response)
        })
    }
}
