//! Who is let in: `Host`, `Origin`, the secret, and in which order.

use am_api::ApiSettings;
use bytes::Bytes;
use http::Request;
use http_body_util::Full;

use crate::support::{get, over_memory, send};

fn with(headers: &[(&str, &str)], uri: &str) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method("GET").uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Full::default()).unwrap()
}

#[tokio::test]
async fn a_foreign_host_or_origin_is_forbidden_everywhere_and_before_anything_else() {
    let secret = ApiSettings { secret: Some("s".to_owned()), ..ApiSettings::default() };
    let router = over_memory(secret).await;
    for uri in ["/memory/livez", "/memory/health", "/memory/nope", "/", "/openapi.json"] {
        for headers in [
            &[("host", "evil.example")][..],
            &[("host", "localhost"), ("host", "evil.example")],
            &[("host", "localhost"), ("origin", "http://evil.example")],
            &[("host", "localhost"), ("origin", "null")],
            &[("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://evil.example")],
            &[],
        ] {
            let reply = send(&router, with(headers, uri)).await;
            assert_eq!((reply.status, reply.text()), (403, r#"{"error":"forbidden"}"#), "{uri} {headers:?}");
            assert_eq!(reply.header("www-authenticate"), None);
        }
    }
    let reply = send(&router, with(&[("host", "localhost")], "http://evil.example/memory/livez")).await;
    assert_eq!(reply.status, 403, "an absolute request target names the host too");
}

#[tokio::test]
async fn loopback_and_what_the_user_lists_is_let_in() {
    let router = over_memory(ApiSettings {
        allowed_hosts: vec!["Memory.LAN".to_owned()],
        allowed_origins: vec!["https://tools.example".to_owned()],
        ..ApiSettings::default()
    })
    .await;
    for headers in [
        &[("host", "127.0.0.1:3111")][..],
        &[("host", "[::1]:3111"), ("origin", "http://localhost:5173")],
        &[("host", "memory.lan"), ("origin", "http://memory.lan:8080")],
        &[("host", "localhost"), ("origin", "https://Tools.example")],
    ] {
        assert_eq!(send(&router, with(headers, "/memory/livez")).await.status, 200, "{headers:?}");
    }
    assert_eq!(send(&router, with(&[("host", "10.0.0.9")], "/memory/livez")).await.status, 403);
}

#[tokio::test]
async fn beyond_loopback_the_server_may_be_named_by_address_but_pages_may_not() {
    let settings = ApiSettings { allow_addresses: true, ..ApiSettings::default() };
    let router = over_memory(settings).await;
    assert_eq!(send(&router, with(&[("host", "10.0.0.9:3111")], "/memory/livez")).await.status, 200);
    let headers = [("host", "10.0.0.9:3111"), ("origin", "http://10.0.0.66")];
    assert_eq!(send(&router, with(&headers, "/memory/livez")).await.status, 403);
}

#[tokio::test]
async fn over_the_private_socket_any_host_will_do_and_no_foreign_page() {
    let router = over_memory(ApiSettings::default()).await.over_private_socket();
    assert_eq!(send(&router, with(&[], "/memory/livez")).await.status, 200);
    assert_eq!(send(&router, with(&[("host", "agent-memory")], "/memory/livez")).await.status, 200);
    assert_eq!(send(&router, with(&[("origin", "http://evil.example")], "/memory/livez")).await.status, 403);
}

#[tokio::test]
async fn the_secret_is_compared_as_bytes_and_whole() {
    let secret = "gr\u{f6}\u{df}e \u{1f511}";
    let router = over_memory(ApiSettings { secret: Some(secret.to_owned()), ..ApiSettings::default() }).await;
    let shown = |value: String| {
        let value = http::HeaderValue::from_bytes(value.as_bytes()).unwrap();
        let mut request = get("/memory/health");
        request.headers_mut().insert("authorization", value);
        request
    };
    assert_eq!(send(&router, shown(format!("Bearer {secret}"))).await.status, 200);
    for wrong in [format!("Bearer {secret}x"), "Bearer ".to_owned(), String::new(), secret.to_owned()] {
        assert_eq!(send(&router, shown(wrong.clone())).await.status, 401, "{wrong}");
    }
}

#[tokio::test]
async fn an_empty_secret_arms_nothing() {
    let router = over_memory(ApiSettings { secret: Some(String::new()), ..ApiSettings::default() }).await;
    assert_eq!(send(&router, get("/memory/health")).await.status, 200);
}
