//! Disks that are full: writes fail and say why, reads go on, and nothing is damaged.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::world::{Home, Mcp, Server, SmallDisk, eventually, limited, program, word};

/// Texts of the size that fills a disk in a few dozen saves.
fn large(number: u64) -> String {
    let words: Vec<String> = (0..1500).map(|place| word('l', number * 1500 + place)).collect();
    words.join(" ")
}

fn save(server: &Server, content: &str) -> (u16, Value) {
    let reply =
        server.post("/memory/remember", &json!({"content": content, "project": "p", "sessionId": "s"}));
    (reply.status, reply.json())
}

/// Saves until nothing more goes in; returns how many went in, and what was answered then.
fn fill(server: &Server) -> (u64, Value) {
    for number in 0..2000 {
        match save(server, &large(number)) {
            (201, _) => {}
            (500, refusal) => return (number, refusal),
            other => panic!("{other:?}"),
        }
    }
    panic!("the disk is larger than it should be")
}

/// Reads on every route that reads.
fn reads_go_on(server: &Server, written: u64) {
    for number in [0, written / 2, written - 1] {
        let query = word('l', number * 1500);
        for route in ["/memory/search", "/memory/smart-search"] {
            let reply = server.post(route, &json!({"query": query, "project": "p"})).json();
            assert_eq!(reply["results"][0]["content"], large(number), "{route}");
            assert_eq!(reply["signals"], json!([]));
        }
    }
    let listed = server.get("/memory/sessions/s/memories?project=p&limit=100").json();
    assert!(listed["memories"].as_array().is_some_and(|memories| !memories.is_empty()), "{listed}");
    let recap = server.post("/memory/recap", &json!({"project": "p"})).json();
    assert!(recap["count"].as_u64().is_some_and(|count| count > 0), "{recap}");
    assert_eq!(server.get("/memory/health?project=p").json()["counts"]["memories"], written);
}

/// Checks, with room on the disk again, that everything acknowledged is there and nothing else.
fn whole(home: &Home, written: u64) {
    let report = home.verify();
    assert_eq!(report["memories"], written, "{report}");
    assert_eq!(home.memories().len() as u64, written);
    assert_eq!(home.am(&["remember", "there is room again"]).code, Some(0));
    assert_eq!(home.verify()["memories"], written + 1);
}

/// The course of things, whichever way the disk is full. `command` prepares a program on it.
fn full(
    home: &Home,
    command: &dyn Fn(&str) -> Command,
    names_the_disk: &dyn Fn(&str) -> bool,
) -> (Server, u64) {
    let mut server = command("am-server");
    let mut server = Server::of(server.args(["--port", "0"]));
    let (written, refusal) = fill(&server);
    assert!(written > 3, "{refusal}");
    assert_eq!(refusal["error"], "internal_error");
    assert!(names_the_disk(refusal["details"].as_str().unwrap_or_default()), "{refusal}");
    // It stays so.
    for number in 0..3 {
        let (status, refusal) = save(&server, &large(5000 + number));
        assert_eq!(status, 500, "{refusal}");
    }
    reads_go_on(&server, written);

    let ran = command("am").args(["remember", &large(6000)]).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.code() == Some(73) && said.contains("hint: "), "{said}");
    assert!(names_the_disk(&said), "{said}");
    let ran = command("am").args(["search", "--json", "--project", "p", &word('l', 0)]).output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));

    let mut mcp = Mcp::of(command("am-mcp"));
    let (failed, _) = mcp.try_call("memory_save", &json!({"content": large(7000)})).unwrap();
    assert!(failed);
    eventually("it says why", || names_the_disk(&mcp.process.errors()));
    let found = mcp.call("memory_search", &json!({"query": word('l', 0), "project": "p"}));
    assert_eq!(found["results"][0]["content"], large(0), "{found}");
    mcp.input = None;
    assert_eq!(mcp.process.wait().code(), Some(0));
    assert!(server.process.is_alive());
    assert!(home.data().exists());
    (server, written)
}

#[test]
fn a_full_disk_is_named_and_damages_nothing() {
    let home = Home::new();
    let Some(disk) = SmallDisk::mount(&home.data(), "3m") else {
        // The other test goes the way that is open to everyone.
        eprintln!("no file systems can be mounted here");
        return;
    };
    let (server, written) =
        full(&home, &|name| home.command(name), &|said| said.contains("the disk is full"));
    // The end of a program and a start find no room either, and do no harm.
    assert!(server.stop_and_hear().lines().all(|line| line.contains("the disk is full")));
    let again = Server::start(&home);
    reads_go_on(&again, written);
    again.stop();
    disk.resize("64m");
    whole(&home, written);
}

#[test]
fn a_limit_on_files_is_named_and_damages_nothing() {
    let home = Home::new();
    let command = |name: &str| home.furnish(limited(Path::new(&program(name)), 3000));
    let (server, written) = full(&home, &command, &|said| said.contains("the disk takes no writes"));
    assert!(server.stop_and_hear().lines().all(|line| line.contains("the disk takes no writes")));
    whole(&home, written);
}
