//! `am remember`: save a text.

use std::io::{self, IsTerminal as _, Read as _};

use am_model::{CONTENT_MAX, Concept, Importance, Origin, SessionId};
use am_service::Remember;
use am_wire::reply::Saved;
use clap::Args;

use crate::context::{Context, caller};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{one_line, write_json, write_line};

/// Most bytes that a text of the largest size takes, and one more to notice larger ones.
const INPUT_MAX: u64 = CONTENT_MAX as u64 * 3 + 1;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The text; `-` or nothing reads it from standard input
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// Session it belongs to [default: a new one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Concept to file it under, once for each [default: derived from the text]
    #[arg(long = "concept", value_name = "NAME")]
    concepts: Vec<String>,
    /// How much it matters, 0 to 1 [default: derived]
    #[arg(long, value_name = "NUMBER")]
    importance: Option<f64>,
    /// Where it comes from
    #[arg(long, value_name = "NAME", default_value = "cli", conflicts_with = "lesson")]
    origin: String,
    /// Save it as a lesson
    #[arg(long)]
    lesson: bool,
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let request = request(context, &arguments)?;
    let memory = context.memory_or_new().await?;
    let remembered = if arguments.lesson {
        memory.service.lesson(&caller(), request).await?
    } else {
        memory.service.remember(&caller(), request).await?
    };
    if context.output.json {
        write_json(&Saved::from(&remembered))?;
    } else {
        write_line(&remembered.memory_id)?;
        let project = one_line(remembered.project.as_str());
        let what = match (remembered.deduped, remembered.consolidated) {
            (true, _) => "known already",
            (_, true) => "merged into a memory that says nearly the same",
            _ => "remembered",
        };
        context.output.note(format_args!("{what} in project {project:?}"));
    }
    Ok(Exit::Success)
}

fn request(context: &Context<'_>, arguments: &Arguments) -> Result<Remember> {
    let content = content(&arguments.text)?;
    let mut request = Remember::new(context.project(), &content)?;
    request.session_id = arguments.session.as_deref().map(SessionId::new).transpose()?;
    request.origin = Origin::new(&arguments.origin)?;
    request.importance = arguments.importance.map(Importance::new).transpose()?;
    for name in &arguments.concepts {
        request.concepts.push(Concept::new(name)?);
    }
    Ok(request)
}

fn content(words: &[String]) -> Result<String> {
    match words {
        [] if io::stdin().is_terminal() => Err(Failure::usage("there is no text to remember")
            .hint("`am remember \"the text\"`, or pipe it to `am remember`")),
        [] => read_input(),
        [dash] if dash == "-" => read_input(),
        words => Ok(words.join(" ")),
    }
}

fn read_input() -> Result<String> {
    let mut bytes = vec![];
    io::stdin()
        .lock()
        .take(INPUT_MAX)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(Exit::Failed, format!("can't read standard input: {error}")))?;
    if bytes.len() as u64 == INPUT_MAX {
        let maximum = CONTENT_MAX;
        return Err(am_model::InvalidValue::TooLong { field: "content", maximum }.into());
    }
    String::from_utf8(bytes).map_err(|_| Failure::usage("the text is not UTF-8"))
}
