//! Export and import: an exact round trip, and records that can't be right are refused.

use am_embed::analysis::Profile;
use am_model::{CaptureLevel, Origin};
use am_service::{Event, Exported, Imported, Record, Remember, ServiceError};
use am_store::Scope;

use super::KIND;
use crate::support::{Fixture, caller, concepts, forty_words, found, project, request, session};

async fn export(fixture: &Fixture, scope: &Scope) -> (Exported, Vec<Record>) {
    let mut records = vec![];
    let exported = fixture
        .service
        .export(scope, |record| {
            records.push(record);
            Ok::<(), ServiceError>(())
        })
        .await
        .unwrap();
    (exported, records)
}

async fn seeded() -> Fixture {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let words = forty_words("kappa");
    fixture.save("s1", &words).await;
    fixture.save("s2", &format!("{words} more")).await;
    let hook = Remember {
        origin: Origin::new("hook:Stop").unwrap(),
        event: Some(Event { key: "event-1".to_owned(), at: None, level: CaptureLevel::Summary }),
        concepts: concepts(&["one", "one", "Two"]),
        ..request("s2", "a captured text")
    };
    fixture.service.remember(&caller(), hook).await.unwrap();
    fixture.service.summarize(&caller(), &project(), &session("s2"), 10, false).await.unwrap();
    fixture
}

fn without_log(records: &[Record]) -> Vec<Record> {
    records.iter().filter(|record| !matches!(record, Record::Log(_))).cloned().collect()
}

#[tokio::test]
async fn a_copy_is_equal_in_every_field() {
    let source = seeded().await;
    let (exported, records) = export(&source, &Scope::AllProjects).await;
    assert_eq!((exported.sessions, exported.memories, exported.observations), (2, 4, 1));
    assert!(exported.log_entries >= 4);

    let target = Fixture::new(KIND, Profile::Default).await;
    let embedder = source.service.identity().embedder.clone();
    let imported = target.service.import(&caller(), records.clone(), &embedder).await.unwrap();
    assert_eq!((imported.memories, imported.observations), (4, 1));
    let (_, copied) = export(&target, &Scope::AllProjects).await;
    assert_eq!(without_log(&copied), without_log(&records));
    for query in ["kappa3", "captured text"] {
        let left = source.smart_search(query, &["one"]).await;
        let right = target.smart_search(query, &["one"]).await;
        assert_eq!(found(&left), found(&right));
        assert_eq!(left.hits[0].score, right.hits[0].score);
    }

    // A second time everything is there already.
    let again = target.service.import(&caller(), without_log(&records), &embedder).await.unwrap();
    assert_eq!((again.memories, again.observations), (0, 0));
    assert!(again.skipped >= 5);
}

#[tokio::test]
async fn a_project_is_copied_without_the_log() {
    let fixture = seeded().await;
    let other =
        Remember { project: am_model::Project::new("q").unwrap(), ..request("s", "of another project") };
    fixture.service.remember(&caller(), other).await.unwrap();
    let (exported, records) = export(&fixture, &Scope::Project(project())).await;
    assert_eq!((exported.memories, exported.log_entries), (4, 0));
    assert!(!format!("{records:?}").contains("of another project"));
}

#[tokio::test]
async fn the_sink_can_stop_the_export() {
    let fixture = seeded().await;
    let mut given = 0;
    let stopped = fixture
        .service
        .export(&Scope::AllProjects, |_| {
            given += 1;
            if given == 3 { Err(ServiceError::Stopped) } else { Ok(()) }
        })
        .await;
    assert_eq!((stopped, given), (Err(ServiceError::Stopped), 3));
}

#[tokio::test]
async fn vectors_of_another_embedder_are_made_anew() {
    let source = seeded().await;
    let (_, mut records) = export(&source, &Scope::Project(project())).await;
    for record in &mut records {
        if let Record::Memory(row) = record {
            row.vector = Some(vec![1.0, 0.0]);
        }
    }
    let target = Fixture::new(KIND, Profile::Default).await;
    target.service.import(&caller(), records, "http/other/2").await.unwrap();
    let (_, copied) = export(&target, &Scope::Project(project())).await;
    let (_, originals) = export(&source, &Scope::Project(project())).await;
    assert_eq!(copied, originals);
}

#[tokio::test]
async fn records_that_contradict_themselves_are_refused_whole() {
    let source = seeded().await;
    let embedder = source.service.identity().embedder.clone();
    let (_, records) = export(&source, &Scope::Project(project())).await;
    let breaks: [fn(&mut am_store::StoredMemory); 13] = [
        |row| row.memory.content = " ".to_owned(),
        |row| row.memory.content.push('!'),
        |row| row.memory.memory_id = am_model::MemoryId::from_stored(""),
        |row| row.memory.importance = am_model::Importance::from_stored(f64::NAN),
        |row| row.parts[0].bytes = usize::MAX,
        |row| row.parts[0].bytes -= 1,
        |row| row.memory.id = am_model::StoreId(i64::MAX),
        |row| row.memory.version = i64::MAX,
        |row| row.memory.project = am_model::Project::from_stored(" p"),
        |row| row.memory.origin = Origin::from_stored(""),
        |row| row.memory.concepts[0] = am_model::Concept::from_stored("c".repeat(201)),
        |row| row.concept_parts = vec![9; row.memory.concepts.len()],
        |row| row.vector = Some(vec![f32::NAN; 384]),
    ];
    for (n, break_it) in breaks.into_iter().enumerate() {
        let mut records = records.clone();
        let row = records.iter_mut().find_map(|record| match record {
            Record::Memory(row) => Some(row),
            _ => None,
        });
        break_it(row.unwrap());
        let target = Fixture::new(KIND, Profile::Default).await;
        let refused = target.service.import(&caller(), records, &embedder).await;
        assert!(matches!(refused, Err(ServiceError::Record { position: 3, .. })), "{n}: {refused:?}");
        assert_eq!(target.memories().await, []);
    }
    assert_eq!(
        source.service.import(&caller(), vec![], &embedder).await.unwrap(),
        Imported { memories: 0, observations: 0, skipped: 0 }
    );
}

#[tokio::test]
async fn a_corpus_keeps_every_document_apart() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let words = forty_words("lambda");
    let texts = [&words, &words, &format!("{words} more"), "something else"].map(|text| request("s", text));
    let ids = fixture.service.load_corpus(&caller(), texts.to_vec()).await.unwrap();
    let rows = fixture.memories().await;
    let stored: Vec<_> = rows.iter().map(|row| row.memory.memory_id.clone()).collect();
    assert_eq!(stored, ids);
    assert_eq!(fixture.search("lambda7").await.hits.len(), 3);
    assert_eq!(fixture.smart_search("something", &["else"]).await.hits[0].memory.memory_id, ids[3]);
}
