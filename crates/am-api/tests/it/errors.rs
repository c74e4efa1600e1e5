//! Golden `rest_errors.json`, every case.

use am_api::ApiSettings;
use bytes::Bytes;
use http_body_util::Full;

use crate::json::{Json, Masks};
use crate::support::{Reply, over_memory, over_nothing, over_sqlite, request, send};

fn body(case: &Json) -> Bytes {
    let size = match case.at("body") {
        Json::Null => return Bytes::new(),
        Json::Text(text) => return Bytes::from(text.clone()),
        described => described.at("size").number() as usize,
    };
    let filled = |before: &str, fill: &str, after: &str| {
        let count = (size - before.len() - after.len()) / fill.len();
        format!("{before}{}{after}", fill.repeat(count))
    };
    let name = case.at("name").text();
    let body = match name {
        "concepts 65" => {
            let concepts: Vec<String> = (0..65).map(|number| format!(r#""c{number}""#)).collect();
            format!(r#"{{"content":"x","concepts":[{}]}}"#, concepts.join(","))
        }
        // The size counts UTF-16 units.
        "content astral counted as UTF-16 units (100001 emoji)" => {
            return Bytes::from(format!(r#"{{"content":"{}"}}"#, "\u{1f600}".repeat(100_001)));
        }
        "query 10001" => filled(r#"{"query":""#, "x", r#""}"#),
        "delete reason 1001" => filled(r#"{"memoryId":"x","reason":""#, "x", r#""}"#),
        "delete reason 1001 of spaces and text" => filled(r#"{"memoryId":"x","reason":""#, " ", r#"x"}"#),
        _ => filled(r#"{"content":""#, "x", r#""}"#),
    };
    assert_eq!(body.len(), size, "{name}");
    Bytes::from(body)
}

fn check(case: &Json, method: &str, reply: &Reply) {
    let name = case.at("name").text();
    let mut masks = Masks::default();
    assert_eq!(f64::from(reply.status), case.at("status").number(), "{name}: {}", reply.text());
    if method == "HEAD" {
        assert_eq!((reply.text(), case.at("response").text()), ("", ""), "{name}");
    } else {
        masks.compare(case.at("response"), &reply.json()).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(reply.header("content-length"), Some(reply.body.len().to_string().as_str()), "{name}");
    }
    for (header, golden) in [("allow", "allow"), ("www-authenticate", "wwwAuthenticate")] {
        let expected = case.get(golden).filter(|value| **value != Json::Null).map(Json::text);
        assert_eq!(reply.header(header), expected, "{name}: {header}");
    }
    assert_eq!(reply.header("content-type"), Some("application/json; charset=utf-8"), "{name}");
    assert_eq!(reply.header("cache-control"), Some("no-store"), "{name}");
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{name}");
    assert_eq!(reply.header("x-agent-memory"), Some(env!("CARGO_PKG_VERSION")), "{name}");
}

#[tokio::test]
async fn every_error_case_is_answered_as_the_contract_says() {
    let golden = Json::golden("rest_errors.json");
    let secret = || ApiSettings { secret: Some("s3cret-value".to_owned()), ..ApiSettings::default() };
    let (sqlite, _directory) = over_sqlite(ApiSettings::default()).await;
    let (sqlite_secret, _other) = over_sqlite(secret()).await;
    let down = over_nothing(ApiSettings::default()).await;
    let memory = over_memory(ApiSettings::default()).await;
    let memory_secret = over_memory(secret()).await;
    let mut cases = 0;
    for case in golden.at("cases").elements() {
        let routers = match case.at("server").text() {
            "open" => vec![&memory, &sqlite],
            "secret" => vec![&memory_secret, &sqlite_secret],
            "store-down" => vec![&down],
            other => panic!("unknown server {other}"),
        };
        for router in routers {
            let method = case.at("method").text();
            let mut request = request(method, case.at("path").text());
            for (name, value) in case.at("headers").entries() {
                request = request.header(name, value.text());
            }
            let reply = send(router, request.body(Full::new(body(case))).unwrap()).await;
            check(case, method, &reply);
        }
        cases += 1;
    }
    assert_eq!(cases, 131);
}
