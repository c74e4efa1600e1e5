//! The invariants of ARCHITECTURE.md: who may depend on whom, and who may do what.
//!
//! Each table is a decision: a change that needs a new line in one needs its reason too.

mod golden;
mod graph;
mod source;

use std::collections::{BTreeMap, BTreeSet};

use graph::GRAPH;
use source::{SOURCES, Source, root, says};

/// The packages from the bottom to the top, and the packages of ours that each may depend on.
const LAYERS: [(&str, &[&str]); 17] = [
    ("am-model", &[]),
    ("am-embed", &["am-model"]),
    ("am-fusion", &["am-model"]),
    // Ranking is for the double in its test kit, an optional dependency.
    ("am-store", &["am-model", "am-embed", "am-fusion"]),
    ("am-store-sqlite", &["am-model", "am-embed", "am-fusion", "am-store"]),
    ("am-service", &["am-model", "am-embed", "am-fusion", "am-store"]),
    ("am-wire", &["am-model", "am-service"]),
    ("am-api", &["am-model", "am-store", "am-service", "am-wire"]),
    ("am-mcp", &["am-model", "am-embed", "am-service", "am-wire"]),
    ("am-hook", &[]),
    ("am-runtime", &["am-model", "am-embed", "am-store", "am-store-sqlite", "am-service", "am-hook"]),
    ("am-hook-program", &["am-hook"]),
    ("am-mcp-program", &["am-mcp", "am-hook", "am-runtime"]),
    (
        "am-server",
        &["am-model", "am-store", "am-store-sqlite", "am-service", "am-api", "am-hook", "am-runtime"],
    ),
    (
        "am-cli",
        &[
            "am-model",
            "am-embed",
            // Retrieval metrics, for `am eval`.
            "am-fusion",
            "am-store",
            "am-store-sqlite",
            "am-service",
            // Reading commands write JSON as the REST replies are.
            "am-wire",
            "am-hook",
            "am-runtime",
            "am-mcp-program",
            "am-server",
        ],
    ),
    ("am-benches", &["am-model", "am-embed", "am-store", "am-store-sqlite"]),
    ("am-tests", &[]),
];

/// The pure crates, and everything that each depends on directly: nothing that waits, stores, talks or reads.
const PURE: [(&str, &[&str]); 3] = [
    ("am-model", &["sha2", "thiserror", "time", "unicode-segmentation", "uuid"]),
    ("am-embed", &["am-model", "fnv", "thiserror", "unicode-normalization", "unicode-segmentation"]),
    ("am-fusion", &["am-model"]),
];

/// What the pure crates don't link, through whatever dependency.
const IMPURE: [&str; 20] = [
    "async-trait",
    "clap",
    "http",
    "hyper",
    "libsqlite3-sys",
    "log",
    "mio",
    "rmcp",
    "rusqlite",
    "rustix",
    "rustls",
    "schemars",
    "serde_json",
    "socket2",
    "tempfile",
    "tokio",
    "toml",
    "tower",
    "tracing",
    "ureq",
];

/// What neither the hook's library nor its program links: it starts in about a millisecond.
const SLOW_TO_START: [&str; 18] = [
    "anyhow",
    "async-trait",
    "clap",
    "futures-util",
    "hyper",
    "libsqlite3-sys",
    "mio",
    "native-tls",
    "openssl",
    "regex",
    "ring",
    "rusqlite",
    "rustls",
    "serde_derive",
    "tokio",
    "tracing",
    "tracing-subscriber",
    "ureq",
];

/// Crates below the surfaces: none of them knows a wire format.
const BELOW_THE_WIRE: [&str; 6] =
    ["am-model", "am-embed", "am-fusion", "am-store", "am-store-sqlite", "am-service"];

#[test]
fn every_package_has_its_layer() {
    let layers: BTreeSet<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    let members: BTreeSet<&str> = GRAPH.members.iter().map(|member| member.name.as_str()).collect();
    assert_eq!(layers, members);
}

#[test]
fn arrows_point_down_only() {
    let mut below = BTreeSet::new();
    for (name, allowed) in LAYERS {
        assert!(
            allowed.iter().all(|lower| below.contains(lower)),
            "{name} may only use what stands above it"
        );
        below.insert(name);
        let ours = GRAPH.member(name).dependencies.keys().filter(|other| other.starts_with("am-"));
        let ours: BTreeSet<&str> = ours.map(String::as_str).collect();
        assert_eq!(ours, allowed.iter().copied().collect(), "{name}");
    }
}

#[test]
fn a_store_is_chosen_by_programs_and_their_wiring_alone() {
    for member in &GRAPH.members {
        let names_one = member.dependencies.keys().any(|name| name.starts_with("am-store-"));
        let may = member.name == "am-runtime" || !member.directory.starts_with("crates/");
        assert!(!names_one || may, "{}", member.name);
    }
}

#[test]
fn what_is_only_for_tests_is_optional() {
    let store = GRAPH.member("am-store");
    assert!(store.features.contains("testkit"));
    for name in ["am-fusion", "tokio"] {
        assert_eq!(store.dependencies.get(name), Some(&true), "{name}");
    }
    let optional =
        GRAPH.members.iter().filter(|member| member.dependencies.values().any(|optional| *optional));
    assert_eq!(optional.map(|member| member.name.as_str()).collect::<Vec<_>>(), ["am-store"]);
}

#[test]
fn the_pure_crates_link_nothing_that_waits_stores_talks_or_reads() {
    for (name, allowed) in PURE {
        let direct: Vec<&str> = GRAPH.member(name).dependencies.keys().map(String::as_str).collect();
        assert_eq!(direct, allowed, "{name}");
        let linked = GRAPH.linked(name);
        let impure: Vec<&str> = IMPURE.into_iter().filter(|impure| linked.contains(impure)).collect();
        assert!(impure.is_empty(), "{name} links {impure:?}");
    }
}

#[test]
fn the_pure_crates_touch_nothing_outside_themselves() {
    const OUTSIDE: [&str; 27] = [
        "fs",
        "net",
        "std::env",
        "io",
        "process",
        "thread",
        "os",
        "SystemTime",
        "UNIX_EPOCH",
        "Instant::now",
        "sleep",
        "async",
        "await",
        "tokio",
        "println!",
        "print!",
        "eprintln!",
        "eprint!",
        "dbg!",
        "static mut",
        "thread_local",
        "OnceLock",
        "LazyLock",
        "Mutex",
        "RwLock",
        "atomic",
        "unsafe",
    ];
    for source in shipped_of(&["am-model", "am-embed", "am-fusion"]) {
        let said: Vec<&str> = OUTSIDE.into_iter().filter(|word| source.says(word)).collect();
        assert!(said.is_empty(), "{}: {said:?}", source.path);
    }
}

#[test]
fn the_hook_links_nothing_that_is_slow_to_start() {
    for name in ["am-hook", "am-hook-program"] {
        let linked = GRAPH.linked(name);
        let slow: Vec<&str> = SLOW_TO_START.into_iter().filter(|slow| linked.contains(slow)).collect();
        assert!(slow.is_empty(), "{name} links {slow:?}");
        assert!(linked.len() <= 10, "{name} links {linked:?}");
    }
}

#[test]
fn only_surfaces_know_a_wire_format() {
    for name in BELOW_THE_WIRE {
        let linked = GRAPH.member(name).dependencies.keys();
        let formats: Vec<&String> =
            linked.filter(|name| name.contains("serde") || *name == "schemars" || *name == "toml").collect();
        assert!(formats.is_empty(), "{name} depends on {formats:?}");
    }
    for source in shipped_of(&BELOW_THE_WIRE) {
        for word in ["serde", "serde_json", "schemars", "Serialize", "Deserialize"] {
            assert!(!source.says(word), "{} says {word}", source.path);
        }
    }
    // The crates whose types derive a format; the others write and read theirs by hand.
    let deriving: BTreeSet<&str> = SOURCES
        .iter()
        .filter(|source| source.is_shipped() && (source.says("Serialize") || source.says("Deserialize")))
        .map(Source::package)
        .collect();
    assert_eq!(deriving, BTreeSet::from(["am", "am-api", "am-mcp", "am-wire"]));
}

#[test]
fn each_protocol_stays_in_its_crate() {
    let confined: [(&str, &[&str]); 7] = [
        ("rmcp", &["am-mcp"]),
        ("rusqlite", &["am-store-sqlite"]),
        ("hyper", &["am-server"]),
        ("schemars", &["am-api", "am-wire"]),
        ("prometheus-client", &["am-api"]),
        ("ureq", &["am-runtime"]),
        ("clap", &["am-cli", "am-server"]),
    ];
    for (dependency, allowed) in confined {
        let users = GRAPH.members.iter().filter(|member| member.dependencies.contains_key(dependency));
        let users: BTreeSet<&str> = users.map(|member| member.name.as_str()).collect();
        assert_eq!(users, allowed.iter().copied().collect(), "{dependency}");
    }
}

/// Rules of ranking are arithmetic of this kind, and stand in `am-fusion`.
#[test]
fn rules_of_ranking_stand_in_one_crate() {
    let elsewhere = SOURCES.iter().filter(|source| {
        source.is_shipped()
            && [".ln(", ".ln_1p(", ".exp(", ".powf(", ".log2("]
                .iter()
                .any(|formula| source.code.contains(formula))
    });
    let elsewhere: BTreeSet<&str> = elsewhere.map(|source| source.path.as_str()).collect();
    // Of the hash embedder: how much a repeated word weighs in a vector.
    let allowed = ["crates/am-embed/src/hash.rs"];
    let foreign: Vec<_> = elsewhere
        .into_iter()
        .filter(|path| !path.starts_with("crates/am-fusion/") && !allowed.contains(path))
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

/// A word that libraries don't say, where one does all the same, and why.
struct Exception {
    path: &'static str,
    word: &'static str,
    #[expect(dead_code, reason = "for the reader")]
    reason: &'static str,
}

const fn exception(path: &'static str, word: &'static str, reason: &'static str) -> Exception {
    Exception { path, word, reason }
}

#[test]
fn libraries_never_print_read_the_environment_or_exit() {
    const SELF_WILLED: [&str; 13] = [
        "println!",
        "print!",
        "eprintln!",
        "eprint!",
        "dbg!",
        "stdin",
        "stdout",
        "stderr",
        "std::env",
        "env::",
        "home_dir",
        "process",
        "exit",
    ];
    let exceptions = [exception(
        "crates/am-hook/src/recall/mod.rs",
        "process",
        "the number of the process, in the name of a temporary file",
    )];
    hold(SOURCES.iter().filter(|source| source.is_library()), &SELF_WILLED, &exceptions);
}

#[test]
fn programs_read_the_environment_in_their_main_file() {
    let exceptions = [
        exception("bins/am-hook/src/main.rs", "env::", "a main file"),
        exception("bins/am-mcp/src/main.rs", "env::", "a main file"),
        exception("bins/am-server/src/main.rs", "env::", "a main file"),
        exception("bins/am/src/main.rs", "env::", "a main file"),
        exception(
            "bins/am/src/commands/hook.rs",
            "env::",
            "the working directory, as am-hook's main file reads it",
        ),
    ];
    let programs = SOURCES.iter().filter(|source| source.path.starts_with("bins/") && source.is_shipped());
    hold(programs, &["env::", "home_dir", "process::exit"], &exceptions);
}

#[test]
fn the_clock_is_read_where_it_must_be() {
    let exceptions = [
        exception("crates/am-service/src/clock.rs", "SystemTime", "the clock that programs pass in"),
        exception("crates/am-hook/src/program.rs", "SystemTime", "when an event happened"),
        exception(
            "crates/am-hook/src/spool/segments.rs",
            "SystemTime",
            "the order of files, and the age of left-overs",
        ),
    ];
    hold(SOURCES.iter().filter(|source| source.is_library()), &["SystemTime"], &exceptions);
}

#[test]
fn files_are_touched_by_few() {
    let users =
        SOURCES.iter().filter(|source| source.is_library() && (source.says("fs") || source.says("File")));
    let users: BTreeSet<&str> = users.map(Source::package).collect();
    // The spool and the store; the runtime reads the settings.
    assert_eq!(users, BTreeSet::from(["am-hook", "am-runtime", "am-store-sqlite"]));
}

/// Holds sources to words that they don't say, but for the exceptions, each of which must be one.
fn hold<'s>(sources: impl Iterator<Item = &'s Source>, words: &[&str], exceptions: &[Exception]) {
    let mut said = BTreeSet::new();
    for source in sources {
        for word in words.iter().filter(|word| source.says(word)) {
            said.insert((source.path.as_str(), *word));
        }
    }
    let allowed: BTreeSet<(&str, &str)> = exceptions.iter().map(|e| (e.path, e.word)).collect();
    assert_eq!(said, allowed);
}

/// The tables that hold memories and what is derived from them.
const MEMORY_TABLES: [&str; 8] =
    ["memory", "part", "derived", "vector", "vec8", "terms", "concept", "concept_memory"];

/// The files that write rows of memories: the committer, and what makes rows anew from others.
const WRITERS: [(&str, &str); 7] = [
    ("commit/memory_rows.rs", "a memory's row with all that hangs on it: insert, rewrite, delete"),
    ("commit/save.rs", "revives a row that TTL hides"),
    ("commit/merge.rs", "links the concepts of a text that a memory holds already"),
    ("commit/concept.rs", "concepts and their links"),
    ("commit/forget_session.rs", "the parts of a text that its sessions wrote"),
    ("rebuild.rs", "projections, from the rows they are made of"),
    ("schema.rs", "makes the tables"),
];

/// The files that read rows of memories.
const READERS: [(&str, &str); 14] = [
    ("query.rs", "searches, over `LiveMemory`"),
    ("read.rs", "lists over `LiveMemory`; by id; pages for copies"),
    ("projection/build.rs", "builds a projection"),
    ("projection/scan.rs", "searches without a projection"),
    ("commit/memory_rows.rs", "dedup and survivor lookup"),
    ("commit/probe.rs", "near-duplicates"),
    ("commit/concept.rs", "what links a concept"),
    ("commit/save.rs", "what a text is made from"),
    ("commit/forget.rs", "what is made from a text"),
    ("commit/forget_session.rs", "what a session holds"),
    ("commit/import.rs", "what is there already"),
    ("rebuild.rs", "what projections are made of"),
    ("verify.rs", "whether projections are what they should be"),
    ("backup.rs", "whether a store is empty"),
];

#[test]
fn there_is_one_door_for_memories() {
    let mut readers = BTreeSet::new();
    let mut writers = BTreeSet::new();
    for source in shipped_of(&["am-store-sqlite"]) {
        let path = source.path.strip_prefix("crates/am-store-sqlite/src/").unwrap();
        for statement in &source.literals {
            for table in MEMORY_TABLES {
                let names =
                    |verbs: &[&str]| verbs.iter().any(|verb| says(statement, &format!("{verb} {table}")));
                if names(&["INTO", "UPDATE", "DELETE FROM", "TABLE"]) {
                    writers.insert(path);
                }
                if names(&["FROM", "JOIN"]) && !says(statement, &format!("DELETE FROM {table}")) {
                    readers.insert(path);
                }
            }
            // A table's name that is put together escapes this test.
            for verb in ["FROM", "JOIN", "INTO", "UPDATE", "TABLE"] {
                assert!(!statement.contains(&format!("{verb} {{")), "{path}: {statement}");
            }
        }
    }
    assert_eq!(writers, WRITERS.iter().map(|(path, _)| *path).collect());
    assert_eq!(readers, READERS.iter().map(|(path, _)| *path).collect());
}

#[test]
fn statements_of_storage_stand_in_the_store_alone() {
    let statements =
        ["SELECT ", "INSERT INTO", "INSERT OR ", "DELETE FROM", "CREATE TABLE", "PRAGMA ", "BEGIN "];
    for source in SOURCES.iter().filter(|source| source.is_shipped() && source.package() != "am-store-sqlite")
    {
        for text in &source.literals {
            assert!(
                !statements.iter().any(|statement| text.starts_with(statement)),
                "{}: {text}",
                source.path
            );
        }
    }
}

#[test]
fn unsafe_code_stands_in_the_vector_kernel_alone() {
    let users = SOURCES.iter().filter(|source| source.says("unsafe") || source.says("unsafe_code"));
    let users: Vec<&str> = users.map(|source| source.path.as_str()).collect();
    assert_eq!(users, ["crates/am-store-sqlite/src/projection/kernel.rs"]);
}

#[test]
fn lints_are_expected_with_a_reason_and_never_allowed() {
    for source in SOURCES.iter() {
        assert!(!source.code.contains("#[allow(") && !source.code.contains("#![allow("), "{}", source.path);
        let expectations = source.code.match_indices("[expect(");
        for (at, _) in expectations {
            let attribute = source.code[at..].split(")]").next().unwrap_or_default();
            assert!(attribute.contains("reason"), "{}: {attribute}", source.path);
        }
    }
}

#[test]
fn every_package_keeps_to_the_rules_of_the_workspace() {
    for member in &GRAPH.members {
        let manifest = read(&format!("{}/Cargo.toml", member.directory));
        let manifest: toml::Table = manifest.parse().unwrap();
        assert_eq!(manifest["lints"]["workspace"].as_bool(), Some(true), "{}", member.name);
        for inherited in ["version", "edition", "rust-version", "license"] {
            let value = &manifest["package"][inherited];
            assert_eq!(value["workspace"].as_bool(), Some(true), "{}: {inherited}", member.name);
        }
        let table = |value: &toml::Value| value.as_table().cloned().unwrap_or_default();
        let of_platforms = manifest.get("target").map(table).unwrap_or_default().into_iter();
        let places = of_platforms.map(|(_, place)| table(&place)).chain([manifest]);
        for place in places.filter(|_| member.directory.contains('/')) {
            for (name, wanted) in ["dependencies", "dev-dependencies"]
                .into_iter()
                .filter_map(|kind| place.get(kind).map(table))
                .flatten()
            {
                let own = wanted.get("path").is_some_and(|path| path.as_str() == Some("."));
                let shared = wanted.get("workspace").and_then(toml::Value::as_bool) == Some(true);
                assert!(shared || own, "{}: the version of {name} belongs into the workspace", member.name);
            }
        }
    }
}

#[test]
fn every_crate_says_what_it_owns_and_what_it_is_not() {
    for member in &GRAPH.members {
        let (library, program) =
            (format!("{}/src/lib.rs", member.directory), format!("{}/src/main.rs", member.directory));
        let is_library = root().join(&library).exists();
        let header = read(if is_library { &library } else { &program });
        let header: Vec<&str> = header.lines().map_while(|line| line.strip_prefix("//!")).collect();
        let header = header.join(" ");
        assert!(!header.is_empty(), "{} has no header", member.name);
        if member.directory.starts_with("crates/") {
            assert!(says(&header, "Owns"), "{} says not what it owns", member.name);
            let limits = ["not", "no", "nothing"].iter().any(|word| says(&header, word));
            assert!(limits, "{} says not what it is not", member.name);
        }
    }
}

#[test]
fn files_stay_short() {
    let long: Vec<_> = SOURCES
        .iter()
        .map(|source| (source.text.lines().count(), &source.path))
        .filter(|(lines, _)| *lines > 600)
        .collect();
    assert!(long.is_empty(), "{long:?}");
}

#[test]
fn the_lock_holds_one_database_and_one_way_to_encrypt() {
    let lock: toml::Table = read("Cargo.lock").parse().unwrap();
    let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
    for package in lock["package"].as_array().unwrap() {
        *versions.entry(package["name"].as_str().unwrap()).or_default() += 1;
    }
    for name in ["rusqlite", "libsqlite3-sys", "rustls", "tokio", "hyper", "serde_json", "rmcp"] {
        assert_eq!(versions.get(name), Some(&1), "{name}");
    }
    for name in ["openssl", "openssl-sys", "native-tls", "sqlx", "axum", "reqwest"] {
        assert_eq!(versions.get(name), None, "{name}");
    }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn shipped_of<'p>(packages: &'p [&str]) -> impl Iterator<Item = &'static Source> + use<'p> {
    SOURCES.iter().filter(|source| source.is_library() && packages.contains(&source.package()))
}
