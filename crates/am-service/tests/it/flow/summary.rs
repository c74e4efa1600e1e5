//! Summaries: what they say, and that they go with what they quote.

use am_embed::analysis::Profile;
use am_model::{MemoryKind, Origin};
use am_service::Remember;

use super::KIND;
use crate::support::{Fixture, caller, request, session};

#[tokio::test]
async fn saves_a_summary_and_its_lessons_in_the_session() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let sources = fixture.seed().await;
    let dry = fixture.summarize(true).await;
    assert_eq!((dry.memories, dry.saved.len()), (3, 0));
    assert_eq!(fixture.memories().await.len(), 3);

    let summary = fixture.summarize(false).await;
    assert_eq!((&summary.text, &summary.lessons), (&dry.text, &dry.lessons));
    assert!(summary.text.starts_with("session s (project p): 3 memories, rest=3, "));
    assert_eq!((summary.lessons.len(), summary.saved.len()), (3, 4));
    let rows = fixture.memories().await;
    let row = |id| rows.iter().find(|row| row.memory.memory_id == id).unwrap();
    let saved = row(summary.saved[0].clone());
    assert_eq!(saved.memory.kind, MemoryKind::Summary);
    assert_eq!(saved.memory.content, summary.text);
    assert_eq!(saved.memory.session_id, session("s"));
    let mut quoted = saved.derived_from.clone();
    quoted.sort();
    let mut expected = sources.clone();
    expected.sort();
    assert_eq!(quoted, expected);
    let lesson = row(summary.saved[1].clone());
    assert_eq!((lesson.memory.kind, lesson.memory.origin.as_str()), (MemoryKind::Lesson, "lesson"));
    assert_eq!(lesson.derived_from.len(), 1);

    // Once more: nothing new to say, nothing saved twice.
    let again = fixture.summarize(false).await;
    assert_eq!(again, summary);
    assert_eq!(fixture.memories().await.len(), 7);
}

#[tokio::test]
async fn fixed_lines_of_hooks_teach_nothing() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let line =
        |text: &str| Remember { origin: Origin::new("hook:PostToolUse").unwrap(), ..request("s", text) };
    fixture.service.remember(&caller(), line("tool used: Grep")).await.unwrap();
    // Alone they are all there is to say.
    assert!(fixture.summarize(true).await.text.contains(": 1 memories"));
    fixture.save("s", "the parser tracks spans").await;
    let summary = fixture.summarize(true).await;
    assert_eq!((summary.memories, summary.lessons), (1, vec!["lesson: the parser tracks spans".to_owned()]));
}

#[tokio::test]
async fn an_empty_session_saves_nothing() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let summary = fixture.summarize(false).await;
    assert_eq!((summary.memories, summary.saved.len(), summary.lessons.len()), (0, 0, 0));
    assert_eq!(summary.text, "session s (project p): no memories");
    assert_eq!(fixture.memories().await, []);
}

#[tokio::test]
async fn forgetting_a_memory_takes_its_quotes_along() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let sources = fixture.seed().await;
    fixture.summarize(false).await;
    fixture.service.forget(&caller(), &sources[1]).await.unwrap();
    assert!(!format!("{:?}", fixture.memories().await).contains("capacitor"));
    // The other memories and their lessons stay.
    let mut left = fixture.contents("s").await;
    left.sort();
    assert_eq!(
        left,
        ["chose the wal mode", "lesson: chose the wal mode", "lesson: ordinary chatter", "ordinary chatter"]
    );
    // A new summary is made without it.
    assert!(fixture.summarize(false).await.text.contains(": 2 memories"));
}

#[tokio::test]
async fn a_lesson_of_the_user_is_summarised_and_survives() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let own = request("s", "lesson: never deploy on Friday");
    fixture.service.lesson(&caller(), own).await.unwrap();
    let summary = fixture.summarize(false).await;
    assert_eq!(summary.memories, 1);
    assert_eq!(summary.lessons, ["lesson: lesson: never deploy on Friday"]);
    assert_eq!(fixture.summarize(false).await.memories, 1);
}

#[tokio::test]
async fn summaries_are_never_merged_with_one_another() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    for n in 0..8 {
        fixture.save("s", &format!("text number {n} says a thing of its own {}", "x".repeat(n + 2))).await;
    }
    fixture.summarize(false).await;
    fixture.save("s", "and one more").await;
    let second = fixture.summarize(false).await;
    let rows = fixture.memories().await;
    let summaries: Vec<&str> = rows
        .iter()
        .filter(|row| row.memory.kind == MemoryKind::Summary)
        .map(|row| row.memory.content.as_str())
        .collect();
    assert_eq!(summaries.len(), 2);
    assert_eq!(summaries[1], second.text);
}

#[tokio::test]
async fn the_contract_summarises_what_is_there() {
    let fixture = Fixture::new(KIND, Profile::Contract).await;
    fixture.seed().await;
    fixture.summarize(false).await;
    assert_eq!(fixture.summarize(true).await.memories, 7);
}
