//! Golden data of whole verbs on the contract profile.

use std::sync::Arc;

use am_embed::analysis::Profile;
use am_model::{
    Counts, Importance, Instant, Memory, MemoryId, MemoryKind, Origin, Project, SearchHit, Session,
    SessionId, StoreId,
};
use am_service::{Digest, Search, Settings, SmartSearch};
use am_store::StoreError;
use serde_json::Value;

use crate::double::Double;
use crate::support::{Fixture, Kind, project};

/// Rows of `search_scores.json` that this product differs from on purpose: query, and what it says instead.
const SUPERSEDED_SIGNALS: [(&str, &str); 1] = [(
    "vector: $failure",
    "a query without a token has nothing to embed: the vector arm is left out silently",
)];

fn golden(name: &str) -> Value {
    let path = format!("{}/../../tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn assert_close(found: f64, expected: &Value, what: &str) {
    let expected = expected.as_f64().unwrap();
    assert!((found - expected).abs() <= 1e-5, "{what}: {found} is not {expected}");
}

#[tokio::test]
async fn searches_rank_and_score_as_recorded_in_memory() {
    searches_rank_and_score_as_recorded(Kind::Memory).await;
}

#[tokio::test]
async fn searches_rank_and_score_as_recorded_on_disk() {
    searches_rank_and_score_as_recorded(Kind::Sqlite).await;
}

async fn searches_rank_and_score_as_recorded(kind: Kind) {
    let golden = golden("search_scores.json");
    let fixture = Fixture::new(kind, Profile::Contract).await;
    let mut docs = vec![];
    for doc in list(&golden["docs"]) {
        docs.push(fixture.save("seed", text(doc)).await.memory_id);
    }
    let doc_of = |hit: &SearchHit| docs.iter().position(|id| *id == hit.memory.memory_id).unwrap();

    for case in list(&golden["queries"]) {
        let query = text(&case["query"]);
        let search = Search { query: query.to_owned(), project: project(), limit: 20 };
        let found = fixture.service.search(search).await;
        assert_eq!(found.signals, [], "{query}");
        assert_eq!(found.hits.len(), list(&case["text"]).len(), "{query}");
        for (hit, expected) in found.hits.iter().zip(list(&case["text"])) {
            assert_eq!(doc_of(hit) as u64, expected["doc"].as_u64().unwrap(), "{query}");
            assert_close(hit.score, &expected["score"], query);
        }

        let concepts = vec![];
        let search = SmartSearch { query: query.to_owned(), concepts, project: project(), limit: 20 };
        let found = fixture.service.smart_search(search).await;
        let expected_signals: Vec<&str> = list(&case["signals"])
            .iter()
            .map(text)
            .filter(|signal| SUPERSEDED_SIGNALS.iter().all(|(superseded, _)| superseded != signal))
            .collect();
        let signals: Vec<&str> = found.signals.iter().map(|signal| signal.0.as_str()).collect();
        assert_eq!(signals, expected_signals, "{query}");
        let order: Vec<usize> = found.hits.iter().map(doc_of).collect();
        let expected_order: Vec<usize> =
            list(&case["fused"]).iter().map(|row| row["doc"].as_u64().unwrap() as usize).collect();
        assert_eq!(order, expected_order, "{query}");
        for (hit, expected) in found.hits.iter().zip(list(&case["fused"])) {
            assert_close(hit.score, &expected["score"], query);
            assert_eq!(hit.source.as_str(), text(&expected["source"]), "{query}");
            assert_eq!(hit.distance.is_some(), expected.get("distance").is_some(), "{query}");
            if let Some(distance) = hit.distance {
                assert_close(distance, &expected["distance"], query);
            }
        }
    }
}

fn failure(message: &Value) -> StoreError {
    StoreError::Unavailable { detail: text(message).to_owned() }
}

/// Our failures bear other names and texts than the `Error` of the recording.
fn our_signals(signals: &Value) -> Vec<String> {
    let ours = |signal: &Value| text(signal).replace("Error: ", "Unavailable: the store can't be reached: ");
    list(signals).iter().map(ours).collect()
}

fn memory(project: &Project, session_id: &str, row: &Value) -> Memory {
    Memory {
        id: StoreId(1),
        memory_id: MemoryId::new(text(&row["memoryId"])).unwrap(),
        project: project.clone(),
        // The recording's stub gives rows of a session `s` for whatever session is asked for; a store can't.
        session_id: SessionId::new(session_id).unwrap(),
        kind: MemoryKind::Note,
        content: text(&row["content"]).to_owned(),
        origin: Origin::new(text(&row["origin"])).unwrap(),
        importance: Importance::new(row["importance"].as_f64().unwrap()).unwrap(),
        created_at: Instant::parse(text(&row["createdAt"])).unwrap(),
        version: 1,
        concepts: vec![],
    }
}

#[tokio::test]
async fn digests_read_and_say_what_was_recorded() {
    for case in list(&golden("digest.json")["cases"]) {
        let name = text(&case["name"]);
        let input = &case["input"];
        let project =
            input.get("project").map_or_else(Project::unnamed, |name| Project::new(text(name)).unwrap());
        let mut double = Double::new(Profile::Contract);
        double.counts = Some(Ok(Counts { memories: 12, sessions: 3 }));
        double.sessions = Some(match case["sessions"].as_array() {
            None => Err(failure(&case["sessions"])),
            Some(sessions) => Ok(sessions
                .iter()
                .map(|id| Session {
                    id: StoreId(1),
                    project: project.clone(),
                    session_id: SessionId::new(text(id)).unwrap(),
                    started_at: Instant::default(),
                    updated_at: Instant::default(),
                })
                .collect()),
        });
        for (session, rows) in case["memories"].as_object().unwrap() {
            let answer = match rows.as_array() {
                None => Err(failure(rows)),
                Some(rows) => Ok(rows.iter().map(|row| memory(&project, session, row)).collect()),
            };
            double.memories.insert(session.clone(), answer);
        }
        let double = Arc::new(double);
        let fixture = Fixture::over(double.clone(), Settings::default()).await;
        let digest = Digest {
            project: project.clone(),
            session_id: input.get("sessionId").map(|id| SessionId::new(text(id)).unwrap()),
            limit: input.get("limit").map_or(10, |limit| limit.as_u64().unwrap() as usize),
        };

        let recap = fixture.service.recap(digest.clone()).await;
        let reads: Vec<String> = list(&case["storeCalls"])
            .iter()
            .map(|call| {
                let arguments = &call[1];
                let session = arguments.get("sessionId").map_or(String::new(), |id| format!(" {}", text(id)));
                format!("{} {}{session} {}", text(&call[0]), text(&arguments["project"]), arguments["limit"])
            })
            .collect();
        assert_eq!(*double.reads.lock().unwrap(), reads, "{name}");
        let expected = &case["recap"];
        assert_eq!(recap.text, text(&expected["recap"]), "{name}");
        assert_eq!(recap.count as u64, expected["count"].as_u64().unwrap(), "{name}");
        assert_eq!(
            recap.session_id.as_ref().map(SessionId::as_str),
            expected["sessionId"].as_str(),
            "{name}"
        );
        let signals: Vec<String> = recap.signals.into_iter().map(|signal| signal.0).collect();
        assert_eq!(signals, our_signals(&expected["signals"]), "{name}");

        let handoff = fixture.service.handoff(digest).await;
        let expected = &case["handoff"];
        assert_eq!(handoff.text, text(&expected["handoff"]), "{name}");
        assert_eq!(handoff.counts, Counts { memories: 12, sessions: 3 }, "{name}");
        assert_eq!(
            handoff.session_id.as_ref().map(SessionId::as_str),
            expected["sessionId"].as_str(),
            "{name}"
        );
        let signals: Vec<String> = handoff.signals.into_iter().map(|signal| signal.0).collect();
        assert_eq!(signals, our_signals(&expected["signals"]), "{name}");
    }
}
