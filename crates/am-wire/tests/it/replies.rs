//! The bodies of replies: keys in the order of the contract, numbers as ECMAScript writes them.

use am_model::{
    Concept, Importance, Instant, Memory, MemoryId, MemoryKind, Origin, Project, SearchHit, Session,
    SessionId, Signal, Source, StoreId,
};
use am_service::{Handoff, Mode, Recap, Receipt, Remembered, SearchResults};
use am_wire::{Number, reply};
use serde::Serialize;

fn json(body: &impl Serialize) -> String {
    serde_json::to_string(body).unwrap()
}

fn memory(importance: f64) -> Memory {
    Memory {
        id: StoreId(7),
        memory_id: MemoryId::from_stored("m"),
        project: Project::from_stored("p"),
        session_id: SessionId::from_stored("s"),
        kind: MemoryKind::Note,
        content: "a \"text\"".to_owned(),
        origin: Origin::from_stored("rest"),
        importance: Importance::from_stored(importance),
        created_at: Instant::from_millis(0),
        version: 1,
        concepts: vec![Concept::from_stored("not shown")],
    }
}

const ROW: &str = r#""id":"7","memoryId":"m","content":"a \"text\"","sessionId":"s","origin":"rest","importance":1,"createdAt":"1970-01-01T00:00:00.000Z""#;

fn counts() -> am_model::Counts {
    am_model::Counts { memories: 3, sessions: 2 }
}

#[test]
fn what_was_found_has_signals_of_its_own_in_hybrid_searches_only() {
    let found = |mode| SearchResults {
        mode,
        hits: vec![
            SearchHit { memory: memory(1.0), score: 2.0, distance: None, source: Source::Text },
            SearchHit { memory: memory(1.0), score: 0.5, distance: Some(0.0), source: Source::Vector },
        ],
        signals: vec![Signal("text: gone".to_owned())],
    };
    let body = |mode: &str, signals: &str| {
        format!(
            r#"{{"mode":"{mode}","results":[{{{ROW},"score":2,"source":"text"{signals}}},{{{ROW},"score":0.5,"distance":0,"source":"vector"{signals}}}],"signals":["text: gone"]}}"#
        )
    };
    assert_eq!(json(&reply::Found::from(&found(Mode::Bm25))), body("bm25", ""));
    assert_eq!(json(&reply::Found::from(&found(Mode::Vector))), body("vector", ""));
    let shared = r#","signals":["text: gone"]"#;
    assert_eq!(json(&reply::Found::from(&found(Mode::Hybrid))), body("hybrid", shared));
}

#[test]
fn every_other_body_has_its_keys_in_order() {
    let saved = Remembered {
        memory_id: MemoryId::from_stored("m"),
        session_id: SessionId::from_stored("s"),
        project: Project::from_stored("p"),
        concepts: vec![Concept::from_stored("c")],
        deduped: true,
        consolidated: false,
    };
    let session = Session {
        id: StoreId(1),
        project: Project::from_stored("p"),
        session_id: SessionId::from_stored("s"),
        started_at: Instant::from_millis(0),
        updated_at: Instant::from_millis(1),
    };
    let receipt = Receipt { memory_id: MemoryId::from_stored("m"), deleted_at: Instant::from_millis(0) };
    let recap = Recap { text: "- x".to_owned(), session_id: None, count: 1, signals: vec![] };
    let handoff = Handoff {
        text: "- x".to_owned(),
        session_id: Some(SessionId::from_stored("s")),
        counts: counts(),
        signals: vec![Signal("a".to_owned())],
    };
    for (body, expected) in [
        (json(&reply::Alive { status: "ok" }), r#"{"status":"ok"}"#.to_owned()),
        (
            json(&reply::Health::from(counts())),
            r#"{"status":"ok","counts":{"memories":3,"sessions":2}}"#.to_owned(),
        ),
        (
            json(&reply::Saved::from(&saved)),
            r#"{"id":"m","sessionId":"s","project":"p","concepts":["c"],"deduped":true,"consolidated":false}"#
                .to_owned(),
        ),
        (
            json(&reply::Sessions::from([session].as_slice())),
            r#"{"sessions":[{"sessionId":"s","project":"p","startedAt":"1970-01-01T00:00:00.000Z","updatedAt":"1970-01-01T00:00:00.001Z"}]}"#
                .to_owned(),
        ),
        (
            json(&reply::SessionMemories::from([memory(1.0)].as_slice())),
            format!(r#"{{"memories":[{{{ROW}}}]}}"#),
        ),
        (json(&reply::Forgotten { forgotten: true }), r#"{"forgotten":true}"#.to_owned()),
        (
            json(&reply::Deleted::from(&receipt)),
            r#"{"deleted":true,"receipt":{"memoryId":"m","deletedAt":"1970-01-01T00:00:00.000Z"}}"#.to_owned(),
        ),
        (
            json(&reply::RecapText::from(&recap)),
            r#"{"recap":"- x","sessionId":null,"count":1,"signals":[]}"#.to_owned(),
        ),
        (
            json(&reply::HandoffText::from(&handoff)),
            r#"{"handoff":"- x","sessionId":"s","counts":{"memories":3,"sessions":2},"signals":["a"]}"#
                .to_owned(),
        ),
        (
            json(&reply::Error { error: "not_found", details: None }),
            r#"{"error":"not_found"}"#.to_owned(),
        ),
        (
            json(&reply::Error { error: "invalid_request", details: Some("why") }),
            r#"{"error":"invalid_request","details":"why"}"#.to_owned(),
        ),
    ] {
        assert_eq!(body, expected);
    }
}

#[test]
fn numbers_are_written_as_ecmascript_writes_them() {
    for (number, written) in [
        (1.0, "1"),
        (0.7, "0.7"),
        (1e-7, "1e-7"),
        (0.00001, "0.00001"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (0.1 + 0.2, "0.30000000000000004"),
        (f64::NAN, "null"),
        (f64::INFINITY, "null"),
    ] {
        assert_eq!(json(&Number(number)), written);
    }
}
