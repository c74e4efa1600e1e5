//! Values that keep their rules, and the requests that are made of them.

use std::collections::BTreeMap;

use am_model::{Channel, Concept, Importance, LIMIT_DEFAULT, MemoryId, Origin, Project, SessionId};
use am_service::{Digest, Remember, Search, SmartSearch};
use thiserror::Error;

use crate::field::{self, Field};

/// A verb wants a value that its route or tool doesn't list: a defect, never a mistake of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a verb reads {0}, which is not among its fields")]
pub struct Unlisted(&'static str);

/// A value that keeps its rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Texts(Vec<String>),
    Number(f64),
}

/// The values of a request, by the name of their field. What was left out has the contract's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(BTreeMap<&'static str, Value>);

impl Values {
    pub(crate) fn insert(&mut self, field: Field, value: Value) {
        self.0.insert(field.name, value);
    }

    fn text(&mut self, field: Field) -> Option<String> {
        match self.0.remove(field.name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn number(&mut self, field: Field) -> Option<f64> {
        match self.0.remove(field.name)? {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    fn concepts(&mut self) -> Vec<Concept> {
        match self.0.remove(field::CONCEPTS.name) {
            Some(Value::Texts(names)) => names.into_iter().map(Concept::from_stored).collect(),
            _ => vec![],
        }
    }

    fn session(&mut self) -> Option<SessionId> {
        self.text(field::SHOWN_SESSION).map(SessionId::from_stored)
    }

    /// Takes the text of a required field.
    ///
    /// # Errors
    /// The values were checked against other fields.
    pub fn required(&mut self, field: Field) -> Result<String, Unlisted> {
        self.text(field).ok_or(Unlisted(field.name))
    }

    /// Takes the scope.
    pub fn project(&mut self) -> Project {
        self.text(field::PROJECT).map_or_else(Project::unnamed, Project::from_stored)
    }

    /// Takes the number of rows that are wanted.
    pub fn limit(&mut self) -> usize {
        self.number(field::LIMIT).map_or(LIMIT_DEFAULT, |limit| limit as usize)
    }

    /// Takes the id of the memory that is meant.
    ///
    /// # Errors
    /// The values were checked against other fields.
    pub fn memory_id(&mut self) -> Result<MemoryId, Unlisted> {
        self.required(field::MEMORY_ID).map(MemoryId::from_stored)
    }

    /// Makes the request to save a text, which comes from `channel` unless it says otherwise.
    ///
    /// # Errors
    /// The values were checked against other fields.
    pub fn remember(mut self, channel: Channel) -> Result<Remember, Unlisted> {
        let origin = self.text(field::ORIGIN).unwrap_or_else(|| channel.as_str().to_owned());
        Ok(Remember {
            content: self.required(field::CONTENT)?,
            concepts: self.concepts(),
            project: self.project(),
            session_id: self.session(),
            origin: Origin::from_stored(origin),
            importance: self.number(field::IMPORTANCE).map(Importance::from_stored),
            event: None,
        })
    }

    /// Makes the request to search by keyword.
    ///
    /// # Errors
    /// The values were checked against other fields.
    pub fn search(mut self) -> Result<Search, Unlisted> {
        Ok(Search { query: self.required(field::QUERY)?, project: self.project(), limit: self.limit() })
    }

    /// Makes the request to search by meaning, keyword and concept.
    ///
    /// # Errors
    /// The values were checked against other fields.
    pub fn smart_search(mut self) -> Result<SmartSearch, Unlisted> {
        Ok(SmartSearch {
            query: self.required(field::QUERY)?,
            concepts: self.concepts(),
            project: self.project(),
            limit: self.limit(),
        })
    }

    /// Makes the request to show the newest memories as text.
    pub fn digest(mut self) -> Digest {
        Digest { project: self.project(), session_id: self.session(), limit: self.limit() }
    }
}
