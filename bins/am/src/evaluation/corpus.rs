//! What is measured: documents, and questions with the documents that answer them.

use serde::Deserialize;

use crate::exit::Exit;
use crate::failure::{Failure, Result};

const DOCUMENTS: &str = include_str!("../../corpus/corpus.jsonl");
const QUESTIONS: &str = include_str!("../../corpus/queries.jsonl");

/// A text to be found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    /// Id in its corpus.
    pub(crate) id: String,
    pub(crate) content: String,
    pub(crate) concepts: Vec<String>,
    /// Session to save it into; `None`: one for all.
    #[serde(skip)]
    pub(crate) session: Option<String>,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// Id in its corpus.
    pub(crate) id: String,
    pub(crate) query: String,
    /// Ids of the documents that answer it.
    pub(crate) relevant: Vec<String>,
}

/// Documents and questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Corpus {
    pub(crate) name: String,
    pub(crate) documents: Vec<Document>,
    pub(crate) questions: Vec<Question>,
}

impl Corpus {
    /// Checks that every question is answered by documents that are there.
    pub(crate) fn checked(self) -> Result<Self> {
        let broken = |detail: String| Failure::new(Exit::Failed, format!("corpus {}: {detail}", self.name));
        if self.documents.is_empty() || self.questions.is_empty() {
            return Err(broken("there are no documents or no questions".to_owned()));
        }
        let ids: std::collections::HashSet<&str> =
            self.documents.iter().map(|document| document.id.as_str()).collect();
        if ids.len() < self.documents.len() {
            return Err(broken("two documents have the same id".to_owned()));
        }
        for question in &self.questions {
            if question.relevant.is_empty() {
                return Err(broken(format!("question {} names no document", question.id)));
            }
            if let Some(unknown) = question.relevant.iter().find(|id| !ids.contains(id.as_str())) {
                return Err(broken(format!(
                    "question {} names {unknown:?}, which is not there",
                    question.id
                )));
            }
        }
        Ok(self)
    }

    /// Returns the best recall in the first 10 that any ranking could have.
    pub(crate) fn ceiling(&self) -> f64 {
        let share =
            |question: &Question| question.relevant.len().min(10) as f64 / question.relevant.len() as f64;
        self.questions.iter().map(share).fold(0.0, |sum, share| sum + share) / self.questions.len() as f64
    }
}

/// Returns the corpus that comes with the program.
pub(crate) fn built_in() -> Result<Corpus> {
    Corpus {
        name: "built-in".to_owned(),
        documents: lines("corpus.jsonl", DOCUMENTS)?,
        questions: lines("queries.jsonl", QUESTIONS)?,
    }
    .checked()
}

/// Reads one value from each line.
pub(crate) fn lines<T: for<'de> Deserialize<'de>>(file: &str, text: &str) -> Result<Vec<T>> {
    let line = |(number, line): (usize, &str)| {
        serde_json::from_str(line)
            .map_err(|error| Failure::new(Exit::Failed, format!("{file}: line {number}: {error}")))
    };
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim_ascii().is_empty()).map(line).collect()
}
