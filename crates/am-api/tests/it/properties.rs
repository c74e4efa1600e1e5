//! No request makes a panic or a 500, and every text is only data.

use am_api::{ApiSettings, ROUTES, Router};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use proptest::prelude::*;

use crate::json::Json;
use crate::support::{Reply, get, over_memory, post, send};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Sends a request and holds the reply to what all replies promise.
fn ask(router: &Router, request: Request<Full<Bytes>>) -> Reply {
    let about = format!("{request:?}");
    let head = request.method() == "HEAD";
    let reply = runtime().block_on(send(router, request));
    assert!(reply.status < 500, "{about}: {reply:?}");
    if !head {
        assert!(reply.json().get("error").is_some() != (reply.status < 300), "{about}: {reply:?}");
    }
    reply
}

fn surface() -> Router {
    runtime().block_on(over_memory(ApiSettings::default()))
}

fn paths() -> impl Strategy<Value = String> {
    let templates: Vec<&str> = ROUTES.iter().map(|route| route.template).collect();
    prop_oneof![
        prop::sample::select(templates.clone()).prop_map(str::to_owned),
        (prop::sample::select(templates), "\\PC{0,12}")
            .prop_map(|(template, text)| { template.replace("{sessionId}", &text.replace(['?', '#'], "%")) }),
        "/(memory|%6d|\\.\\.|%2e|\\\\|[a-z%/.]{0,6})/[!-~]{0,20}",
        "/\\PC{0,30}",
    ]
}

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let value = prop_oneof![
        any::<f64>().prop_map(|number| format!("{number:e}")),
        "-?[0-9]{1,40}(e-?[0-9]{1,5})?",
        Just("null".to_owned()),
        Just("true".to_owned()),
        "\\PC{0,40}".prop_map(|text| serde_json::to_string(&text).unwrap()),
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        Just(r#""\ud800\u0000\udfff""#.to_owned()),
        Just(r#"["a",1,null,["b"]]"#.to_owned()),
        (0..3000_usize).prop_map(|depth| "[".repeat(depth) + &"]".repeat(depth)),
    ];
    let key = prop_oneof![
        prop::sample::select(vec![
            "content",
            "query",
            "project",
            "sessionId",
            "limit",
            "concepts",
            "memoryId",
            "reason"
        ])
        .prop_map(str::to_owned),
        "[a-z0-9_\u{e9}]{0,4}",
    ];
    let object = prop::collection::vec((key, value), 0..6).prop_map(|entries| {
        let entries: Vec<String> = entries.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!("{{{}}}", entries.join(",")).into_bytes()
    });
    prop_oneof![4 => object, 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_request_makes_a_panic_or_a_500(
        method in prop::sample::select(vec!["GET", "POST", "PUT", "HEAD", "OPTIONS", "X"]),
        path in paths(),
        query in prop::option::of("[!-\"$-~]{0,30}"),
        headers in prop::collection::vec(
            (prop::sample::select(vec!["content-type", "authorization", "idempotency-key", "expect", "x-any"]),
             prop::collection::vec(any::<u8>().prop_filter("a header", |b| *b >= 32 && *b != 127), 0..40)),
            0..4,
        ),
        json in any::<bool>(),
        body in bodies(),
    ) {
        let query = query.map_or_else(String::new, |query| format!("?{query}"));
        let mut request = Request::builder().method(method).uri(format!("{path}{query}")).header("host", "localhost");
        if json {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        // What `http` doesn't take can't come in.
        if let Ok(request) = request.body(Full::new(Bytes::from(body))) {
            ask(&surface(), request);
        }
    }

    #[test]
    fn every_saved_text_comes_back_as_it_was(content in any::<String>(), session in "\\PC{1,20}") {
        let trimmed = am_model::text::trim(&content).to_owned();
        let session_id = am_model::text::trim(&session).to_owned();
        prop_assume!(!trimmed.is_empty() && !session_id.is_empty());
        let router = surface();
        let body = serde_json::json!({ "content": content, "sessionId": session, "project": "p" });
        prop_assert_eq!(ask(&router, post("/memory/remember", body.to_string())).status, 201);
        let escaped = session_id.bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat();
        // A session of dots alone can't be named in a path.
        prop_assume!(!["%2e", "%2e%2e"].contains(&&*escaped));
        let listed = ask(&router, get(&format!("/memory/sessions/{escaped}/memories?project=p"))).json();
        prop_assert_eq!(listed.at("memories").elements()[0].at("content").text(), trimmed);
    }

    #[test]
    fn every_query_is_only_data(query in any::<String>(), concept in "\\PC{0,30}") {
        prop_assume!(!am_model::text::trim(&query).is_empty());
        let router = surface();
        ask(&router, post("/memory/remember", r#"{"content":"the one memory of this project"}"#));
        for route in ["search", "smart-search"] {
            let mut body = serde_json::json!({ "query": query });
            if route == "smart-search" && !am_model::text::trim(&concept).is_empty() {
                body["concepts"] = serde_json::json!([concept]);
            }
            let reply = ask(&router, post(&format!("/memory/{route}"), body.to_string()));
            prop_assert_eq!(reply.status, 200);
            prop_assert_eq!(reply.json().get("signals").cloned(), Some(Json::Array(vec![])));
        }
    }
}

#[test]
fn depth_size_and_repetition_are_no_burden() {
    let router = surface();
    let deep =
        |key: &str| format!(r#"{{"content":"x","{key}":{}{}}}"#, "[".repeat(400_000), "]".repeat(400_000));
    let many_keys: Vec<String> = (0..80_000).map(|number| format!(r#""k{number}":1"#)).collect();
    let many_concepts = vec!["1"; 200_000].join(",");
    for (body, status) in [
        (deep("foo"), 400),
        (deep("concepts"), 400),
        (format!("{{{}}}", many_keys.join(",")), 400),
        (format!(r#"{{"content":"x","concepts":[{many_concepts}]}}"#), 400),
        (format!(r#"{{"content":"x","importance":0.{}}}"#, "3".repeat(900_000)), 201),
        (format!(r#"{{{}"content":"last"}}"#, r#""content":1,"#.repeat(60_000)), 201),
        ("[".repeat(1 << 20), 400),
        (r#"{"content":"a\u0000b"}"#.to_owned(), 201),
    ] {
        let about: String = body.chars().take(40).collect();
        assert_eq!(ask(&router, post("/memory/remember", body)).status, status, "{about}");
    }
}

#[test]
fn bytes_that_are_no_utf8_are_replaced() {
    let router = surface();
    let body = [b"{\"content\":\"caf\xff\xc3 ok\",\"sessionId\":\"s\"}".as_slice()].concat();
    assert_eq!(ask(&router, post("/memory/remember", body)).status, 201);
    let listed = ask(&router, get("/memory/sessions/s/memories")).json();
    assert_eq!(listed.at("memories").elements()[0].at("content").text(), "caf\u{fffd}\u{fffd} ok");
}
