//! Session summaries.

use am_fusion::summary::{SummaryMemory, summarise_session};
use am_model::{Project, SessionId};
use serde_json::{Value, json};

use crate::support::{concepts, golden, list};

fn memories(case: &Value) -> Vec<SummaryMemory> {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    case["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| SummaryMemory {
            content: text(row, "content"),
            origin: text(row, "origin"),
            importance: row["importance"].as_f64().unwrap(),
            created_at: text(row, "createdAt"),
        })
        .collect()
}

#[test]
fn golden_summaries() {
    let golden = golden("session_summary.json");
    let session = SessionId::from_stored(golden["sessionId"].as_str().unwrap());
    let project = Project::from_stored(golden["project"].as_str().unwrap());
    for case in list(&golden, "cases", 8) {
        let memories = memories(&case);
        let result = summarise_session(&session, &project, &memories, concepts);
        let actual = json!({
            "summary": result.summary,
            "lessons": result.lessons,
            "topConcepts": result.top_concepts,
            "count": result.count,
        });
        assert_eq!(actual, case["result"], "{}", case["name"]);
        for (lesson, pick) in result.lessons.iter().zip(&result.picks) {
            let start: String =
                memories[*pick].content.split_whitespace().next().unwrap().chars().take(200).collect();
            assert!(lesson.starts_with(&format!("lesson: {start}")), "{lesson}");
        }
    }
}

/// The contract cuts excerpts by UTF-16 unit; ours end between characters.
#[test]
fn an_excerpt_ends_between_characters() {
    let memory = SummaryMemory {
        content: format!("{}{}", "x".repeat(236), "\u{1f680}".repeat(10)),
        origin: "rest".to_owned(),
        importance: 0.5,
        created_at: String::new(),
    };
    let session = SessionId::from_stored("s");
    let result = summarise_session(&session, &Project::unnamed(), &[memory], |_| Vec::new());
    assert_eq!(result.lessons, [format!("lesson: {}...", "x".repeat(236))]);
}
