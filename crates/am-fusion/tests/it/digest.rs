//! Recap and handoff texts.

use am_fusion::{digest, signal};
use am_model::{
    Counts, Importance, Instant, Memory, MemoryId, MemoryKind, Origin, Project, SessionId, StoreId,
};
use serde_json::{Value, json};

use crate::support::{golden, list, strings};

fn memory(row: &Value, project: &Project) -> Memory {
    let text = |key: &str| row[key].as_str().unwrap();
    let origin = Origin::from_stored(text("origin"));
    Memory {
        id: StoreId(0),
        memory_id: MemoryId::from_stored(text("memoryId")),
        project: project.clone(),
        session_id: SessionId::from_stored(text("sessionId")),
        kind: MemoryKind::of(&origin, text("content")),
        content: text("content").to_owned(),
        origin,
        importance: Importance::from_stored(row["importance"].as_f64().unwrap()),
        created_at: Instant::parse(text("createdAt")).unwrap(),
        version: 1,
        concepts: Vec::new(),
    }
}

/// Names a failed read as callers do, which have its class and words from the store.
fn failed(what: &str, failure: &str) -> String {
    let failure = format!("the store can't be reached: {failure}");
    let note = signal::failure_note("Unavailable", &failure, signal::MESSAGE_MAX);
    signal::failed(what, &note).to_string()
}

#[test]
fn golden_digests() {
    for case in list(&golden("digest.json"), "cases", 5) {
        let input = &case["input"];
        let project = input["project"].as_str().map_or_else(Project::unnamed, Project::from_stored);
        let mut signals = Vec::new();
        let sessions = match (&input["sessionId"], &case["sessions"]) {
            (Value::String(session), _) => vec![session.clone()],
            (_, Value::String(failure)) => {
                signals.push(failed("sessions", failure));
                vec![]
            }
            (_, sessions) => strings(sessions),
        };
        let mut shown: Vec<Memory> = Vec::new();
        for session in sessions {
            match &case["memories"][&session] {
                Value::String(failure) => {
                    signals.push(failed(&format!("memories({session})"), failure));
                }
                rows => {
                    shown.extend(rows.as_array().unwrap().iter().map(|row| memory(row, &project)));
                }
            }
        }
        let recap = digest::recap_text(&shown);
        let handoff = digest::handoff_text(&project, Counts { memories: 12, sessions: 3 }, &recap);
        let session = &input["sessionId"];
        assert_eq!(
            json!({"recap": recap, "sessionId": session, "count": shown.len(), "signals": signals}),
            case["recap"]
        );
        let counts = json!({"memories": 12, "sessions": 3});
        assert_eq!(
            json!({"handoff": handoff, "sessionId": session, "counts": counts, "signals": signals}),
            case["handoff"]
        );
    }
}
