//! What each field may be, and what is said of what it may not.

use am_wire::field::{self, Field, Rule};
use am_wire::request::{self, Issue, Refused};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::requests::SAVE;

const ALL: [Field; 14] = [
    field::CONTENT,
    field::CONCEPTS,
    field::NAMED_CONCEPTS,
    field::PROJECT,
    field::SAVED_SESSION,
    field::SHOWN_SESSION,
    field::LISTED_SESSION,
    field::ORIGIN,
    field::IMPORTANCE,
    field::QUERY,
    field::LIMIT,
    field::MEMORY_ID,
    field::DELETED_ID,
    field::REASON,
];

fn printed(issues: &[Issue]) -> Vec<String> {
    issues.iter().map(|issue| format!("{}: {}", issue.place, issue.message)).collect()
}

/// Returns what is wrong with an object, which has to be the same however it is read.
fn issues(fields: &[Field], given: &Value) -> Vec<String> {
    let object = given.as_object().unwrap().clone();
    let of_object = request::object(fields, object).map_or_else(|issues| printed(&issues), |_| vec![]);
    let of_document = match request::document(fields, given.to_string().as_bytes()) {
        Ok(_) => vec![],
        Err(Refused::Invalid(issues)) => printed(&issues),
        Err(Refused::NotJson) => panic!("no JSON: {given}"),
    };
    assert_eq!(of_object, of_document, "{given}");
    of_document
}

fn long(units: usize) -> String {
    "x".repeat(units)
}

#[test]
fn every_kind_of_mistake_is_named() {
    let (save, search) = (SAVE, [field::QUERY, field::LIMIT]);
    let delete = [field::DELETED_ID, field::REASON];
    let cases: [(&[Field], Value, &[&str]); 24] = [
        (&save, json!({}), &["content: Required"]),
        (&save, json!({"content": 5}), &["content: Expected string, received number"]),
        (&save, json!({"content": null}), &["content: Expected string, received null"]),
        (
            &save,
            json!({"content": " \u{feff}\u{a0}\n"}),
            &["content: String must contain at least 1 character(s)"],
        ),
        (
            &save,
            json!({"content": long(200_001)}),
            &["content: String must contain at most 200000 character(s)"],
        ),
        (&save, json!({"content": "x", "concepts": "a"}), &["concepts: Expected array, received string"]),
        (
            &save,
            json!({"content": "x", "concepts": ["a", " ", 1]}),
            &[
                "concepts.1: String must contain at least 1 character(s)",
                "concepts.2: Expected string, received number",
            ],
        ),
        (
            &save,
            json!({"content": "x", "concepts": [[], {}, true, null, long(201)]}),
            &[
                "concepts.0: Expected string, received array",
                "concepts.1: Expected string, received object",
                "concepts.2: Expected string, received boolean",
                "concepts.3: Expected string, received null",
                "concepts.4: String must contain at most 200 character(s)",
            ],
        ),
        (
            &save,
            json!({"content": "x", "concepts": vec!["c"; 65]}),
            &["concepts: Array must contain at most 64 element(s)"],
        ),
        // What lies beyond isn't looked at: an answer has bounds too.
        (
            &save,
            json!({"content": "x", "concepts": vec![json!("c"); 64].into_iter().chain(vec![json!(1); 9]).collect::<Vec<_>>()}),
            &["concepts: Array must contain at most 64 element(s)"],
        ),
        (
            &save,
            json!({"content": "x", "project": long(201), "sessionId": {}, "origin": []}),
            &[
                "project: String must contain at most 200 character(s)",
                "sessionId: Expected string, received object",
                "origin: Expected string, received array",
            ],
        ),
        (
            &save,
            json!({"content": "x", "origin": long(101)}),
            &["origin: String must contain at most 100 character(s)"],
        ),
        (
            &save,
            json!({"content": "x", "importance": -0.1}),
            &["importance: Number must be greater than or equal to 0"],
        ),
        (
            &save,
            json!({"content": "x", "importance": 1.01}),
            &["importance: Number must be less than or equal to 1"],
        ),
        (
            &save,
            json!({"content": "x", "importance": "1"}),
            &["importance: Expected number, received string"],
        ),
        (&search, json!({"query": long(10_001)}), &["query: String must contain at most 10000 character(s)"]),
        (&search, json!({"query": "q", "limit": 1.5}), &["limit: Expected integer, received float"]),
        (&search, json!({"query": "q", "limit": 101}), &["limit: Number must be less than or equal to 100"]),
        (&search, json!({"query": "q", "limit": true}), &["limit: Expected number, received boolean"]),
        (
            &search,
            json!({"query": "q", "limit": 0.5}),
            &["limit: Expected integer, received float", "limit: Number must be greater than or equal to 1"],
        ),
        (&[field::LISTED_SESSION], json!({}), &["sessionId: Required"]),
        (&delete, json!({}), &["memoryId: Required", "reason: Required"]),
        (
            &delete,
            json!({"memoryId": "m", "reason": " \n "}),
            &["reason: String must contain at least 1 character(s)"],
        ),
        (
            &delete,
            json!({"memoryId": "m", "reason": format!("a{}b", " ".repeat(1000))}),
            &["reason: String must contain at most 1000 character(s)"],
        ),
    ];
    for (fields, given, expected) in cases {
        assert_eq!(issues(fields, &given), expected, "{given}");
    }
}

#[test]
fn numbers_out_of_bounds_are_numbers_all_the_same() {
    let below = "Number must be greater than or equal to";
    let above = "Number must be less than or equal to";
    for (field, given, expected) in [
        (field::IMPORTANCE, "1e999", vec![format!("importance: {above} 1")]),
        (field::IMPORTANCE, "-1e999", vec![format!("importance: {below} 0")]),
        (field::IMPORTANCE, "1e-999", vec![]),
        (
            field::LIMIT,
            "1e999",
            vec!["limit: Expected integer, received float".to_owned(), format!("limit: {above} 100")],
        ),
        (field::LIMIT, "-5.0", vec![format!("limit: {below} 1")]),
        (field::LIMIT, "1e2", vec![]),
        (field::LIMIT, "5.0", vec![]),
    ] {
        let document = format!(r#"{{"{}":{given}}}"#, field.name);
        let wrong = match request::document(&[field], document.as_bytes()) {
            Ok(_) => vec![],
            Err(Refused::Invalid(issues)) => printed(&issues),
            Err(Refused::NotJson) => panic!("no JSON: {document}"),
        };
        assert_eq!(wrong, expected, "{document}");
    }
}

/// Returns the smallest and the largest value of a rule, and one beyond.
fn edges(rule: Rule) -> (Value, Value, Value) {
    match rule {
        Rule::Text { maximum } | Rule::Line { maximum } => {
            (json!("x"), json!(long(maximum)), json!(long(maximum + 1)))
        }
        Rule::Texts { most, maximum } => {
            (json!([]), json!(vec![long(maximum); most]), json!(vec!["x"; most + 1]))
        }
        Rule::Integer { minimum, maximum } | Rule::Number { minimum, maximum } => {
            (json!(minimum), json!(maximum), json!(maximum + 1))
        }
    }
}

#[test]
fn every_field_takes_what_its_schema_allows_and_nothing_beyond() {
    for field in ALL {
        let (least, most, beyond) = edges(field.rule);
        for allowed in [least, most] {
            assert_eq!(issues(&[field], &json!({ field.name: allowed })), [""; 0], "{field:?}");
        }
        assert_eq!(issues(&[field], &json!({ field.name: beyond })).len(), 1, "{field:?}");
        assert_eq!(issues(&[field], &json!({ field.name: {} })).len(), 1, "{field:?}");
        assert_eq!(issues(&[field], &json!({})).len(), usize::from(field.required), "{field:?}");
        assert!(field.about.ends_with('.'), "{field:?}");
    }
}

#[test]
fn every_rule_has_its_schema() {
    for (rule, schema) in [
        (Rule::Text { maximum: 9 }, json!({"type": "string", "minLength": 1, "maxLength": 9})),
        (Rule::Line { maximum: 9 }, json!({"type": "string", "minLength": 1, "maxLength": 9})),
        (
            Rule::Texts { most: 3, maximum: 9 },
            json!({"type": "array", "maxItems": 3, "items": {"type": "string", "minLength": 1, "maxLength": 9}}),
        ),
        (Rule::Integer { minimum: 1, maximum: 9 }, json!({"type": "integer", "minimum": 1, "maximum": 9})),
        (Rule::Number { minimum: 0, maximum: 1 }, json!({"type": "number", "minimum": 0, "maximum": 1})),
    ] {
        assert_eq!(rule.schema(), schema);
    }
}

/// JSON of one value that every reader takes, arrays one level deep.
fn any_json() -> impl Strategy<Value = String> {
    let scalar = r#"null|true|-?[1-9][0-9]{0,25}|-?0\.[0-9]{1,20}|"[ a-zé]{0,3}"|\{\}|\[\]"#;
    let scalar = || proptest::string::string_regex(scalar).unwrap();
    let array = prop::collection::vec(scalar(), 0..4).prop_map(|values| format!("[{}]", values.join(",")));
    prop_oneof![scalar(), array]
}

proptest! {
    #[test]
    fn a_value_is_judged_alike_however_it_was_read(position in 0..ALL.len(), json in any_json()) {
        let field = *ALL.get(position).unwrap();
        let document = format!(r#"{{"{}":{json}}}"#, field.name);
        let from_document = request::document(&[field], document.as_bytes());
        let from_object = request::object(&[field], serde_json::from_str(&document).unwrap());
        prop_assert_eq!(from_object.map_err(Refused::Invalid), from_document);
    }
}
