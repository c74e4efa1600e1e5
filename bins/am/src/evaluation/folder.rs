//! Corpora of others, as folders: `sessions.json` or `observations.jsonl`, and `queries.json`.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::corpus::{Corpus, Document, Question, lines};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::one_line;

/// A session as one text (`sessions.json`).
#[derive(Deserialize)]
struct Session {
    id: String,
    content: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionQuestion {
    id: String,
    question: String,
    gold_session_ids: Vec<String>,
}

/// An observation in fields (`observations.jsonl`).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Observation {
    id: String,
    session_id: String,
    title: String,
    #[serde(default)]
    subtitle: Option<String>,
    #[serde(default)]
    facts: Vec<String>,
    #[serde(default)]
    narrative: Option<String>,
    #[serde(default)]
    concepts: Vec<String>,
    #[serde(default)]
    files: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObservationQuestion {
    query: String,
    relevant_obs_ids: Vec<String>,
}

/// Reads a folder of either kind.
pub(crate) fn read_folder(folder: &Path) -> Result<Corpus> {
    let name = folder
        .canonicalize()
        .ok()
        .and_then(|folder| Some(one_line(&folder.file_name()?.to_string_lossy())))
        .unwrap_or_else(|| "corpus".to_owned());
    let sessions = folder.join("sessions.json");
    let observations = folder.join("observations.jsonl");
    let questions = folder.join("queries.json");
    let corpus = if sessions.exists() {
        let documents: Vec<Session> = json(&sessions)?;
        let questions: Vec<SessionQuestion> = json(&questions)?;
        Corpus {
            name,
            documents: documents.into_iter().map(Document::from).collect(),
            questions: questions.into_iter().map(Question::from).collect(),
        }
    } else if observations.exists() {
        let documents: Vec<Observation> = lines("observations.jsonl", &text(&observations)?)?;
        let questions: Vec<ObservationQuestion> = json(&questions)?;
        Corpus {
            name,
            documents: documents.into_iter().map(Document::from).collect(),
            questions: (1..).zip(questions).map(Question::from).collect(),
        }
    } else {
        let message = format!("{} holds no corpus", folder.display());
        return Err(Failure::new(Exit::Failed, message)
            .hint("wanted is queries.json beside sessions.json or observations.jsonl"));
    };
    corpus.checked()
}

fn text(file: &Path) -> Result<String> {
    fs::read_to_string(file).map_err(|error| Failure::file("read", file, &error))
}

fn json<T: for<'de> Deserialize<'de>>(file: &Path) -> Result<T> {
    serde_json::from_str(&text(file)?)
        .map_err(|error| Failure::new(Exit::Failed, format!("{}: {error}", file.display())))
}

impl From<Session> for Document {
    fn from(session: Session) -> Self {
        let Session { id, content } = session;
        Self { session: Some(id.clone()), id, content, concepts: vec![] }
    }
}

impl From<SessionQuestion> for Question {
    fn from(question: SessionQuestion) -> Self {
        Self { id: question.id, query: question.question, relevant: question.gold_session_ids }
    }
}

impl From<Observation> for Document {
    /// Joins the fields in the order of an observation: title, subtitle, narrative, facts, concepts, files.
    fn from(observation: Observation) -> Self {
        let Observation { id, session_id, title, subtitle, facts, narrative, concepts, files } = observation;
        let mut content: Vec<String> = [Some(title), subtitle, narrative].into_iter().flatten().collect();
        content.extend(facts);
        content.push(concepts.join(" "));
        content.push(files.join(" "));
        content.retain(|line| !line.is_empty());
        Self { id, session: Some(session_id), content: content.join("\n"), concepts }
    }
}

impl From<(usize, ObservationQuestion)> for Question {
    fn from((number, question): (usize, ObservationQuestion)) -> Self {
        Self { id: format!("q{number:02}"), query: question.query, relevant: question.relevant_obs_ids }
    }
}
