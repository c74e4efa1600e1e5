//! `am demo`: three made-up sessions of an agent, and what searches find in them.

use am_model::{Concept, Origin, Project, SessionId};
use am_service::{Remember, Search, SearchResults, SmartSearch};
use am_store::Store as _;
use am_wire::reply::Found;
use serde::{Deserialize, Serialize};

use super::search;
use crate::context::{Context, Memory, caller};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{counted, write_json, write_line};

/// Project and origin of what is saved.
const NAME: &str = "demo";
const CORPUS: &str = include_str!("../../corpus/demo.jsonl");
/// Hits shown of each search.
const SHOWN: usize = 2;

const KEYWORD: &str = "refresh tokens rotated";
const SEMANTIC: &str = "the page makes a query per order and got slow";
const HYBRID: &str = "rate limits: token bucket, or counters in redis?";

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    session_id: String,
    content: String,
    concepts: Vec<String>,
}

/// What is shown as JSON.
#[derive(Serialize)]
struct Shown<'a> {
    ok: bool,
    new: u64,
    searches: Vec<Searched<'a>>,
}

#[derive(Serialize)]
struct Searched<'a> {
    query: &'a str,
    #[serde(flatten)]
    found: Found<'a>,
}

pub(crate) async fn run(context: &Context<'_>) -> Result<Exit> {
    let memory = context.memory_or_new().await?;
    let project = Project::new(NAME)?;
    let (new, sessions) = seed(&memory, &project).await?;
    let searches = searches(&memory, &project).await;
    let complete = searches.iter().all(|(_, _, found)| !found.hits.is_empty());
    if context.output.json {
        let searches =
            searches.iter().map(|(_, query, found)| Searched { query, found: Found::from(found) }).collect();
        write_json(&Shown { ok: complete, new, searches })?;
    } else {
        show(context, &memory, new, &sessions, &searches).await?;
    }
    if complete {
        Ok(Exit::Success)
    } else {
        Err(Failure::new(Exit::Failed, "a search of the demo found nothing")
            .hint("`am doctor` and `am verify` look for the cause"))
    }
}

/// Saves the memories that are not there yet, and returns how many these were and the sessions.
async fn seed(memory: &Memory, project: &Project) -> Result<(u64, Vec<String>)> {
    let mut new = 0;
    let mut sessions: Vec<String> = vec![];
    for line in CORPUS.lines() {
        let line: Line = serde_json::from_str(line)
            .map_err(|error| Failure::new(Exit::Failed, format!("the demo is broken: {error}")))?;
        let mut request = Remember::new(project.clone(), &line.content)?;
        request.session_id = Some(SessionId::new(&line.session_id)?);
        request.origin = Origin::new(NAME)?;
        for concept in &line.concepts {
            request.concepts.push(Concept::new(concept)?);
        }
        let remembered = memory.service.remember(&caller(), request).await?;
        new += u64::from(!remembered.deduped && !remembered.consolidated);
        if !sessions.contains(&line.session_id) {
            sessions.push(line.session_id);
        }
    }
    Ok((new, sessions))
}

async fn searches(memory: &Memory, project: &Project) -> [(&'static str, &'static str, SearchResults); 3] {
    let search = |query: &str| Search { query: query.to_owned(), project: project.clone(), limit: SHOWN };
    let service = &memory.service;
    let smart =
        SmartSearch { query: HYBRID.to_owned(), concepts: vec![], project: project.clone(), limit: SHOWN };
    [
        ("Keyword search, by words", KEYWORD, service.search(search(KEYWORD)).await),
        ("Semantic search, by vectors", SEMANTIC, service.semantic_search(search(SEMANTIC)).await),
        ("Hybrid search, both in one ranking", HYBRID, service.smart_search(smart).await),
    ]
}

async fn show(
    context: &Context<'_>,
    memory: &Memory,
    new: u64,
    sessions: &[String],
    searches: &[(&str, &str, SearchResults)],
) -> Result<()> {
    let output = context.output;
    let total = CORPUS.lines().count() as u64;
    let identity = memory.store.identity().await?;
    write_line(format_args!(
        "The memory is in {}\n{} of {} made-up sessions are in project {NAME}: {new} saved now, {} known already",
        context.config.data_dir.value.display(),
        counted(total, "memory", "memories"),
        sessions.len(),
        total - new,
    ))?;
    for (title, query, found) in searches {
        write_line(format_args!("\n{}", output.strong(&format!("{title}: \"{query}\""))))?;
        search::show(output, found, false)?;
    }
    if identity.embedder.starts_with("hash/") {
        write_line(
            "\nThe vectors are of the built-in hash embedder, which knows words but not what they mean: it finds\n\
             shared words in other proportions than the keyword search, not synonyms.",
        )?;
    }
    write_line(format_args!(
        "\n{}\n  \
         am remember \"what should not be forgotten\"           save something of your own\n  \
         am search \"what was it\"                              find it again\n  \
         am serve                                             share it over REST, on http://127.0.0.1:3111\n  \
         am mcp                                               the command of an MCP server, for agents\n  \
         am doctor                                            see whether all is well\n  \
         am forget --project {NAME} --session {:<16}  take a session of this demo out again",
        output.strong("What next"),
        sessions.first().map_or("ID", String::as_str),
    ))?;
    output.hint("`cargo install --path bins/am --locked` puts `am` on your path");
    if searches.iter().all(|(_, _, found)| !found.hits.is_empty()) {
        write_line("\ndemo OK")?;
    }
    Ok(())
}
