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

/// Reads a golden file, with every row that `superseded.json` has of it put in place.
fn golden(file: &str) -> Value {
    let read = |file: &str| -> Value {
        let path = format!("{}/../../tests/golden/{file}", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let mut golden = read(file);
    for row in read("superseded.json")["rows"].as_array().unwrap().iter().filter(|row| row["file"] == file) {
        let names = row["case"].as_object().unwrap();
        let mut cases = golden[row["section"].as_str().unwrap()].as_array_mut().unwrap().iter_mut();
        let case = cases.find(|case| names.iter().all(|(name, value)| case[name] == *value));
        let case = case.unwrap_or_else(|| panic!("of no case: {row}"));
        for (place, ours) in row["ours"].as_object().unwrap() {
            let theirs = case.pointer_mut(place).unwrap();
            assert_ne!(theirs, ours, "differs in nothing: {row}");
            *theirs = ours.clone();
        }
    }
    golden
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn texts(value: &Value) -> Vec<&str> {
    list(value).iter().map(text).collect()
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
        let signals: Vec<&str> = found.signals.iter().map(|signal| signal.0.as_str()).collect();
        assert_eq!(signals, texts(&case["signals"]), "{query}");
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

fn memory(project: &Project, row: &Value) -> Memory {
    Memory {
        id: StoreId(1),
        memory_id: MemoryId::new(text(&row["memoryId"])).unwrap(),
        project: project.clone(),
        session_id: SessionId::new(text(&row["sessionId"])).unwrap(),
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
                Some(rows) => Ok(rows.iter().map(|row| memory(&project, row)).collect()),
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
        assert_eq!(signals, texts(&expected["signals"]), "{name}");

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
        assert_eq!(signals, texts(&expected["signals"]), "{name}");
    }
}
