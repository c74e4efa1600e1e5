//! The programs as their users meet them: REST, MCP, hook, start and memory. One run, medians and ratios.
//!
//! `cargo bench -p am-benches --bench surfaces [-- PART...]`, parts `rest`, `mcp`, `hook`, `start`, `memory`; all by
//! default.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints, and fails by panicking")]

use std::path::Path;
use std::time::{Duration, Instant};

use am_benches::corpus::{Corpus, load, project};
use am_benches::measure::{Samples, peak_mib_of, resident_mib_of};
use am_benches::program::{Programs, Server, run_empty};
use am_store_sqlite::{OpenOptions, SqliteStore};
use tempfile::TempDir;

/// Rounds of what takes about a millisecond.
const ROUNDS: usize = 200;
/// Rounds of REST, which are cheap and spread widely.
const REST_ROUNDS: usize = 2_000;
/// New processes that open a store of 100,000 memories.
const STARTS: usize = 20;
/// Searches before memory is looked at.
const SEARCHES: usize = 200;
/// Longest time for what is built aside.
const SETTLE: Duration = Duration::from_secs(30);

const EMPTY: &str = env!("CARGO_BIN_EXE_empty-program");

/// What an agent's host hands to a hook after a tool was used, about 0.7 kB.
const PAYLOAD: &[u8] = include_bytes!("../hook-payload.json");

/// A store that is loaded once.
struct Data {
    directory: TempDir,
    projects: usize,
}

impl Data {
    fn of(memories: usize, projects: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(directory.path(), OpenOptions::default()).unwrap();
        load(&store, 1, memories, projects).unwrap();
        Self { directory, projects }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }
}

fn row(what: &str, value: String, gate: &str) {
    println!("{what:<58} {value:>20}   {gate}");
}

fn rest(programs: &Programs, data: &Data) {
    let server = programs.server(data.path()).unwrap();
    let mut connection = server.connect().unwrap();
    let mut corpus = Corpus::new(2);
    settle(&server, data);
    let (mut live, mut search, mut hybrid) = (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..REST_ROUNDS {
        let words = corpus.words(3);
        live.wall(|| connection.get("/memory/livez").unwrap());
        search.wall(|| connection.search("search", "project-0", &words).unwrap());
        live.wall(|| connection.get("/memory/livez").unwrap());
        hybrid.wall(|| connection.search("smart-search", "project-0", &words).unwrap());
    }
    row("livez, ms p50 / p99", live.show(), "");
    for (name, samples) in [("search", search), ("smart-search", hybrid)] {
        row(&format!("{name} of 10k, ms p50 / p99"), samples.show(), "");
        let more = samples.median_ms() - live.median_ms();
        row(&format!("{name} of 10k over livez, ms"), format!("{more:.3}"), "0.5 at most for search");
    }
}

fn mcp(programs: &Programs, name: &str, directory: &Path) {
    let (mut empty, mut initialize, mut discover) =
        (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..ROUNDS {
        empty.wall(|| run_empty(EMPTY).unwrap());
        let program = initialize.wall(|| {
            let mut program = programs.mcp(directory).unwrap();
            program.initialize().unwrap();
            program
        });
        program.finish().unwrap();
        let program = discover.wall(|| {
            let mut program = programs.mcp(directory).unwrap();
            program.discover().unwrap();
            program
        });
        program.finish().unwrap();
    }
    row("empty program to its end, ms p50 / p99", empty.show(), "");
    for (question, samples) in [("initialize", initialize), ("server/discover", discover)] {
        row(&format!("am-mcp to {question}, {name} store, ms p50 / p99"), samples.show(), "");
        let ratio = samples.median_ms() / empty.median_ms();
        row(&format!("am-mcp to {question} / empty program"), format!("{ratio:.2}x"), "2.8x at most");
    }
}

fn hook(programs: &Programs) {
    let directory = tempfile::tempdir().unwrap();
    let _server = programs.server(directory.path()).unwrap();
    let (mut empty, mut hook) = (Samples::default(), Samples::default());
    for _ in 0..ROUNDS {
        empty.wall(|| run_empty(EMPTY).unwrap());
        hook.wall(|| programs.run("am-hook", &["PostToolUse"], directory.path(), PAYLOAD).unwrap());
    }
    assert!(!directory.path().join("spool").exists(), "the server took them all");
    row("empty program to its end, ms p50 / p99", empty.show(), "");
    row("am-hook to its end, server up, ms p50 / p99", hook.show(), "");
    row("am-hook / empty program", format!("{:.2}x", hook.median_ms() / empty.median_ms()), "");
}

fn start(programs: &Programs, data: &Data) {
    let (mut live, mut search, mut hybrid) = (Samples::default(), Samples::default(), Samples::default());
    let mut corpus = Corpus::new(4);
    for round in 0..STARTS {
        let (_server, mut connection) = live.wall(|| {
            let server = programs.server(data.path()).unwrap();
            let mut connection = server.connect().unwrap();
            connection.get("/memory/livez").unwrap();
            (server, connection)
        });
        let (route, samples) =
            if round % 2 == 0 { ("search", &mut search) } else { ("smart-search", &mut hybrid) };
        let words = corpus.words(8);
        samples.wall(|| connection.search(route, "project-0", &words).unwrap());
    }
    row("am-server to livez, 100k store, ms p50 / p99", live.show(), "50 at most");
    row("first search, new process, ms p50 / p99", search.show(), "300 at most");
    row("first smart-search, new process, ms p50 / p99", hybrid.show(), "300 at most");
}

/// Searches until what is built aside is there.
fn settle(server: &Server, data: &Data) {
    let mut connection = server.connect().unwrap();
    let begin = Instant::now();
    let mut corpus = Corpus::new(5);
    for place in 0..data.projects {
        let words = corpus.words(3);
        connection.search("smart-search", project(place).as_str(), &words).unwrap();
    }
    let mut last = 0.0;
    while begin.elapsed() < SETTLE {
        std::thread::sleep(Duration::from_millis(1500));
        let now = resident_mib_of(server.process()).unwrap_or_default();
        if now == last {
            break;
        }
        last = now;
    }
}

fn memory(programs: &Programs, empty: &Path, sizes: &[(&str, &Data)]) {
    let idle = |directory: &Path| {
        let server = programs.server(directory).unwrap();
        server.connect().unwrap().get("/memory/livez").unwrap();
        std::thread::sleep(Duration::from_millis(500));
        resident_mib_of(server.process())
    };
    row("am-server idle, empty store, MiB", show(idle(empty)), "12 at most");
    for (name, data) in sizes {
        row(&format!("am-server idle, {name}, MiB"), show(idle(data.path())), "12 at most");
        let server = programs.server(data.path()).unwrap();
        settle(&server, data);
        let mut connection = server.connect().unwrap();
        let mut corpus = Corpus::new(6);
        for round in 0..SEARCHES {
            let (name, words) = (project(round % data.projects), corpus.words(8));
            connection.search("search", name.as_str(), &words).unwrap();
            connection.search("smart-search", name.as_str(), &words).unwrap();
        }
        let resident = show(resident_mib_of(server.process()));
        row(&format!("am-server after searching {name}, MiB"), resident, "150 at most");
        row(&format!("am-server at its largest, {name}, MiB"), show(peak_mib_of(server.process())), "");
        drop(server);

        let mut program = programs.mcp(data.path()).unwrap();
        program.initialize().unwrap();
        row(&format!("am-mcp after initialize, {name}, MiB"), show(resident_mib_of(program.process())), "");
        // By scans where a project is beyond its budget: fewer are enough.
        for round in 0..SEARCHES / 4 {
            let (name, words) = (project(round % data.projects), corpus.words(8));
            program.search("memory_search", name.as_str(), &words).unwrap();
            program.search("memory_smart_search", name.as_str(), &words).unwrap();
        }
        let resident = show(resident_mib_of(program.process()));
        row(&format!("am-mcp after searching {name}, MiB"), resident, "60 at most");
        row(&format!("am-mcp at its largest, {name}, MiB"), show(peak_mib_of(program.process())), "");
    }
}

fn show(mib: Option<f64>) -> String {
    mib.map_or_else(|| "not told".to_owned(), |mib| format!("{mib:.1}"))
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let wanted = |part: &str| asked.is_empty() || asked.iter().any(|asked| asked == part);
    let programs = Programs::build().unwrap();
    let empty = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(empty.path(), OpenOptions::default()).unwrap());
    if wanted("rest") {
        rest(&programs, &Data::of(10_000, 1));
    }
    if wanted("hook") {
        hook(&programs);
    }
    if wanted("mcp") {
        mcp(&programs, "empty", empty.path());
    }
    if !["mcp", "start", "memory"].into_iter().any(wanted) {
        return;
    }
    let one = Data::of(100_000, 1);
    if wanted("mcp") {
        mcp(&programs, "100k", one.path());
    }
    if wanted("start") {
        start(&programs, &one);
    }
    if wanted("memory") {
        let many = Data::of(100_000, 100);
        memory(&programs, empty.path(), &[("100k in one project", &one), ("100k in 100", &many)]);
    }
}
