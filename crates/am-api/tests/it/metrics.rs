//! Metrics, on the service that shows them.

use std::sync::Arc;
use std::time::Duration;

use am_api::{Answered, Metrics};
use am_embed::analysis::Profile;
use am_service::{Caller, Remember};
use am_store::testkit::MemoryStore;
use http_body_util::BodyExt as _;
use tower::Service as _;

use crate::support::{get, request, service};

#[tokio::test]
async fn replies_are_counted_by_route_and_never_by_path() {
    let metrics = Arc::new(Metrics::new());
    for (path, route, status) in [
        ("/memory/sessions/secret-id/memories", Some("/memory/sessions/{sessionId}/memories"), 200),
        ("/secret-path", None, 404),
    ] {
        let elapsed = Duration::from_millis(2);
        metrics.answered(&Answered { method: "GET", path, route, status, elapsed });
    }
    let service = service(Arc::new(MemoryStore::new(Profile::Default))).await;
    let project = am_model::Project::new("p").unwrap();
    service.remember(&Caller::library(), Remember::new(project, "one memory").unwrap()).await.unwrap();
    let mut router = metrics.router(service);

    let response = router.call(get("/metrics")).await.unwrap();
    assert_eq!(response.status(), 200);
    let text = String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap();
    for line in [
        r#"agent_memory_requests_total{route="/memory/sessions/{sessionId}/memories",status="200"} 1"#,
        r#"agent_memory_requests_total{route="unknown",status="404"} 1"#,
        r#"agent_memory_request_duration_seconds_count{route="unknown"} 1"#,
        "agent_memory_memories 1",
        "# EOF",
    ] {
        assert!(text.lines().any(|found| found == line), "no {line} in\n{text}");
    }
    assert!(!text.contains("secret"), "{text}");

    assert_eq!(router.call(get("/other")).await.unwrap().status(), 404);
    let foreign = http::Request::builder().uri("/metrics").header("host", "evil.example").body(()).unwrap();
    assert_eq!(router.call(foreign).await.unwrap().status(), 403);
    assert_eq!(router.call(request("POST", "/metrics").body(()).unwrap()).await.unwrap().status(), 405);
}
