//! The rules applied: values, or every message about what is wrong, in the order of the fields.

use std::collections::BTreeMap;

use am_model::{number, text};
use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::field::{Field, Rule};
use crate::json::{self, Input};
use crate::path;

/// A value that keeps its rule.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Text(String),
    Texts(Vec<String>),
    Number(f64),
}

/// The values of a request, by the name of their field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Values(BTreeMap<&'static str, Value>);

impl Values {
    pub(crate) fn text(&mut self, field: Field) -> Option<String> {
        match self.0.remove(field.name)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Takes the strings of a field, none where it was left out.
    pub(crate) fn texts(&mut self, field: Field) -> Vec<String> {
        match self.0.remove(field.name) {
            Some(Value::Texts(texts)) => texts,
            _ => vec![],
        }
    }

    pub(crate) fn number(&mut self, field: Field) -> Option<f64> {
        match self.0.remove(field.name)? {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }
}

/// What is wrong, as messages with their places.
#[derive(Default)]
struct Issues(Vec<String>);

impl Issues {
    fn add(&mut self, place: &str, message: &str) {
        self.0.push(format!("{place}: {message}"));
    }

    fn expected(&mut self, place: &str, expected: &str, input: &Input<'_>) {
        self.add(place, &format!("Expected {expected}, received {}", input.type_name()));
    }

    fn into_result(self, values: Values) -> Result<Values, Failure> {
        if self.0.is_empty() { Ok(values) } else { Err(Failure::InvalidRequest(self.0.join("; "))) }
    }
}

/// Checks a body against its fields. Keys that are no field are mistakes.
pub(crate) fn body(fields: &[Field], document: &str) -> Result<Values, Failure> {
    if document.is_empty() {
        return Err(Failure::InvalidJson("empty body"));
    }
    let Ok(parsed) = json::parse(document) else {
        return Err(Failure::InvalidJson("body is not valid JSON"));
    };
    let mut issues = Issues::default();
    let entries = match parsed {
        Ok(entries) => entries,
        Err(type_name) => {
            issues.add("(root)", &format!("Expected object, received {type_name}"));
            return issues.into_result(Values::default());
        }
    };
    let mut given: BTreeMap<&str, &RawValue> =
        entries.iter().map(|(key, raw)| (key.as_str(), *raw)).collect();
    let mut values = Values::default();
    for field in fields {
        match given.remove(field.name).map(Input::read).transpose() {
            Ok(input) => check(*field, input, &mut values, &mut issues),
            Err(_) => return Err(Failure::InvalidJson("body is not valid JSON")),
        }
    }
    let unknown: Vec<String> = entries
        .iter()
        .filter(|(key, _)| given.contains_key(key.as_str()))
        .map(|(key, _)| format!("'{key}'"))
        .collect();
    if !unknown.is_empty() {
        issues.add("(root)", &format!("Unrecognized key(s) in object: {}", unknown.join(", ")));
    }
    issues.into_result(values)
}

/// Checks a query string against its fields: the last of repeated keys counts, other keys are no mistake.
pub(crate) fn query(fields: &[Field], query: &str) -> Result<Values, Failure> {
    let given: BTreeMap<String, String> = path::query_pairs(query).collect();
    let mut values = Values::default();
    let mut issues = Issues::default();
    for field in fields {
        let input = given.get(field.name).map(|value| match field.rule {
            Rule::Integer { .. } | Rule::Number { .. } => {
                Input::Number(number::parse(value).unwrap_or(f64::NAN))
            }
            Rule::Text { .. } | Rule::Line { .. } | Rule::Texts { .. } => Input::Text(value.clone()),
        });
        check(*field, input, &mut values, &mut issues);
    }
    issues.into_result(values)
}

fn check(field: Field, input: Option<Input<'_>>, values: &mut Values, issues: &mut Issues) {
    let name = field.name;
    let Some(input) = input else {
        if field.required {
            issues.add(name, "Required");
        }
        return;
    };
    let value = match field.rule {
        Rule::Text { maximum } => trimmed(name, input, maximum, issues).map(Value::Text),
        Rule::Line { maximum } => line(name, input, maximum, issues).map(Value::Text),
        Rule::Texts { most, maximum } => texts(name, input, most, maximum, issues).map(Value::Texts),
        Rule::Integer { minimum, maximum } => {
            number_between(name, &input, minimum, maximum, true, issues).map(Value::Number)
        }
        Rule::Number { minimum, maximum } => {
            number_between(name, &input, minimum, maximum, false, issues).map(Value::Number)
        }
    };
    if let Some(value) = value {
        values.0.insert(name, value);
    }
}

fn trimmed(place: &str, input: Input<'_>, maximum: usize, issues: &mut Issues) -> Option<String> {
    let Input::Text(given) = input else {
        issues.expected(place, "string", &input);
        return None;
    };
    let trimmed = text::trim(&given);
    if !has_length(place, trimmed, maximum, issues) {
        return None;
    }
    Some(if trimmed.len() == given.len() { given } else { trimmed.to_owned() })
}

fn line(place: &str, input: Input<'_>, maximum: usize, issues: &mut Issues) -> Option<String> {
    let Input::Text(given) = input else {
        issues.expected(place, "string", &input);
        return None;
    };
    if !has_length(place, &given, maximum, issues) {
        return None;
    }
    let collapsed = text::collapse_white_space(&given);
    has_length(place, &collapsed, maximum, issues).then_some(collapsed)
}

/// Reads strings. Of a list that is too long, what lies beyond is not looked at.
fn texts(
    place: &str,
    input: Input<'_>,
    most: usize,
    maximum: usize,
    issues: &mut Issues,
) -> Option<Vec<String>> {
    let Input::Array(elements) = input else {
        issues.expected(place, "array", &input);
        return None;
    };
    if elements.len() > most {
        issues.add(place, &format!("Array must contain at most {most} element(s)"));
    }
    let mut texts = Vec::with_capacity(elements.len().min(most));
    for (position, element) in elements.into_iter().take(most).enumerate() {
        let place = format!("{place}.{position}");
        match Input::read(element) {
            Ok(input) => texts.extend(trimmed(&place, input, maximum, issues)),
            Err(error) => issues.add(&place, &error.to_string()),
        }
    }
    Some(texts)
}

fn has_length(place: &str, text: &str, maximum: usize, issues: &mut Issues) -> bool {
    if text.is_empty() {
        issues.add(place, "String must contain at least 1 character(s)");
        return false;
    }
    if text::utf16_len(text) > maximum {
        issues.add(place, &format!("String must contain at most {maximum} character(s)"));
        return false;
    }
    true
}

fn number_between(
    place: &str,
    input: &Input<'_>,
    minimum: u32,
    maximum: u32,
    whole: bool,
    issues: &mut Issues,
) -> Option<f64> {
    let number = match input {
        Input::Number(number) if !number.is_nan() => *number,
        _ => {
            issues.expected(place, "number", input);
            return None;
        }
    };
    let before = issues.0.len();
    if whole && !(number.is_finite() && number.fract() == 0.0) {
        issues.add(place, "Expected integer, received float");
    }
    if number < f64::from(minimum) {
        issues.add(place, &format!("Number must be greater than or equal to {minimum}"));
    }
    if number > f64::from(maximum) {
        issues.add(place, &format!("Number must be less than or equal to {maximum}"));
    }
    (issues.0.len() == before).then_some(number)
}
