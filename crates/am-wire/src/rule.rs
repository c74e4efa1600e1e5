//! The rules applied to one value.

use am_model::text;

use crate::field::{Field, Rule};
use crate::json::Input;
use crate::request::Issue;
use crate::values::{Value, Values};

/// Checks what was given for a field: adds a value, or what is wrong.
pub(crate) fn check(field: Field, input: Option<Input<'_>>, values: &mut Values, issues: &mut Vec<Issue>) {
    let name = field.name;
    let Some(input) = input else {
        if field.required {
            issues.push(Issue::new(name, "Required".to_owned()));
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
        values.insert(field, value);
    }
}

fn mistyped(place: &str, expected: &str, input: &Input<'_>, issues: &mut Vec<Issue>) {
    issues.push(Issue::new(place, format!("Expected {expected}, received {}", input.type_name())));
}

fn trimmed(place: &str, input: Input<'_>, maximum: usize, issues: &mut Vec<Issue>) -> Option<String> {
    let Input::Text(given) = input else {
        mistyped(place, "string", &input, issues);
        return None;
    };
    let trimmed = text::trim(&given);
    if !has_length(place, trimmed, maximum, issues) {
        return None;
    }
    Some(if trimmed.len() == given.len() { given } else { trimmed.to_owned() })
}

fn line(place: &str, input: Input<'_>, maximum: usize, issues: &mut Vec<Issue>) -> Option<String> {
    let Input::Text(given) = input else {
        mistyped(place, "string", &input, issues);
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
    issues: &mut Vec<Issue>,
) -> Option<Vec<String>> {
    let Input::Array(elements) = input else {
        mistyped(place, "array", &input, issues);
        return None;
    };
    if elements.len() > most {
        issues.push(Issue::new(place, format!("Array must contain at most {most} element(s)")));
    }
    let mut texts = Vec::with_capacity(elements.len().min(most));
    for (position, element) in elements.read(most).into_iter().enumerate() {
        let place = format!("{place}.{position}");
        match element {
            Ok(input) => texts.extend(trimmed(&place, input, maximum, issues)),
            Err(error) => issues.push(Issue::new(&place, error.to_string())),
        }
    }
    Some(texts)
}

fn has_length(place: &str, text: &str, maximum: usize, issues: &mut Vec<Issue>) -> bool {
    if text.is_empty() {
        issues.push(Issue::new(place, "String must contain at least 1 character(s)".to_owned()));
        return false;
    }
    if text::utf16_len(text) > maximum {
        issues.push(Issue::new(place, format!("String must contain at most {maximum} character(s)")));
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
    issues: &mut Vec<Issue>,
) -> Option<f64> {
    let number = match input {
        Input::Number(number) if !number.is_nan() => *number,
        _ => {
            mistyped(place, "number", input, issues);
            return None;
        }
    };
    let before = issues.len();
    if whole && !(number.is_finite() && number.fract() == 0.0) {
        issues.push(Issue::new(place, "Expected integer, received float".to_owned()));
    }
    if number < f64::from(minimum) {
        issues.push(Issue::new(place, format!("Number must be greater than or equal to {minimum}")));
    }
    if number > f64::from(maximum) {
        issues.push(Issue::new(place, format!("Number must be less than or equal to {maximum}")));
    }
    (issues.len() == before).then_some(number)
}
