//! Bytes that no honest client sends, and requests that a page in a browser would make.

use proptest::prelude::*;
use serde_json::json;

use super::door::{DOORS, Door, House, status};

const HERE: &str = "host: localhost";
const JSON: &str = "content-type: application/json";

/// A body that would save something.
const SAVES: &[u8] = br#"{"content":"planted by a page","project":"p","sessionId":"s"}"#;

/// Members that REST refuses and MCP drops, as the contract wants, whatever they hold.
const DROPPED: [&str; 2] = ["depth in an unknown field", "prototype"];

/// Asserts that the server and the agent's program are well, and that nothing was saved.
fn is_well_and_empty(house: &mut House) {
    assert_eq!(house.server.get("/memory/livez").body, r#"{"status":"ok"}"#);
    for door in DOORS {
        assert_eq!(house.list(door, "p", "s"), [], "{door:?}");
    }
}

#[test]
fn a_page_can_not_reach_the_memory() {
    let mut house = House::open();
    house.save(Door::Cli, "kept", "s", "a secret of the user").unwrap();
    let post = "POST /memory/remember";
    let foreign_target = "POST http://evil.example/memory/remember";
    let read = "GET /memory/sessions/s/memories?project=kept";
    let cases: [(&str, &str, &[&str], u16); 19] = [
        // DNS rebinding: the page's own name leads to the loopback address.
        ("foreign host", post, &["host: evil.example:3111", JSON], 403),
        ("no host", post, &[JSON], 403),
        ("two hosts", post, &[HERE, "host: evil.example", JSON], 403),
        ("absolute target", foreign_target, &[HERE, JSON], 403),
        ("host with user", post, &["host: localhost@evil.example", JSON], 403),
        ("host that starts alike", post, &["host: localhost.evil.example", JSON], 403),
        ("address that is not ours", post, &["host: 10.1.2.3", JSON], 403),
        ("reading", read, &["host: evil.example"], 403),
        // Requests across origins: a page may send some types without asking the server first.
        ("foreign origin", post, &[HERE, "origin: https://evil.example", JSON], 403),
        ("origin of a file", post, &[HERE, "origin: null", JSON], 403),
        ("origin that starts alike", post, &[HERE, "origin: http://localhost.evil.example", JSON], 403),
        ("plain text", post, &[HERE, "content-type: text/plain"], 415),
        ("form", post, &[HERE, "content-type: application/x-www-form-urlencoded"], 415),
        ("form of parts", post, &[HERE, "content-type: multipart/form-data; boundary=x"], 415),
        ("no type", post, &[HERE], 415),
        ("asking first", "OPTIONS /memory/remember", &[HERE, "origin: https://evil.example"], 403),
        (
            "asking first, from here",
            "OPTIONS /memory/remember",
            &[HERE, "origin: http://localhost:5173"],
            405,
        ),
        ("overridden method", "GET /memory/remember", &[HERE, "x-http-method-override: POST", JSON], 405),
        ("reading across origins", read, &[HERE, "origin: https://evil.example"], 403),
    ];
    for (kind, target, headers, expected) in cases {
        let head = format!("{target} HTTP/1.1\r\n{}", headers.join("\r\n"));
        let (status, reply) = house.request(&head, SAVES);
        assert_eq!(status, expected, "{kind}: {reply}");
        assert!(!reply.to_lowercase().contains("access-control-"), "{kind}: {reply}");
        assert!(!reply.contains("secret of the user"), "{kind}: {reply}");
    }
    is_well_and_empty(&mut house);
    house.close();
}

#[test]
fn broken_requests_are_refused_and_end() {
    let mut house = House::open();
    let post = "POST /memory/remember HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
    let chunked = "transfer-encoding: chunked";
    let length = SAVES.len();
    let requests: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", vec![]),
        ("no request", b"hello\r\n\r\n".to_vec()),
        ("another protocol", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec()),
        ("encrypted", vec![0x16, 3, 1, 0, 165, 1, 0, 0, 161, 3, 3, 0, 0, 0, 0, 13, 10, 13, 10]),
        ("an old version", b"GET /memory/livez\r\n\r\n".to_vec()),
        ("NUL in the head", format!("{post}\r\nx: a\0b\r\ncontent-length: {length}\r\n\r\n").into_bytes()),
        ("NUL in the path", b"GET /memory/\0livez HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec()),
        ("bytes in the path", b"GET /memory/\xff\xfe HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec()),
        ("folded header", format!("{post}\r\nx: a\r\n b\r\ncontent-length: 0\r\n\r\n").into_bytes()),
        ("header without a name", format!("{post}\r\n: a\r\ncontent-length: 0\r\n\r\n").into_bytes()),
        ("negative length", format!("{post}\r\ncontent-length: -1\r\n\r\n").into_bytes()),
        ("huge length", format!("{post}\r\ncontent-length: 99999999999999999999999\r\n\r\n").into_bytes()),
        (
            "two lengths",
            format!("{post}\r\ncontent-length: 3\r\ncontent-length: {length}\r\n\r\n").into_bytes(),
        ),
        (
            "length and chunks",
            format!("{post}\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n")
                .into_bytes(),
        ),
        ("unknown coding", format!("{post}\r\ntransfer-encoding: x, gzip\r\n\r\n").into_bytes()),
        ("huge chunk", format!("{post}\r\n{chunked}\r\n\r\nfffffffffffffffff\r\n").into_bytes()),
        ("chunk without an end", format!("{post}\r\n{chunked}\r\n\r\n5\r\nab").into_bytes()),
        ("body cut short", format!("{post}\r\ncontent-length: {length}\r\n\r\n{{\"content\":").into_bytes()),
        (
            "many headers",
            format!("{post}\r\n{}content-length: 0\r\n\r\n", "x: y\r\n".repeat(1_000)).into_bytes(),
        ),
        (
            "large header",
            format!("{post}\r\nx: {}\r\ncontent-length: 0\r\n\r\n", "y".repeat(200_000)).into_bytes(),
        ),
        (
            "large path",
            format!("GET /memory/{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "y".repeat(200_000)).into_bytes(),
        ),
        (
            "announced and packed",
            format!("{post}\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x08\x08\x08")
                .into_bytes(),
        ),
    ];
    for (kind, request) in requests {
        let reply = house.send(&request);
        let status = status(&reply);
        let shown = String::from_utf8_lossy(&reply);
        assert!(matches!(status, 0 | 400..=499), "{kind}: {shown}");
    }
    is_well_and_empty(&mut house);
    house.close();
}

#[test]
fn bodies_of_any_depth_size_and_number_are_answered() {
    let mut house = House::open();
    let deep = |depth: usize| format!("{}1{}", r#"{"a":["#.repeat(depth), "]}".repeat(depth));
    // What would be saved, were it not for one member more.
    let with = |member: &str| format!(r#"{{"content":"x","sessionId":"s","project":"p",{member}}}"#);
    let bodies: Vec<(&str, String)> = vec![
        ("depth in a known field", format!(r#"{{"content":{}}}"#, deep(50_000))),
        (DROPPED[0], with(&format!(r#""x":{}"#, deep(50_000)))),
        ("depth without an end", "[".repeat(1 << 20)),
        ("huge number", with(r#""importance":1e999"#)),
        ("broken end", with(r#""importance":-1e-999999"#) + "x"),
        ("number as text", with(r#""importance":"1""#)),
        ("long number", with(&format!(r#""importance":{}"#, "9".repeat(100_000)))),
        ("wrong types", r#"{"content":["x"],"project":{"p":1},"sessionId":null}"#.to_owned()),
        ("many concepts", with(&format!(r#""concepts":[{}"x"]"#, r#""x","#.repeat(64)))),
        ("byte order mark", format!("\u{feff}{}", String::from_utf8_lossy(SAVES))),
        (DROPPED[1], with(r#""__proto__":{"project":"q"}"#)),
        ("array", r#"[{"content":"x"}]"#.to_owned()),
        ("two documents", String::from_utf8_lossy(SAVES).repeat(2)),
        ("comment", with(r#""importance":1/* no */"#)),
        ("raw line end", with("\"origin\":\"a\nb\"")),
        ("too large", format!(r#"{{"content":"{}"}}"#, "x".repeat(1 << 20))),
    ];
    for (kind, body) in &bodies {
        let head = format!("POST /memory/remember HTTP/1.1\r\nhost: localhost\r\n{JSON}");
        let (status, reply) = house.request(&head, body.as_bytes());
        assert!(matches!(status, 400 | 413), "{kind}: {reply}");
        assert!(reply.contains(r#"{"error":""#), "{kind}: {reply}");
        // What breaks lines is several messages for an agent's program, and a mark at its start is a part of no JSON.
        if body.contains('\n') {
            continue;
        }
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"memory_save","arguments":{body}}}}}"#
        );
        let answer = house.mcp.ask_raw(format!("{line}\n").as_bytes());
        let refused = answer["error"]["code"].is_i64() || answer["result"]["isError"] == true;
        assert!(refused || DROPPED.contains(kind), "{kind}: {answer}");
        if !refused {
            let saved: serde_json::Value =
                serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(saved["project"], "p", "{kind}");
            assert!(house.forget(Door::Mcp, saved["id"].as_str().unwrap()));
        }
    }
    is_well_and_empty(&mut house);
    house.close();
}

#[test]
fn numbers_are_read_or_refused_alike() {
    let mut house = House::open();
    for index in 0..3 {
        house.save(Door::Rest, "p", "s", &format!("number{index} of some memories")).unwrap();
    }
    for (limit, accepted) in [
        ("1", true),
        ("2.0", true),
        ("1e2", true),
        ("0", false),
        ("-1", false),
        ("1.5", false),
        ("101", false),
        ("1e999", false),
        ("-0", false),
        ("18446744073709551617", false),
        ("\"1\"", false),
        ("null", false),
        ("true", false),
        ("[1]", false),
    ] {
        let body = format!(r#"{{"query":"memories","project":"p","limit":{limit}}}"#);
        let head = format!("POST /memory/search HTTP/1.1\r\nhost: localhost\r\n{JSON}");
        let (status, reply) = house.request(&head, body.as_bytes());
        assert_eq!(status == 200, accepted, "{limit}: {reply}");
        assert!(accepted || status == 400, "{limit}: {reply}");
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"memory_search","arguments":{body}}}}}"#
        );
        let answer = house.mcp.ask_raw(format!("{line}\n").as_bytes());
        let refused = answer["error"]["code"].is_i64() || answer["result"]["isError"] == true;
        assert_eq!(!refused, accepted, "{limit}: {answer}");
    }
    for (importance, accepted) in [
        ("0", true),
        ("1", true),
        ("0.5", true),
        ("1.01", false),
        ("-0.01", false),
        ("NaN", false),
        ("inf", false),
        ("1e999", false),
        ("x", false),
    ] {
        let option = format!("--importance={importance}");
        let ran = house.home.am(&[
            "remember",
            "--project=q",
            &option,
            &format!("a memory of importance {importance}"),
        ]);
        assert_eq!(ran.code, Some(if accepted { 0 } else { 2 }), "{importance}: {ran:?}");
    }
    house.close();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// One server and one agent's program take a volley of noise, and are well after it.
    #[test]
    fn no_bytes_end_a_program(volley in prop::collection::vec((noise(), any::<bool>()), 1..24)) {
        let mut house = House::open();
        for (bytes, to_server) in volley {
            if to_server {
                let status = status(&house.send(&bytes));
                prop_assert!(matches!(status, 0 | 200..=499), "{}: {:?}", status, bytes);
            } else {
                house.mcp.send_raw(&bytes);
            }
        }
        // Whatever was begun by it, a call that makes sense is answered.
        house.server.post("/memory/remember", &json!({"content": "still here", "project": "p"}));
        let search = json!({
            "jsonrpc": "2.0", "id": "last", "method": "tools/call",
            "params": {"name": "memory_search", "arguments": {"query": "here", "project": "p"}},
        });
        let mut answer = house.mcp.ask_raw(format!("\n{search}\n").as_bytes());
        while answer["id"] != "last" {
            prop_assert!(answer["error"]["code"].is_i64() || answer.get("result").is_some(), "{}", answer);
            answer = house.mcp.ask_raw(b"");
        }
        prop_assert!(answer.to_string().contains("still here"), "{}", answer);
        house.close();
    }
}

/// Bytes, requests and messages, whole and with bytes of them changed, left out or doubled.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let call = json!({
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "memory_search", "arguments": {"query": "x", "project": "noise"}},
    });
    let body = r#"{"query":"x","project":"noise"}"#;
    let length = body.len();
    let request =
        format!("POST /memory/search HTTP/1.1\r\n{HERE}\r\n{JSON}\r\ncontent-length: {length}\r\n\r\n{body}");
    let whole = prop::sample::select(vec![request.into_bytes(), format!("{call}\n").into_bytes()]);
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..4_u8);
    let changed = (whole, prop::collection::vec(change, 0..6)).prop_map(|(mut bytes, changes)| {
        for (place, byte, kind) in changes {
            if bytes.is_empty() {
                break;
            }
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = byte,
                1 => drop(bytes.remove(place)),
                2 => bytes.insert(place, byte),
                _ => bytes.truncate(place + 1),
            }
        }
        bytes
    });
    prop_oneof![3 => changed, 1 => prop::collection::vec(any::<u8>(), 0..300)]
}
