//! What holds for every route of the table.

use std::collections::BTreeSet;

use am_api::{Access, ApiSettings, ROUTES};
use bytes::Bytes;
use http_body_util::Full;

use crate::support::{over_memory, request, send};

fn path(template: &str) -> String {
    template.replace("{sessionId}", "s")
}

#[test]
fn every_path_has_one_method_and_every_post_a_body_limit() {
    let templates: BTreeSet<&str> = ROUTES.iter().map(|route| route.template).collect();
    assert_eq!(templates.len(), ROUTES.len());
    for route in &ROUTES {
        match route.method {
            "POST" => assert!((1..=1 << 20).contains(&route.body_max), "{route:?}"),
            "GET" => assert_eq!((route.body_max, route.body.len()), (0, 0), "{route:?}"),
            other => panic!("{other} in {route:?}"),
        }
    }
}

#[tokio::test]
async fn every_route_but_livez_and_the_document_asks_for_the_secret() {
    let router = over_memory(ApiSettings { secret: Some("s".to_owned()), ..ApiSettings::default() }).await;
    for route in &ROUTES {
        let open = ["/memory/livez", "/openapi.json"].contains(&route.template);
        assert_eq!(route.access == Access::Open, open, "{route:?}");
        let request = request(route.method, &path(route.template)).body(Full::<Bytes>::default()).unwrap();
        let reply = send(&router, request).await;
        assert_eq!(reply.status, if open { 200 } else { 401 }, "{route:?}");
    }
}

#[tokio::test]
async fn every_body_has_a_limit_and_every_other_method_is_refused() {
    let router = over_memory(ApiSettings::default()).await;
    for route in &ROUTES {
        let body = Bytes::from(vec![b' '; route.body_max + 1]);
        if route.method == "POST" {
            let request = request("POST", &path(route.template)).header("content-type", "application/json");
            assert_eq!(send(&router, request.body(Full::new(body)).unwrap()).await.status, 413, "{route:?}");
        }
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "BREW"] {
            if method != route.method {
                let request = request(method, &path(route.template)).body(Full::<Bytes>::default()).unwrap();
                let reply = send(&router, request).await;
                assert_eq!(
                    (reply.status, reply.header("allow")),
                    (405, Some(route.method)),
                    "{method} {route:?}"
                );
            }
        }
    }
}
