//! Requests read, and what verbs are asked for.

use am_model::{Channel, Project};
use am_wire::Values;
use am_wire::field::{self, Field};
use am_wire::request::{self, Issue, Refused};
use serde_json::json;

pub(crate) const SAVE: [Field; 6] =
    [field::CONTENT, field::CONCEPTS, field::PROJECT, field::SAVED_SESSION, field::ORIGIN, field::IMPORTANCE];
const SEARCH: [Field; 4] = [field::QUERY, field::NAMED_CONCEPTS, field::PROJECT, field::LIMIT];
const DELETE: [Field; 2] = [field::DELETED_ID, field::REASON];

fn values(fields: &[Field], document: impl AsRef<[u8]>) -> Values {
    request::document(fields, document.as_ref()).unwrap()
}

fn issue(place: &str, message: &str) -> Issue {
    Issue { place: place.to_owned(), message: message.to_owned() }
}

#[test]
fn a_document_has_to_be_an_object_of_known_keys() {
    for (document, refused) in [
        ("", Refused::NotJson),
        ("{", Refused::NotJson),
        ("{} {}", Refused::NotJson),
        ("\u{feff}{}", Refused::NotJson),
        ("[]", Refused::Invalid(vec![issue("(root)", "Expected object, received array")])),
        ("null", Refused::Invalid(vec![issue("(root)", "Expected object, received null")])),
        (r#""{}""#, Refused::Invalid(vec![issue("(root)", "Expected object, received string")])),
        (
            r#"{"b":1,"a":2,"1":3}"#,
            Refused::Invalid(vec![
                issue("content", "Required"),
                issue("(root)", "Unrecognized key(s) in object: '1', 'b', 'a'"),
            ]),
        ),
    ] {
        assert_eq!(request::document(&SAVE, document.as_bytes()), Err(refused), "{document}");
    }
}

#[test]
fn an_object_that_was_read_already_may_have_other_keys() {
    let given = json!({"query": "q", "origin": 5});
    let values = request::object(&SEARCH, given.as_object().unwrap().clone()).unwrap();
    assert_eq!(values.search().unwrap().query, "q");
}

#[test]
fn texts_are_read_by_the_rule_of_their_field() {
    let pairs = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        request::texts(&[field::PROJECT, field::LIMIT], pairs.collect::<Vec<_>>())
    };
    let mut values =
        pairs(&[("limit", "3"), ("project", " p "), ("limit", " 0x10 "), ("other", "")]).unwrap();
    assert_eq!((values.limit(), values.project().as_str()), (16, "p"));
    for (limit, message) in [
        ("x", "Expected number, received nan"),
        ("", "Number must be greater than or equal to 1"),
        ("1.5", "Expected integer, received float"),
    ] {
        assert_eq!(pairs(&[("limit", limit)]), Err(vec![issue("limit", message)]), "{limit:?}");
    }
    let empty = issue("project", "String must contain at least 1 character(s)");
    assert_eq!(pairs(&[("project", "")]), Err(vec![empty]));
}

#[test]
fn bytes_that_are_no_text_and_half_pairs_are_replaced() {
    let document = b"{\"content\":\"caf\xff \\ud83d|\\ud83d\\ude00\",\"sessionId\":\"\\ude00\"}";
    let request = values(&SAVE, document).remember(Channel::Rest).unwrap();
    assert_eq!(request.content, "caf\u{fffd} \u{fffd}|\u{1f600}");
    assert_eq!(request.session_id.unwrap().as_str(), "\u{fffd}");
}

#[test]
fn what_was_left_out_has_the_default_of_the_contract() {
    for channel in [Channel::Rest, Channel::Mcp] {
        let request = values(&SAVE, r#"{"content":"x"}"#).remember(channel).unwrap();
        assert_eq!(request.origin.as_str(), channel.as_str());
        assert_eq!((request.project, request.session_id), (Project::unnamed(), None));
        assert_eq!((request.concepts, request.importance, request.event), (vec![], None, None));
    }
    let search = values(&SEARCH, r#"{"query":"q"}"#).smart_search().unwrap();
    assert_eq!((search.limit, search.project, search.concepts), (10, Project::unnamed(), vec![]));
    let digest = values(&[field::PROJECT, field::SHOWN_SESSION, field::LIMIT], "{}").digest();
    assert_eq!((digest.limit, digest.project, digest.session_id), (10, Project::unnamed(), None));
}

#[test]
fn what_was_given_is_trimmed_and_kept() {
    let save = r#"{"content":" a \n b ","concepts":[" A ","A"],"project":" p","sessionId":"s ","origin":"o","importance":1e0}"#;
    let request = values(&SAVE, save).remember(Channel::Rest).unwrap();
    assert_eq!(request.content, "a \n b");
    assert_eq!(request.concepts.iter().map(AsRef::as_ref).collect::<Vec<_>>(), ["A", "A"]);
    assert_eq!((request.project.as_str(), request.session_id.unwrap().as_str()), ("p", "s"));
    assert_eq!((request.origin.as_str(), request.importance.unwrap().get()), ("o", 1.0));
    let search = values(&SEARCH, r#"{"query":"\tq ","concepts":["c"],"limit":7}"#).smart_search().unwrap();
    assert_eq!((search.query.as_str(), search.concepts.len(), search.limit), ("q", 1, 7));
    // Lines are collapsed and not trimmed first: what is measured is what came.
    let mut delete = values(&DELETE, r#"{"memoryId":"m\n 1","reason":"old  and\twrong"}"#);
    assert_eq!(delete.memory_id().unwrap().as_str(), "m 1");
    assert_eq!(delete.required(field::REASON).unwrap(), "old and wrong");
}

#[test]
fn a_verb_that_reads_what_was_not_checked_is_told() {
    let missing = values(&[field::PROJECT], "{}").search().unwrap_err();
    assert_eq!(missing.to_string(), "a verb reads query, which is not among its fields");
}
