//! Requests checked: values, or everything that is wrong, in the order of the fields.

use std::collections::BTreeMap;

use am_model::number;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::field::{Field, Rule};
use crate::json::{self, Input};
use crate::repair::repair;
use crate::rule;
use crate::values::Values;

/// One thing that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The field, with a position where it is an element, such as `concepts.1`; `(root)` for the whole.
    pub place: String,
    /// What is wrong, in the words of the contract's schema library.
    pub message: String,
}

impl Issue {
    pub(crate) fn new(place: &str, message: String) -> Self {
        Self { place: place.to_owned(), message }
    }
}

/// Why a document gives no values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is not JSON.
    NotJson,
    /// Its values break rules.
    Invalid(Vec<Issue>),
}

/// Reads and checks a JSON document as it came in. Keys that are no field are mistakes.
///
/// Bytes that are no UTF-8 are replaced, as [`repair`] does.
///
/// # Errors
/// It is not JSON, or something is wrong with it.
pub fn document(fields: &[Field], document: &[u8]) -> Result<Values, Refused> {
    let document = repair(document);
    let parsed = json::parse(&document).map_err(|_| Refused::NotJson)?;
    let entries = match parsed {
        Ok(entries) => entries,
        Err(type_name) => {
            let message = format!("Expected object, received {type_name}");
            return Err(Refused::Invalid(vec![Issue::new("(root)", message)]));
        }
    };
    let mut given: BTreeMap<&str, &RawValue> =
        entries.iter().map(|(key, raw)| (key.as_str(), *raw)).collect();
    let mut values = Values::default();
    let mut issues = vec![];
    for field in fields {
        let input = given.remove(field.name).map(Input::read).transpose().map_err(|_| Refused::NotJson)?;
        rule::check(*field, input, &mut values, &mut issues);
    }
    let unknown: Vec<String> = entries
        .iter()
        .filter(|(key, _)| given.contains_key(key.as_str()))
        .map(|(key, _)| format!("'{key}'"))
        .collect();
    if !unknown.is_empty() {
        let message = format!("Unrecognized key(s) in object: {}", unknown.join(", "));
        issues.push(Issue::new("(root)", message));
    }
    if issues.is_empty() { Ok(values) } else { Err(Refused::Invalid(issues)) }
}

/// Checks an object that was read already. Keys that are no field are dropped.
///
/// # Errors
/// Something is wrong with it.
pub fn object(fields: &[Field], mut given: Map<String, Value>) -> Result<Values, Vec<Issue>> {
    each(fields, |field| given.remove(field.name).map(Input::from))
}

/// Checks values that came as texts. The last of repeated names counts, other names are dropped.
///
/// # Errors
/// Something is wrong with them.
pub fn texts(
    fields: &[Field],
    pairs: impl IntoIterator<Item = (String, String)>,
) -> Result<Values, Vec<Issue>> {
    let mut given: BTreeMap<String, String> = pairs.into_iter().collect();
    each(fields, |field| {
        let text = given.remove(field.name)?;
        Some(match field.rule {
            Rule::Integer { .. } | Rule::Number { .. } => {
                Input::Number(number::parse(&text).unwrap_or(f64::NAN))
            }
            Rule::Text { .. } | Rule::Line { .. } | Rule::Texts { .. } => Input::Text(text),
        })
    })
}

fn each(
    fields: &[Field],
    mut input: impl FnMut(&Field) -> Option<Input<'static>>,
) -> Result<Values, Vec<Issue>> {
    let mut values = Values::default();
    let mut issues = vec![];
    for field in fields {
        rule::check(*field, input(field), &mut values, &mut issues);
    }
    if issues.is_empty() { Ok(values) } else { Err(issues) }
}
