//! The embedded store: saving, searching, probing, opening, at three sizes. One run, medians and ratios.
//!
//! `cargo bench --bench store [-- SIZE...]`, sizes `10k`, `100k`, `100k/100`; all by default.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints, and fails by panicking")]

use am_benches::corpus::{Corpus, audit, load, project};
use am_benches::measure::{Samples, resident_mib};
use am_benches::operation;
use am_model::MemoryId;
use am_store::{Action, Change, Outcome, Save, SearchQuery};
use am_store_sqlite::{FILE_NAME, OpenOptions, SqliteStore};

const REPEATS: usize = 100;

fn save_of(content: &str, place: usize, probe: bool) -> Save {
    operation::save(content, MemoryId::random(), place, probe).unwrap()
}

fn query_of(words: &str, place: usize, vector: bool) -> SearchQuery {
    operation::search(words, place, vector).unwrap()
}

fn search(store: &SqliteStore, corpus: &mut Corpus, words: usize, projects: usize, vector: bool) -> Samples {
    let mut samples = Samples::default();
    for round in 0..REPEATS {
        let words = corpus.words(words);
        samples.processor(|| {
            let reply = store.search_blocking(&query_of(&words, round % projects, vector));
            reply.lexical.unwrap();
            reply.vector.unwrap();
        });
    }
    samples
}

fn size(name: &str, memories: usize, projects: usize) {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), OpenOptions::default()).unwrap();
    let mut loading = Samples::default();
    loading.wall(|| load(&store, 1, memories, projects).unwrap());
    println!("\n## {name}: {memories} memories in {projects} project(s)\n");
    println!("loaded in {:.1} s", loading.median_ms() / 1e3);
    drop(store);

    let (mut opening, mut first) = (Samples::default(), Samples::default());
    let mut corpus = Corpus::new(2);
    for _ in 0..5 {
        let store = opening.wall(|| SqliteStore::open(directory.path(), OpenOptions::default()).unwrap());
        let words = corpus.words(3);
        first.wall(|| store.search_blocking(&query_of(&words, 0, true)));
    }
    println!("open, wall ms p50 / p99:                 {}", opening.show());
    println!("first hybrid search, wall ms p50 / p99:  {}", first.show());
    let scanning =
        SqliteStore::open(directory.path(), OpenOptions { projection_bytes: 0, ..OpenOptions::default() });
    let scanning = scanning.unwrap();
    println!(
        "by scans, 3 words, CPU ms p50 / p99:     {}",
        search(&scanning, &mut corpus, 3, projects, false).show()
    );
    println!(
        "by scans, hybrid, CPU ms p50 / p99:      {}",
        search(&scanning, &mut corpus, 8, projects, true).show()
    );
    drop(scanning);

    let store = SqliteStore::open(directory.path(), OpenOptions::default()).unwrap();
    let mut building = Samples::default();
    for place in 0..projects {
        building.wall(|| store.warm(&project(place)).unwrap());
    }
    println!("building a projection, wall ms p50:      {:.1}", building.median_ms());
    println!(
        "3 words, CPU ms p50 / p99:               {}",
        search(&store, &mut corpus, 3, projects, false).show()
    );
    println!(
        "8 words, CPU ms p50 / p99:               {}",
        search(&store, &mut corpus, 8, projects, false).show()
    );
    println!(
        "hybrid 8 words, CPU ms p50 / p99:        {}",
        search(&store, &mut corpus, 8, projects, true).show()
    );
    println!(
        "hybrid 100 words, CPU ms p50 / p99:      {}",
        search(&store, &mut corpus, 100, projects, true).show()
    );
    if let Some(resident) = resident_mib() {
        println!("resident after searching:                {resident:.0} MiB");
    }

    let (mut plain, mut probing) = (Samples::default(), Samples::default());
    let (mut durable, mut bare) = (Samples::default(), Samples::default());
    let baseline = baseline(directory.path());
    for round in 0..REPEATS {
        let place = round % projects;
        // In turns, so that neither is always the one that comes to warm caches.
        for probe in [round % 2 == 0, round % 2 == 1] {
            let content = corpus.text(place, memories + round * 2 + usize::from(probe));
            let save = save_of(&content, place, probe);
            let change = Change { audit: audit(), analysis: None, action: Action::Save(Box::new(save)) };
            let samples = if probe { &mut probing } else { &mut plain };
            // What the save before left to catch up with is done here, so that the difference is the probe alone.
            store.search_blocking(&query_of("w1", place, false)).lexical.unwrap();
            let begin = std::time::Instant::now();
            let outcome = samples.processor(|| store.commit_blocking(change).unwrap());
            if probe {
                durable.push(begin.elapsed());
            }
            assert!(matches!(outcome, Outcome::Inserted { .. }));
        }
        let save = save_of(&corpus.text(place, memories * 2 + round), place, false);
        bare.wall(|| insert_bare(&baseline, &save));
    }
    println!("remember, CPU ms p50 / p99:              {}", probing.show());
    println!("remember without probe, CPU ms:          {}", plain.show());
    println!("near-duplicate probe, CPU ms (median):   {:.3}", probing.median_ms() - plain.median_ms());
    println!("remember durable, wall ms p50 / p99:     {}", durable.show());
    println!("bare durable insert, wall ms p50 / p99:  {}", bare.show());
    println!("remember / bare insert (medians):        {:.2}x", durable.median_ms() / bare.median_ms());
}

/// A table of whole memory rows in the same file format, on the same disk, as durable as the store.
fn baseline(directory: &std::path::Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(directory.join(format!("bare-{FILE_NAME}"))).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE memory(id INTEGER PRIMARY KEY, memory_id TEXT NOT NULL UNIQUE, project TEXT NOT NULL,
               session_id TEXT NOT NULL, origin TEXT NOT NULL, importance REAL NOT NULL, created_at INTEGER NOT NULL,
               dedup_key BLOB NOT NULL UNIQUE, content TEXT NOT NULL, vector BLOB);",
        )
        .unwrap();
    connection
}

fn insert_bare(connection: &rusqlite::Connection, save: &Save) {
    let memory = &save.memory;
    let vector: Option<Vec<u8>> = memory
        .text
        .vector
        .as_ref()
        .map(|vector| vector.iter().flat_map(|value| value.to_le_bytes()).collect());
    connection
        .prepare_cached(
            "INSERT INTO memory(memory_id, project, session_id, origin, importance, created_at, dedup_key, content,
               vector) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )
        .unwrap()
        .execute(rusqlite::params![
            memory.memory_id.as_str(),
            memory.project.as_str(),
            memory.session_id.as_str(),
            memory.origin.as_str(),
            memory.importance.get(),
            0_i64,
            memory.text.dedup_key.0.as_slice(),
            memory.text.content,
            vector,
        ])
        .unwrap();
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    for (name, memories, projects) in [("10k", 10_000, 1), ("100k", 100_000, 1), ("100k/100", 100_000, 100)] {
        if asked.is_empty() || asked.iter().any(|size| size == name) {
            size(name, memories, projects);
        }
    }
}
