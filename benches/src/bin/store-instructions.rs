//! Work for an instruction counter: `store-instructions load DIRECTORY MEMORIES PROJECTS`, then
//! `store-instructions save|search|hybrid DIRECTORY COUNT`.
//!
//! The difference between `COUNT` and twice `COUNT`, each on a copy of the loaded directory, is what `COUNT` of them cost;
//! opening the store and building its projection cancel out. The same seeds give the same texts and ids every time.

use std::path::Path;
use std::process::ExitCode;

use am_benches::corpus::{Corpus, audit, load, project};
use am_benches::operation;
use am_embed::analysis::{Analysis, Profile};
use am_model::MemoryId;
use am_store::{Action, Change, Outcome};
use am_store_sqlite::{OpenOptions, SqliteStore, Synchronous};

/// Number of the first text that is saved, beyond those of the loaded store.
const FIRST: usize = 1_000_000;
/// Words of a query.
const QUERY_WORDS: usize = 8;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(std::io::Write::write_fmt(
                &mut std::io::stderr(),
                format_args!("store-instructions: {error}\n"),
            ));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), Failure> {
    match *arguments {
        ["load", directory, memories, projects] => {
            Ok(load(&open(directory)?, 1, memories.parse()?, projects.parse()?)?)
        }
        ["save", directory, count] => saves(&warm(directory)?, count.parse()?),
        ["search", directory, count] => searches(&warm(directory)?, count.parse()?, false),
        ["hybrid", directory, count] => searches(&warm(directory)?, count.parse()?, true),
        _ => Err("what to do, a directory and a count are asked for".into()),
    }
}

/// Opens a store that does not wait for the disk: waiting is no instruction.
fn open(directory: &str) -> Result<SqliteStore, Failure> {
    let options = OpenOptions { synchronous: Synchronous::Normal, ..OpenOptions::default() };
    Ok(SqliteStore::open(Path::new(directory), options)?)
}

/// Opens a store and builds its projection, which is done on a thread that nobody waits for long otherwise.
fn warm(directory: &str) -> Result<SqliteStore, Failure> {
    let store = open(directory)?;
    if store.warm(&project(0))? { Ok(store) } else { Err("no projection".into()) }
}

fn saves(store: &SqliteStore, count: usize) -> Result<(), Failure> {
    let mut corpus = Corpus::new(3);
    let analysis = Some(Analysis::new(Profile::Default).id().to_owned());
    for number in 0..count {
        let content = corpus.text(0, FIRST + number);
        let memory_id = MemoryId::from_stored(format!("bench-{number}"));
        let save = operation::save(&content, memory_id, 0, true)?;
        let outcome = store.commit_blocking(Change {
            audit: audit(),
            analysis: analysis.clone(),
            action: Action::Save(Box::new(save)),
        })?;
        if !matches!(outcome, Outcome::Inserted { .. }) {
            return Err(format!("a save did not insert: {outcome:?}").into());
        }
    }
    Ok(())
}

fn searches(store: &SqliteStore, count: usize, vector: bool) -> Result<(), Failure> {
    let mut corpus = Corpus::new(2);
    for _ in 0..count {
        let reply = store.search_blocking(&operation::search(&corpus.words(QUERY_WORDS), 0, vector)?);
        let hits = reply.lexical?.len() + reply.vector?.len();
        if hits == 0 {
            return Err("a search found nothing".into());
        }
    }
    Ok(())
}
