//! Limits: bodies, time, places, panics.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use am_api::{ApiSettings, Router, router};
use am_embed::analysis::Profile;
use am_embed::embedder::{Cost, EmbedError, Embedder, EmbedderId};
use am_embed::hash::HashEmbedder;
use am_service::{Service, Settings, SystemClock};
use am_store::StoreError;
use am_store::testkit::MemoryStore;
use bytes::Bytes;
use http_body::Frame;

use crate::support::{Notes, get, over_memory, post, request, send, service};

/// A body of any size in chunks of 64 KiB, which counts what is taken of it.
struct Stream {
    left: usize,
    taken: Arc<AtomicUsize>,
    /// Whether it stops in the middle and never goes on.
    stalls: bool,
}

impl http_body::Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return if self.stalls { Poll::Pending } else { Poll::Ready(None) };
        }
        let size = self.left.min(1 << 16);
        self.left -= size;
        self.taken.fetch_add(size, Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![b'x'; size])))))
    }
}

fn stream(size: usize, stalls: bool) -> (http::Request<Stream>, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    let body = Stream { left: size, taken: Arc::clone(&taken), stalls };
    let request = request("POST", "/memory/remember").header("content-type", "application/json");
    (request.body(body).unwrap(), taken)
}

#[tokio::test]
async fn a_body_without_a_length_is_cut_off_at_the_limit_and_thrown_away() {
    let router = over_memory(ApiSettings::default()).await;
    let (request, taken) = stream(3 << 20, false);
    let reply = send(&router, request).await;
    assert_eq!((reply.status, reply.text()), (413, r#"{"error":"payload_too_large"}"#));
    assert_eq!(taken.load(Ordering::Relaxed), 3 << 20, "read to its end so that the client hears the reply");
}

#[tokio::test]
async fn not_everything_is_thrown_away_for_a_client_that_never_ends() {
    let router = over_memory(ApiSettings::default()).await;
    let (request, taken) = stream(1 << 30, false);
    assert_eq!(send(&router, request).await.status, 413);
    assert!(taken.load(Ordering::Relaxed) < 20 << 20);
}

#[tokio::test]
async fn a_client_that_waits_for_a_word_is_told_at_once() {
    let router = over_memory(ApiSettings::default()).await;
    let (mut request, taken) = stream(3 << 20, false);
    request.headers_mut().insert("expect", "100-continue".parse().unwrap());
    request.headers_mut().remove("content-type");
    assert_eq!(send(&router, request).await.status, 415);
    assert_eq!(taken.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_ends_is_given_up() {
    let router = over_memory(ApiSettings::default()).await;
    let (request, _) = stream(100, true);
    let reply = send(&router, request).await;
    assert_eq!((reply.status, reply.text()), (408, r#"{"error":"request_timeout"}"#));
}

/// An embedder that does what a test needs when it embeds.
struct Odd {
    id: EmbedderId,
    does: fn(),
}

impl Embedder for Odd {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn cost(&self) -> Cost {
        Cost::Inline
    }

    fn fusion_weight(&self) -> f32 {
        0.0
    }

    fn embed_documents(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        (self.does)();
        Err(EmbedError::Unavailable("http://10.1.2.3 is down".to_owned()))
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        self.embed_documents(&[text]).map(|_| vec![])
    }
}

async fn over_odd_embedder(does: fn(), settings: ApiSettings) -> Router {
    let embedder = Odd { id: HashEmbedder::new().id().clone(), does };
    let store = Arc::new(MemoryStore::new(Profile::Contract));
    let service =
        Service::open(store, Arc::new(embedder), Arc::new(SystemClock), Settings::default()).await.unwrap();
    router(service, settings)
}

#[tokio::test]
async fn a_panic_is_one_failed_request() {
    let notes = Arc::new(Notes::default());
    let settings = ApiSettings { observer: Arc::clone(&notes) as _, ..ApiSettings::default() };
    let router = over_odd_embedder(|| panic!("a defect with content"), settings).await;
    let reply = send(&router, post("/memory/remember", r#"{"content":"some text"}"#)).await;
    assert_eq!((reply.status, reply.text()), (500, r#"{"error":"internal_error"}"#));
    assert_eq!(send(&router, get("/memory/health")).await.status, 200);
    let told = notes.all();
    assert!(told[0].starts_with("POST /memory/remember -> 500: "), "{told:?}");
    assert!(!told.join("\n").contains("content"), "{told:?}");
}

/// Has a defect of its own.
struct Defective;

impl am_api::Observer for Defective {
    fn answered(&self, request: &am_api::Answered<'_>) {
        assert!(request.status != 404, "a defect");
    }

    fn failed(&self, _: &am_api::Failed<'_>) {}

    fn deleted(&self, _: &am_api::Deleted<'_>) {}
}

#[tokio::test]
async fn a_panic_around_a_verb_is_one_failed_request_too() {
    let router = over_memory(ApiSettings { observer: Arc::new(Defective), ..ApiSettings::default() }).await;
    let reply = send(&router, get("/memory/nope")).await;
    assert_eq!((reply.status, reply.text()), (500, r#"{"error":"internal_error"}"#));
    assert_eq!(send(&router, get("/memory/livez")).await.status, 200);
}

#[tokio::test]
async fn the_failure_of_an_embedder_shows_no_address() {
    let notes = Arc::new(Notes::default());
    let settings = ApiSettings { observer: Arc::clone(&notes) as _, ..ApiSettings::default() };
    let router = over_odd_embedder(|| (), settings).await;
    assert_eq!(send(&router, post("/memory/remember", r#"{"content":"some text"}"#)).await.status, 500);
    let told = notes.all();
    assert_eq!(told[0], "POST /memory/remember -> 500: Embedder: the embedder is unavailable");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_verb_that_takes_too_long_is_left_behind_and_keeps_its_place() {
    let settings =
        ApiSettings { concurrency: 1, timeout: Duration::from_millis(50), ..ApiSettings::default() };
    let router = over_odd_embedder(|| std::thread::sleep(Duration::from_millis(600)), settings).await;
    let slow = send(&router, post("/memory/remember", r#"{"content":"some text"}"#)).await;
    assert_eq!((slow.status, slow.text()), (503, r#"{"error":"timeout"}"#));
    let next = send(&router, get("/memory/health")).await;
    assert_eq!((next.status, next.text()), (503, r#"{"error":"overloaded"}"#));
    assert_eq!(next.header("retry-after"), Some("1"));
    assert_eq!(send(&router, get("/memory/livez")).await.status, 200, "livez needs no place");
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert_eq!(send(&router, get("/memory/health")).await.status, 200);
}

#[tokio::test]
async fn a_failure_that_the_caller_can_mend_says_so() {
    let store = Arc::new(MemoryStore::new(Profile::Contract));
    let router = router(service(Arc::clone(&store) as _).await, ApiSettings::default());
    for (error, body) in [
        (StoreError::Full, r#"{"error":"internal_error","details":"the disk is full: nothing was written"}"#),
        (
            StoreError::NoWrites,
            r#"{"error":"internal_error","details":"the disk takes no writes (a quota, a limit on files, or a fault of the disk): nothing was written"}"#,
        ),
        (StoreError::Damaged { detail: "x".to_owned() }, r#"{"error":"internal_error"}"#),
    ] {
        store.fail_next(error);
        let reply = send(&router, post("/memory/remember", r#"{"content":"some text"}"#)).await;
        assert_eq!((reply.status, reply.text()), (500, body));
    }
}
