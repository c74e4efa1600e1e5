//! Names and ids: those that look alike stay apart, and none of them leads anywhere else.

use std::path::Path;

use serde_json::json;

use super::door::{DOORS, Door, House, How, encode};

/// Names that some system somewhere takes for one another, for a path, or for something of its own.
const NAMES: [&str; 44] = [
    "app",
    "App",
    "APP",
    "my-app",
    "my_app",
    "my app",
    "my  app",
    "myapp",
    "my.app",
    "caf\u{e9}",
    "cafe\u{301}",
    "cafe",
    "Caf\u{e9}",
    "\u{fb01}le",
    "file",
    "\u{130}",
    "i\u{307}",
    "stra\u{df}e",
    "strasse",
    "\u{212a}",
    "K",
    "k",
    "\u{3c3}",
    "\u{3c2}",
    "zero\u{200b}width",
    "zerowidth",
    "\u{202e}ppa",
    "a/b",
    "a\\b",
    "/a/b",
    "..",
    ".",
    "../..",
    "../../../../etc",
    "%2e%2e%2f",
    "con",
    "null",
    "undefined",
    "__proto__",
    "0",
    "*",
    "' OR 1=1 --",
    "line\nend",
    "\u{1f98a}",
];

/// A name that only data can hold: no argument of a program has a NUL.
const BEYOND_ARGUMENTS: &str = "nul\0name";

#[test]
fn names_that_look_alike_stay_apart() {
    const TEXT: &str = "one claim that every project makes in the same words";
    let mut house = House::open();
    let mut ids = vec![];
    for (number, name) in NAMES.iter().chain([&BEYOND_ARGUMENTS]).enumerate() {
        let door = if name.contains('\0') { Door::Rest } else { DOORS[number % DOORS.len()] };
        ids.push((*name, house.save(door, name, "s", TEXT).unwrap()));
    }
    for (name, id) in &ids {
        for door in DOORS.into_iter().filter(|door| *door != Door::Cli || !name.contains('\0')) {
            for how in [How::Keyword, How::Hybrid] {
                let found = house.search(door, how, name, "claim");
                assert_eq!(found, [(id.clone(), TEXT.to_owned())], "{name:?} {door:?}");
            }
            assert_eq!(house.list(door, name, "s"), [(id.clone(), TEXT.to_owned())], "{name:?} {door:?}");
        }
        let health = house.server.get(&format!("/memory/health?project={}", encode(name))).json();
        assert_eq!(health["counts"], json!({"memories": 1, "sessions": 1}), "{name:?}");
        let recap = house.call("memory_recap", &json!({ "project": name })).unwrap();
        assert_eq!(recap["count"], 1, "{name:?}");
    }
    let other = house.search(Door::Rest, How::Hybrid, "a project of another name", "claim");
    assert_eq!(other, []);
    only_data(house.home.path());
    house.close();
}

#[test]
fn sessions_and_concepts_that_look_alike_stay_apart() {
    let mut house = House::open();
    let names: Vec<&str> = NAMES.into_iter().filter(|name| !["..", "."].contains(name)).collect();
    for (number, name) in names.iter().enumerate() {
        let text = format!("claim number{number}");
        let request = json!({"content": text, "project": "p", "sessionId": name, "concepts": [name]});
        house.post("/memory/remember", &request).unwrap();
    }
    for (number, name) in names.iter().enumerate() {
        let text = format!("claim number{number}");
        for door in DOORS {
            let listed: Vec<String> = house.list(door, "p", name).into_iter().map(|(_, text)| text).collect();
            assert_eq!(listed, [text.as_str()], "{name:?} {door:?}");
        }
        // A query that no text answers: what comes first comes by its concept.
        let request = json!({"query": "\u{1f995}", "project": "p", "concepts": [name]});
        for found in [
            house.post("/memory/smart-search", &request).unwrap(),
            house.call("memory_smart_search", &request).unwrap(),
        ] {
            assert_eq!(found["results"][0]["content"], text, "{name:?}");
            assert_eq!(found["results"][0]["source"], "graph", "{name:?}");
        }
    }
    house.close();
}

#[test]
fn no_id_leads_out_of_the_memory() {
    let mut house = House::open();
    let outside = house.home.path().join("outside.txt");
    std::fs::write(&outside, "not a memory").unwrap();
    let outside = outside.to_str().unwrap().to_owned();
    let kept = house.save(Door::Rest, "p", "s", "a memory beside them").unwrap();
    for id in [
        "../outside.txt",
        "..\\outside.txt",
        &outside,
        &format!("file://{outside}"),
        "../../../../../../etc/passwd",
        "%2e%2e%2foutside.txt",
        "' OR '1'='1",
        "*",
        "%",
        "1",
        "null",
        "-",
        "--all",
        "\u{202e}x",
        &"a".repeat(200),
    ] {
        for door in DOORS {
            assert!(!house.forget(door, id), "{id} {door:?}");
            assert_eq!(house.list(door, "p", id), [], "{id} {door:?}");
            assert_eq!(house.list(door, id, "s"), [], "{id} {door:?}");
        }
        let reply = house.server.post("/memory/delete", &json!({"memoryId": id, "reason": "a test"}));
        assert_eq!((reply.status, reply.body.as_str()), (404, r#"{"error":"not_found"}"#), "{id}");
        let refused = house.call("memory_delete", &json!({"memoryId": id, "reason": "a test"})).unwrap_err();
        assert_eq!(refused, r#"{"error":"not_found"}"#, "{id}");
    }
    for path in [
        "/memory/sessions/../../outside.txt/memories",
        "/memory/sessions/..%2f..%2foutside.txt/memories",
        "/memory/sessions/%2e%2e/memories",
        "/memory/sessions/%00/memories",
        "/memory/sessions/%ff/memories",
        "/memory/sessions/%/memories",
        "/memory/../outside.txt",
        "/memory/%2e%2e/outside.txt",
        "/../../etc/passwd",
        "/memory/..%5c..%5coutside.txt",
        "//memory/livez",
        "/memory/livez/",
        "/memory/livez%00",
    ] {
        let (status, reply) = house.request(&format!("GET {path} HTTP/1.1\r\nhost: localhost"), b"");
        assert!([200, 400, 404].contains(&status), "{path}: {reply}");
        assert!(status != 200 || reply.ends_with(r#"{"memories":[]}"#), "{path}: {reply}");
        assert!(!reply.contains("not a memory"), "{path}");
    }
    assert_eq!(house.list(Door::Mcp, "p", "s"), [(kept, "a memory beside them".to_owned())]);
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "not a memory");
    std::fs::remove_file(outside).unwrap();
    only_data(house.home.path());
    house.close();
}

/// Asserts that the user's home holds the data directory and nothing else, and that no name became a file in there.
fn only_data(home: &Path) {
    let names = |directory: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    assert_eq!(names(home), ["data"]);
    for name in names(&home.join("data")) {
        let known =
            [am_store_sqlite::FILE_NAME, "am.sock", "spool"].iter().any(|known| name.starts_with(known));
        assert!(known, "{name}");
    }
}
