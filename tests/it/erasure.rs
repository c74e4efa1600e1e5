//! What was forgotten is nowhere in the data directory, read as bytes.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use am_embed::embedder::Embedder as _;
use am_embed::hash::HashEmbedder;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::world::{Home, Hook, Mcp, PROJECT, Rest, Server, Surface, holding, word};

const SECRET: &str = "Quixotic zugzwang blueprint vexes sphinx whenever wombat jukebox flummoxes the pyx cwm";
const SIMILAR: &str =
    "Quixotic zugzwang blueprint vexes sphinx whenever wombat jukebox flummoxes the pyx cwm jabberwock";
const SIBLING: &str = "an ordinary sibling stays exactly where it was put, in the same breath";
const SHARED: &str =
    "two gardeners agreed last week that every third row of parsnips gets watered before noon";
const CAPTURED: &str = "file edited via EditBorborygmus: syzygy_kumquat.rs";
/// Words of these texts that no other text has.
const RARE: [&str; 11] = [
    "quixotic",
    "zugzwang",
    "blueprint",
    "vexes",
    "wombat",
    "jukebox",
    "flummox",
    "jabberwock",
    "borborygmus",
    "syzygy",
    "kumquat",
];

/// A payload of a host whose tool has edited a file.
fn edited(session: &str, event: &str) -> Value {
    json!({"session_id": session, "cwd": format!("/home/user/{PROJECT}"), "tool_name": "EditBorborygmus",
           "tool_use_id": event, "tool_input": {"file_path": "/home/user/src/syzygy_kumquat.rs"}})
}

/// Fills pages, so that rows move between them.
fn crowd(surface: &mut dyn Surface, from: u64) {
    for number in from..from + 60 {
        let words: Vec<String> = (0..40).map(|place| word('c', (number * 31 + place * 7) % 997)).collect();
        surface.save(&format!("{} {}", word('n', number), words.join(" ")), "crowd").unwrap();
    }
}

/// Returns everything that the store derives from the memories with a rare word in them, as bytes.
fn derived(home: &Home) -> BTreeSet<Vec<u8>> {
    let connection = Connection::open(home.data().join("memory.db")).unwrap();
    let mut found = BTreeSet::new();
    let mut ids = vec![];
    let mut statement = connection.prepare("SELECT id, content, dedup_key, digest_key FROM memory").unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let content: String = row.get(1).unwrap();
        if RARE.iter().any(|word| content.to_lowercase().contains(word)) {
            ids.push(row.get::<_, i64>(0).unwrap());
            found.insert(content.clone().into_bytes());
            found.insert(row.get(2).unwrap());
            found.insert(row.get(3).unwrap());
            found.insert(vector(&content));
        }
    }
    for table in ["vector", "vec8", "terms"] {
        for id in &ids {
            let query = format!("SELECT value FROM {table} WHERE key & 1099511627775 = ?1");
            let mut statement = connection.prepare(&query).unwrap();
            let values = statement.query_map([id], |row| row.get::<_, Vec<u8>>(0)).unwrap();
            found.extend(values.map(Result::unwrap));
        }
    }
    found
}

fn vector(content: &str) -> Vec<u8> {
    let vector = HashEmbedder::new().embed_query(content).unwrap();
    vector.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Checks that no file holds the texts, their rare words, their vectors, or anything made of them.
fn nowhere(directory: &Path, derived: &BTreeSet<Vec<u8>>) {
    let mut needles: BTreeSet<Vec<u8>> = derived.clone();
    needles.extend(RARE.iter().map(|word| word.as_bytes().to_vec()));
    for text in [SECRET, SIMILAR, CAPTURED] {
        needles.extend([text.as_bytes().to_vec(), vector(text)]);
    }
    for needle in needles {
        let files = holding(directory, &needle);
        assert!(files.is_empty(), "{:?} is in {files:?}", String::from_utf8_lossy(&needle));
    }
}

fn sibling_is_recalled(home: &Home) {
    let found = home.am(&["search", "--json", "--project", PROJECT, "ordinary sibling"]).json();
    assert_eq!(found["results"][0]["content"], SIBLING, "{found}");
    let found = home.am(&["search", "--json", "--project", PROJECT, "zugzwang syzygy jabberwock"]);
    assert!(RARE.iter().all(|word| !found.stdout.to_lowercase().contains(word)), "{found:?}");
}

/// Exports everything to nothing.
fn export_to_nothing(home: &Home) {
    let status = home.command("am").arg("export").stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
}

fn summarize(home: &Home, session: &str) {
    let reply = home.am(&["summarize", "--json", "--project", PROJECT, "--session", session]).json();
    let summary = reply["summary"].as_str().unwrap().to_lowercase();
    assert!(RARE.iter().any(|word| summary.contains(word)), "it quotes what is forgotten later: {reply}");
}

/// Returns the id of the memory that holds a text.
fn id_of(home: &Home, content: &str) -> String {
    let held = home.memories().into_iter().find(|stored| stored.memory.content.contains(content));
    held.unwrap_or_else(|| panic!("not there: {content}")).memory.memory_id.into_string()
}

#[test]
fn forgotten_memories_leave_no_bytes() {
    let home = Home::new();
    let hook = Hook::new(&home);
    let (server, mut mcp) = (Server::start(&home), Mcp::start(&home));
    let mut rest = Rest { port: server.port };
    crowd(&mut rest, 0);
    let saved = mcp.save(SECRET, "s").unwrap();
    assert!(!mcp.save(SIBLING, "s").unwrap().consolidated);
    let merged = rest.save(SIMILAR, "t").unwrap();
    assert!(merged.consolidated && merged.id == saved.id, "{merged:?}");
    hook.fire("PostToolUse", &edited("s", "event-1"));
    summarize(&home, "s");
    export_to_nothing(&home);
    crowd(&mut rest, 500);
    mcp.close();
    server.stop();
    // This one finds nobody, and waits.
    hook.fire("PostToolUse", &edited("s", "event-2"));
    assert_eq!(hook.pending(), 1);
    assert!(!holding(&home.data().join("spool"), b"syzygy").is_empty());

    let derived = derived(&home);
    assert!(
        derived.len() > 12,
        "the memory, its summary and what was captured, each with what is made of it"
    );
    let captured = id_of(&home, CAPTURED);
    let forgotten = home.am(&["forget", "--json", &captured]).json();
    assert_eq!(
        (&forgotten["forgotten"], &forgotten["erasurePending"]),
        (&json!(true), &json!(false)),
        "{forgotten}"
    );
    assert_eq!(hook.pending(), 0, "what waited was taken in first, and then forgotten too");

    // With a server and an agent's program alive.
    let (server, mut mcp) = (Server::start(&home), Mcp::start(&home));
    assert!(mcp.search("zugzwang").unwrap().len() > 1);
    mcp.forget(&saved.id).unwrap();
    home.verify_erasure();
    nowhere(&home.data(), &derived);
    sibling_is_recalled(&home);
    assert!(mcp.search("zugzwang").unwrap().iter().all(|row| !row.content.contains("zugzwang")));
    mcp.close();
    server.stop();
    nowhere(&home.data(), &derived);
}

#[test]
fn a_forgotten_session_leaves_no_bytes_and_others_keep_theirs() {
    let home = Home::new();
    let hook = Hook::new(&home);
    let (server, mut mcp) = (Server::start(&home), Mcp::start(&home));
    let mut rest = Rest { port: server.port };
    crowd(&mut rest, 0);
    let ours = mcp.save(SHARED, "ours").unwrap();
    let theirs = rest.save(&format!("{SHARED} jabberwock"), "theirs").unwrap();
    assert!(theirs.consolidated && theirs.id == ours.id, "{theirs:?}");
    rest.save(SECRET, "theirs").unwrap();
    mcp.save(SIBLING, "ours").unwrap();
    hook.fire("PostToolUse", &edited("theirs", "event-1"));
    summarize(&home, "theirs");
    export_to_nothing(&home);
    crowd(&mut rest, 500);
    mcp.close();
    server.stop();
    hook.fire("PostToolUse", &edited("theirs", "event-2"));
    assert_eq!(hook.pending(), 1);

    let derived = derived(&home);
    let forgotten = home.am(&["forget", "--json", "--project", PROJECT, "--session", "theirs"]).json();
    assert_eq!(forgotten["rewritten"], json!([ours.id]), "{forgotten}");
    assert_eq!((&forgotten["observations"], hook.pending()), (&json!(2), 0), "{forgotten}");

    let (server, mut mcp) = (Server::start(&home), Mcp::start(&home));
    assert!(mcp.search("anything to open the store").is_some());
    home.verify_erasure();
    nowhere(&home.data(), &derived);
    sibling_is_recalled(&home);
    let kept = mcp.search("parsnips").unwrap();
    assert!(kept.iter().any(|row| row.content == SHARED), "{kept:?}");
    mcp.close();
    server.stop();
    nowhere(&home.data(), &derived);
}
