//! The service: the order of checks, limits, and what is told to the observer.

use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use am_service::Service;
use am_wire::reply;
use bytes::Bytes;
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::Full;
use tokio::sync::Semaphore;
use tokio::time::timeout_at;

use crate::access::{AllowList, Secret};
use crate::body::{self, Unreadable};
use crate::failure::Failure;
use crate::handler::{Call, Outcome, Reply};
use crate::observer::{Answered, Failed, Observer, Silent};
use crate::route::{self, Access, Handler, Route};
use crate::{path, validate};

/// The reply header by which the server says who it is.
pub const IDENTITY_HEADER: &str = "x-agent-memory";
/// The version it says it has.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the surface depends on beside the service. The default: no secret, loopback names only, tells no one.
#[derive(Clone)]
pub struct ApiSettings {
    /// What requests must show; `None` or empty: nothing.
    pub secret: Option<String>,
    /// Host names beside loopback that requests may name, without ports.
    pub allowed_hosts: Vec<String>,
    /// Origins beside loopback whose pages may ask, such as `https://tools.example`.
    pub allowed_origins: Vec<String>,
    /// Whether requests may name the server by any address: for listeners beyond loopback.
    pub allow_addresses: bool,
    /// Most verbs at work at a time; further requests wait. At least 1.
    pub concurrency: usize,
    /// Longest wait for a body, and for a reply.
    pub timeout: Duration,
    /// Who hears what happens.
    pub observer: Arc<dyn Observer>,
}

impl Default for ApiSettings {
    fn default() -> Self {
        Self {
            secret: None,
            allowed_hosts: vec![],
            allowed_origins: vec![],
            allow_addresses: false,
            concurrency: 64,
            timeout: Duration::from_secs(30),
            observer: Arc::new(Silent),
        }
    }
}

impl std::fmt::Debug for ApiSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiSettings")
            .field("secret", &self.secret.as_ref().map(|_| "set"))
            .field("allowed_hosts", &self.allowed_hosts)
            .field("allowed_origins", &self.allowed_origins)
            .field("allow_addresses", &self.allow_addresses)
            .field("concurrency", &self.concurrency)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// The REST surface as a service. Cheap to clone; clones share their limits.
#[derive(Clone)]
pub struct Router {
    shared: Arc<Shared>,
    /// Whether requests come over a channel that a page can't reach, so that `Host` says nothing.
    private: bool,
}

struct Shared {
    service: Service,
    secret: Option<Secret>,
    allowed: AllowList,
    places: Arc<Semaphore>,
    timeout: Duration,
    observer: Arc<dyn Observer>,
}

/// Makes the REST surface of a service.
pub fn router(service: Service, settings: ApiSettings) -> Router {
    let lower = |names: Vec<String>| names.iter().map(|name| name.to_ascii_lowercase()).collect();
    Router {
        shared: Arc::new(Shared {
            service,
            secret: settings.secret.filter(|secret| !secret.is_empty()).map(|secret| Secret::new(&secret)),
            allowed: AllowList {
                hosts: lower(settings.allowed_hosts),
                origins: lower(settings.allowed_origins),
                addresses: settings.allow_addresses,
            },
            places: Arc::new(Semaphore::new(settings.concurrency.clamp(1, Semaphore::MAX_PERMITS))),
            timeout: settings.timeout,
            observer: settings.observer,
        }),
        private: false,
    }
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Router")
            .field("service", &self.shared.service)
            .field("private", &self.private)
            .finish_non_exhaustive()
    }
}

impl<B> tower::Service<Request<B>> for Router
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Send,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let router = self.clone();
        Box::pin(async move { Ok(router.answer_always(request).await) })
    }
}

impl Router {
    /// Returns the surface for a private socket: a request there may name any host. Limits stay shared.
    pub fn over_private_socket(&self) -> Self {
        Self { private: true, ..self.clone() }
    }

    /// Answers, and makes of a panic on the way one failed request. Verbs run elsewhere, see [`Router::run`].
    async fn answer_always<B: Body>(&self, request: Request<B>) -> Response<Full<Bytes>> {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let mut answer = pin!(self.answer(request));
        let caught = poll_fn(|context| {
            match catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context))) {
                Ok(answer) => answer.map(Some),
                // It is not polled again.
                Err(_) => Poll::Ready(None),
            }
        });
        if let Some(response) = caught.await {
            return response;
        }
        let failure = Failure::Internal("the surface panicked");
        let note = failure.note().unwrap_or_default();
        let (method_name, path) = (method.as_str(), path::printable(uri.path()));
        self.shared.observer.failed(&Failed { method: method_name, path: &path, status: 500, note: &note });
        respond(Err(failure), &method)
    }

    async fn answer<B: Body>(&self, request: Request<B>) -> Response<Full<Bytes>> {
        let started = Instant::now();
        let (head, body) = request.into_parts();
        let path = path::normalise(head.uri.path()).into_owned();
        let found = route::find(&path);
        let outcome = self.outcome(&head, &path, found, body).await;
        let (method, printed) = (head.method.as_str(), path::printable(&path));
        if let Err(failure) = &outcome
            && let Some(note) = failure.note()
        {
            let status = failure.status().as_u16();
            self.shared.observer.failed(&Failed { method, path: &printed, status, note: &note });
        }
        let response = respond(outcome, &head.method);
        self.shared.observer.answered(&Answered {
            method,
            path: &printed,
            route: found.map(|(route, _)| route.template),
            status: response.status().as_u16(),
            elapsed: started.elapsed(),
        });
        response
    }

    async fn outcome<B: Body>(
        &self,
        head: &Parts,
        path: &str,
        found: Option<(&'static Route, &str)>,
        body: B,
    ) -> Outcome {
        let deadline = tokio::time::Instant::now() + self.shared.timeout;
        let patient = head.headers.contains_key(EXPECT);
        let (route, segment) = match self.admit(head, path, found) {
            Ok(admitted) => admitted,
            Err(failure) => {
                body::discard(body, patient).await;
                return Err(failure);
            }
        };
        let call = |values| Call {
            service: self.shared.service.clone(),
            observer: Arc::clone(&self.shared.observer),
            values,
            segment: segment.to_owned(),
            headers: head.headers.clone(),
        };
        if route.body_max == 0 {
            body::discard(body, patient).await;
            let values = validate::query(route.query, head.uri.query().unwrap_or_default())?;
            return self.run(route, call(values), deadline).await;
        }
        let bytes = match timeout_at(deadline, body::read(body, route.body_max, patient)).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(Unreadable::TooLarge)) => return Err(Failure::BodyTooLarge),
            Ok(Err(Unreadable::Broken)) => return Err(Failure::InvalidJson("the body ended early")),
            Err(_) => return Err(Failure::BodyTimeout),
        };
        let values = validate::body(route.body, &bytes)?;
        drop(bytes);
        // A slow sender has not used up the time of its verb.
        let deadline = tokio::time::Instant::now() + self.shared.timeout;
        self.run(route, call(values), deadline).await
    }

    /// Checks everything that can be told from the head, in the contract's order.
    fn admit<'a>(
        &self,
        head: &Parts,
        path: &str,
        found: Option<(&'static Route, &'a str)>,
    ) -> Result<(&'static Route, &'a str), Failure> {
        let shared = &self.shared;
        let names_us = self.private || shared.allowed.admits_host(head);
        if !names_us || !shared.allowed.admits_origin(head) {
            return Err(Failure::Forbidden);
        }
        if found.is_none() && !path.starts_with("/memory/") {
            return Err(Failure::NotFound);
        }
        let open = found.is_some_and(|(route, _)| route.access == Access::Open);
        if !open && shared.secret.as_ref().is_some_and(|secret| !secret.admits(head)) {
            return Err(Failure::Unauthorized);
        }
        let Some((route, segment)) = found else { return Err(Failure::NotFound) };
        if head.method.as_str() != route.method {
            return Err(Failure::MethodNotAllowed(route.method));
        }
        if route.body_max > 0 && !declares_json(head) {
            return Err(Failure::UnsupportedMediaType);
        }
        Ok((route, segment))
    }

    /// Runs a verb in a task of its own: what was begun is ended, whether or not its caller waits, and a panic ends
    /// nothing else.
    async fn run(&self, route: &'static Route, call: Call, deadline: tokio::time::Instant) -> Outcome {
        let verb = match route.handler {
            Handler::Fixed(answer) => return answer(),
            Handler::Verb(verb) => verb,
        };
        let places = Arc::clone(&self.shared.places);
        let Ok(Ok(place)) = timeout_at(deadline, places.acquire_owned()).await else {
            return Err(Failure::Overloaded);
        };
        let task = tokio::spawn(async move {
            let outcome = verb(call).await;
            drop(place);
            outcome
        });
        match timeout_at(deadline, task).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(ended)) if ended.is_panic() => Err(Failure::Internal("a verb panicked")),
            Ok(Err(_)) => Err(Failure::Internal("the runtime stopped")),
            Err(_) => Err(Failure::Timeout),
        }
    }
}

/// Returns whether some content type says, in whatever case, that the body is JSON.
fn declares_json(head: &Parts) -> bool {
    const JSON: &[u8] = b"application/json";
    head.headers
        .get_all(CONTENT_TYPE)
        .iter()
        .any(|value| value.as_bytes().windows(JSON.len()).any(|window| window.eq_ignore_ascii_case(JSON)))
}

/// Writes a reply: every one is JSON, is not to be kept, and says who we are.
fn respond(outcome: Outcome, method: &Method) -> Response<Full<Bytes>> {
    let mut extra = None;
    let Reply { status, body } = outcome.unwrap_or_else(|failure| {
        extra = header_of(&failure);
        let details = failure.details();
        let error = reply::Error { error: failure.code(), details: details.as_deref() };
        // Two texts are always written.
        Reply { status: failure.status(), body: serde_json::to_vec(&error).unwrap_or_default() }
    });
    let length = HeaderValue::from(body.len());
    let body = if method == Method::HEAD { Bytes::new() } else { Bytes::from(body) };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    headers.insert(CONTENT_LENGTH, length);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(IDENTITY_HEADER, HeaderValue::from_static(VERSION));
    if let Some((name, value)) = extra {
        headers.insert(name, value);
    }
    response
}

fn header_of(failure: &Failure) -> Option<(http::HeaderName, HeaderValue)> {
    match failure {
        Failure::Unauthorized => Some((WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
        Failure::MethodNotAllowed(method) => Some((ALLOW, HeaderValue::from_static(method))),
        _ if failure.status() == StatusCode::SERVICE_UNAVAILABLE => {
            Some((RETRY_AFTER, HeaderValue::from_static("1")))
        }
        _ => None,
    }
}
