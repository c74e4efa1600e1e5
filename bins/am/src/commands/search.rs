//! `am search`: by keyword, by meaning, or both.

use am_model::{Concept, LIMIT_DEFAULT, QUERY_MAX, SearchHit, Signal, bounded_text, number, text};
use am_service::{Search, SearchResults, SmartSearch};
use am_store::Store as _;
use am_wire::reply::Found;
use clap::Args;

use crate::cli;
use crate::context::{Context, Memory};
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::{Output, harmless, one_line, warn, write_json, write_line};

/// Longest excerpt of a memory, in UTF-16 code units.
const EXCERPT_MAX: usize = 240;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What to look for: any text, no character is an operator
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// How to look for it
    #[arg(long, value_enum, value_name = "MODE", default_value = "hybrid")]
    mode: How,
    /// Most hits, 1 to 100
    #[arg(long, value_name = "N", default_value_t = LIMIT_DEFAULT, value_parser = cli::limit)]
    limit: usize,
    /// Concept whose memories are looked for too, once for each (hybrid only)
    #[arg(long = "concept", value_name = "NAME")]
    concepts: Vec<String>,
    /// Show whole texts
    #[arg(long)]
    full: bool,
}

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum How {
    /// By words (BM25)
    Keyword,
    /// By the vectors of the embedder
    Semantic,
    /// Both, and concepts, fused into one ranking
    Hybrid,
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let query = bounded_text("query", &arguments.query.join(" "), QUERY_MAX)?;
    let concepts =
        arguments.concepts.iter().map(|name| Concept::new(name)).collect::<std::result::Result<_, _>>()?;
    let memory = context.memory().await?;
    let project = context.project();
    let limit = arguments.limit;
    let found = match arguments.mode {
        How::Keyword => memory.service.search(Search { query, project, limit }).await,
        How::Semantic => memory.service.semantic_search(Search { query, project, limit }).await,
        How::Hybrid => memory.service.smart_search(SmartSearch { query, concepts, project, limit }).await,
    };
    let output = context.output;
    if output.json {
        write_json(&Found::from(&found))?;
    } else {
        show(output, &found, arguments.full)?;
    }
    if found.hits.is_empty() {
        say_what_else(context, &memory).await;
        return Ok(Exit::Failed);
    }
    Ok(Exit::Success)
}

/// Writes hits, and to standard error what is missing from them.
pub(crate) fn show(output: Output, found: &SearchResults, full: bool) -> Result<()> {
    for (number, hit) in (1..).zip(&found.hits) {
        show_hit(output, number, hit, full)?;
    }
    show_signals(&found.signals);
    Ok(())
}

fn show_hit(output: Output, number: usize, hit: &SearchHit, full: bool) -> Result<()> {
    let memory = &hit.memory;
    let content = if full {
        harmless(&memory.content).replace('\n', "\n   ")
    } else {
        text::cut_with_ellipsis(&one_line(&memory.content), EXCERPT_MAX)
    };
    write_line(format_args!("{number}. {content}"))?;
    let about = format!(
        "{} {} · {} · {} · {}",
        hit.source.as_str(),
        number::print((hit.score * 1e4).round() / 1e4),
        one_line(memory.session_id.as_str()),
        memory.created_at,
        one_line(memory.memory_id.as_str()),
    );
    write_line(format_args!("   {}", output.faint(&about)))
}

/// Says on standard error what an answer lacks.
pub(crate) fn show_signals(signals: &[Signal]) {
    for signal in signals {
        warn(format_args!("the answer is partial: {}", one_line(&signal.0)));
    }
}

/// Says on standard error where something could be found instead.
async fn say_what_else(context: &Context<'_>, memory: &Memory) {
    let project = context.project();
    let name = one_line(project.as_str());
    context.output.note(format_args!("nothing found in project {name:?}"));
    let Ok(projects) = memory.store.projects().await else { return };
    if projects.is_empty() {
        context.output.hint("the memory is empty; `am remember TEXT` saves something");
    } else if !projects.contains(&project) {
        let mut names: Vec<String> = projects.iter().take(10).map(|name| one_line(name.as_str())).collect();
        if projects.len() > names.len() {
            names.push("...".to_owned());
        }
        let names = names.join(", ");
        context.output.hint(format_args!("no such project; there are: {names} (choose with `--project`)"));
    }
}
