//! The arguments of tools: one table of fields gives the schema that is shown and the check that is made.

use std::collections::BTreeMap;

use am_model::{
    CONCEPT_MAX, CONCEPTS_MAX, CONTENT_MAX, Concept, LIMIT_DEFAULT, LIMIT_MAX, MemoryId, ORIGIN_MAX, Origin,
    Project, QUERY_MAX, REASON_MAX, SESSION_ID_MAX, SessionId, text,
};
use serde_json::{Map, Value, json};

/// What an argument may be. Lengths are in UTF-16 code units.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// A string: trimmed, then 1 to so many units.
    Text(usize),
    /// A string of 1 to so many units, before and after its white space is collapsed.
    Line(usize),
    /// An array of at most so many strings, each trimmed and then of 1 to so many units.
    Texts(usize, usize),
    /// A whole number from 1 to so much.
    Count(usize),
    /// A number from 0 to 1.
    Share,
}

/// One argument of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) rule: Rule,
    pub(crate) required: bool,
}

const fn required(name: &'static str, rule: Rule) -> Field {
    Field { name, rule, required: true }
}

const fn optional(name: &'static str, rule: Rule) -> Field {
    Field { name, rule, required: false }
}

pub(crate) const CONTENT: Field = required("content", Rule::Text(CONTENT_MAX));
pub(crate) const CONCEPTS: Field = optional("concepts", Rule::Texts(CONCEPTS_MAX, CONCEPT_MAX));
pub(crate) const PROJECT: Field = optional("project", Rule::Text(SESSION_ID_MAX));
pub(crate) const SESSION: Field = optional("sessionId", Rule::Text(SESSION_ID_MAX));
pub(crate) const NAMED_SESSION: Field = required("sessionId", Rule::Text(SESSION_ID_MAX));
pub(crate) const ORIGIN: Field = optional("origin", Rule::Text(ORIGIN_MAX));
pub(crate) const IMPORTANCE: Field = optional("importance", Rule::Share);
pub(crate) const QUERY: Field = required("query", Rule::Text(QUERY_MAX));
pub(crate) const LIMIT: Field = optional("limit", Rule::Count(LIMIT_MAX));
pub(crate) const MEMORY: Field = required("memoryId", Rule::Text(SESSION_ID_MAX));
pub(crate) const DELETED_MEMORY: Field = required("memoryId", Rule::Line(SESSION_ID_MAX));
pub(crate) const REASON: Field = required("reason", Rule::Line(REASON_MAX));

impl Rule {
    fn schema(self) -> Value {
        match self {
            Self::Text(maximum) | Self::Line(maximum) => {
                json!({"type": "string", "minLength": 1, "maxLength": maximum})
            }
            Self::Texts(most, maximum) => json!({
                "type": "array",
                "items": {"type": "string", "minLength": 1, "maxLength": maximum},
                "maxItems": most
            }),
            Self::Count(maximum) => json!({"type": "integer", "minimum": 1, "maximum": maximum}),
            Self::Share => json!({"type": "number", "minimum": 0, "maximum": 1}),
        }
    }
}

/// Returns the schema of a tool's arguments.
pub(crate) fn schema(fields: &[Field]) -> Map<String, Value> {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.to_owned(), field.rule.schema())).collect();
    let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// An argument that keeps its rule.
#[derive(Clone, Debug)]
enum Checked {
    Text(String),
    Texts(Vec<String>),
    Number(f64),
}

/// The arguments of a call, checked. What was not given has the contract's default.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments(BTreeMap<&'static str, Checked>);

impl Arguments {
    /// Checks the arguments of a call; other keys than those of `fields` are dropped.
    ///
    /// # Errors
    /// Everything that is wrong, in the words of the contract's schema library.
    pub(crate) fn check(fields: &[Field], mut given: Map<String, Value>) -> Result<Self, String> {
        let mut issues = vec![];
        let mut arguments = BTreeMap::new();
        for field in fields {
            match given.remove(field.name) {
                Some(value) => {
                    let before = issues.len();
                    let checked = check(field, value, &mut issues);
                    arguments
                        .extend(checked.filter(|_| before == issues.len()).map(|value| (field.name, value)));
                }
                None if field.required => issues.push(format!("Required at {}", field.name)),
                None => {}
            }
        }
        if issues.is_empty() { Ok(Self(arguments)) } else { Err(issues.join("; ")) }
    }

    fn text(&self, field: Field) -> Option<&str> {
        match self.0.get(field.name)? {
            Checked::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a text; empty where none was given.
    pub(crate) fn required_text(&self, field: Field) -> String {
        self.text(field).unwrap_or_default().to_owned()
    }

    pub(crate) fn project(&self) -> Project {
        self.text(PROJECT).map_or_else(Project::unnamed, Project::from_stored)
    }

    pub(crate) fn session(&self) -> Option<SessionId> {
        self.text(SESSION).map(SessionId::from_stored)
    }

    pub(crate) fn memory(&self) -> MemoryId {
        MemoryId::from_stored(self.required_text(MEMORY))
    }

    /// Returns the origin, by default that of this surface.
    pub(crate) fn origin(&self) -> Origin {
        Origin::from_stored(self.text(ORIGIN).unwrap_or("mcp"))
    }

    pub(crate) fn concepts(&self) -> Vec<Concept> {
        match self.0.get(CONCEPTS.name) {
            Some(Checked::Texts(names)) => names.iter().map(Concept::from_stored).collect(),
            _ => vec![],
        }
    }

    pub(crate) fn importance(&self) -> Option<f64> {
        match self.0.get(IMPORTANCE.name) {
            Some(Checked::Number(number)) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn limit(&self) -> usize {
        match self.0.get(LIMIT.name) {
            Some(Checked::Number(number)) => *number as usize,
            _ => LIMIT_DEFAULT,
        }
    }
}

/// Checks one argument. Something may be wrong with what is returned: then it is in `issues`.
fn check(field: &Field, value: Value, issues: &mut Vec<String>) -> Option<Checked> {
    let mut issue = |message: String, path: &str| issues.push(format!("{message} at {path}"));
    match (field.rule, value) {
        (Rule::Text(maximum), Value::String(text)) => {
            let text = text::trim(&text);
            measure(text, maximum, field.name, &mut issue);
            Some(Checked::Text(text.to_owned()))
        }
        (Rule::Line(maximum), Value::String(text)) => {
            if measure(&text, maximum, field.name, &mut issue) {
                let text = text::collapse_white_space(&text);
                measure(&text, maximum, field.name, &mut issue);
                return Some(Checked::Text(text));
            }
            None
        }
        (Rule::Texts(most, maximum), Value::Array(values)) => {
            if values.len() > most {
                issue(format!("Array must contain at most {most} element(s)"), field.name);
            }
            let mut texts = Vec::with_capacity(values.len());
            for (position, value) in values.into_iter().enumerate() {
                let path = format!("{}.{position}", field.name);
                if let Value::String(text) = value {
                    let text = text::trim(&text);
                    measure(text, maximum, &path, &mut issue);
                    texts.push(text.to_owned());
                } else {
                    issue(format!("Expected string, received {}", type_name(&value)), &path);
                }
            }
            Some(Checked::Texts(texts))
        }
        (Rule::Count(maximum), Value::Number(number)) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            if number.fract() != 0.0 {
                issue("Expected integer, received float".to_owned(), field.name);
            }
            bound(number, 1.0, maximum as f64, field.name, &mut issue);
            Some(Checked::Number(number))
        }
        (Rule::Share, Value::Number(number)) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            bound(number, 0.0, 1.0, field.name, &mut issue);
            Some(Checked::Number(number))
        }
        (rule, value) => {
            let expected = match rule {
                Rule::Text(_) | Rule::Line(_) => "string",
                Rule::Texts(..) => "array",
                Rule::Count(_) | Rule::Share => "number",
            };
            issue(format!("Expected {expected}, received {}", type_name(&value)), field.name);
            None
        }
    }
}

fn measure(text: &str, maximum: usize, path: &str, issue: &mut impl FnMut(String, &str)) -> bool {
    let length = text::utf16_len(text);
    if length == 0 {
        issue("String must contain at least 1 character(s)".to_owned(), path);
    } else if length > maximum {
        issue(format!("String must contain at most {maximum} character(s)"), path);
    }
    (1..=maximum).contains(&length)
}

fn bound(number: f64, minimum: f64, maximum: f64, path: &str, issue: &mut impl FnMut(String, &str)) {
    if number < minimum {
        issue(format!("Number must be greater than or equal to {minimum}"), path);
    } else if number > maximum {
        issue(format!("Number must be less than or equal to {maximum}"), path);
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
