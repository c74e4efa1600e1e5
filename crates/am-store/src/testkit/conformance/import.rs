//! Copies between stores.

use am_embed::analysis::{AnalysedText, Profile};
use am_model::{Counts, Instant, MemoryId, StoreId, Verb};

use super::Factory;
use crate::testkit::kit::{Everything, Kit, START, concepts, event, home, ids, project, session, words};
use crate::{Action, Import, Outcome, SearchQuery, StoreError, StoredMemory};

/// Everything of a store as an import, with the terms that its texts have.
fn import_of(kit: &Kit, everything: &Everything) -> Import {
    let analyse = |stored: &StoredMemory| -> Option<AnalysedText> {
        crate::is_ranked(stored.memory.kind, kit.analysis().profile())
            .then(|| kit.analysis().analyse(&stored.memory.content))
    };
    Import {
        sessions: everything.sessions.clone(),
        memories: everything.memories.iter().map(|stored| (stored.clone(), analyse(stored))).collect(),
        observations: everything.observations.clone(),
        log: everything.log.clone(),
    }
}

async fn import(kit: &Kit, import: Import) -> Outcome {
    kit.commit(Action::Import(Box::new(import))).await
}

/// A store with something of every sort in it.
async fn furnished(factory: &dyn Factory, profile: Profile) -> Kit {
    let kit = Kit::of(factory, profile).await;
    let mut first = kit.note("the parser tracks spans");
    first.memory.concepts = concepts(&["parser", "spans", "parser"]);
    first.observation = Some(event("call-1", "the parser tracks spans"));
    let first = kit.insert(first).await;
    let gone = kit.insert_note("short-lived").await;
    let mut merge = kit.merge(&kit.memory(&first).await, "of tokens \0 and \u{1f980}");
    merge.concepts = concepts(&["tokens"]);
    kit.merged(merge).await;
    let mut summary = kit.note("summary: spans");
    summary.memory.derived_from = vec![first];
    kit.insert(summary).await;
    let mut elsewhere = kit.note_of(&project("elsewhere"), "?!");
    elsewhere.memory.session_id = session("u");
    kit.insert(elsewhere).await;
    kit.forget(&[gone]).await;
    kit.commit(Action::Observe(vec![event("call-2", "bare")])).await;
    kit.commit(Action::ForgetObservation { project: home(), event_id: "call-2".to_owned() }).await;
    for number in 0..20 {
        let mut save = kit.note(&words(number, 6).join(" "));
        save.memory.session_id = session(&format!("s{}", number % 3));
        save.memory.concepts = concepts(&[&words(number / 2, 1)[0]]);
        kit.insert(save).await;
    }
    kit
}

pub(super) async fn an_import_is_an_exact_copy(factory: &dyn Factory) {
    for profile in [Profile::Default, Profile::Contract] {
        let source = furnished(factory, profile).await;
        let everything = source.everything().await;
        let target = Kit::of(factory, profile).await;
        let (memories, observations) =
            (everything.memories.len() as u64, everything.observations.len() as u64);
        let outcome = import(&target, import_of(&source, &everything)).await;
        assert_eq!(outcome, Outcome::Imported { memories, observations, skipped: 0 });

        let copied = target.everything().await;
        assert_eq!(copied.sessions, everything.sessions);
        assert_eq!(copied.memories, everything.memories);
        assert_eq!(copied.observations, everything.observations);
        assert_eq!(copied.log[..everything.log.len()], everything.log);
        assert_eq!(copied.log.len(), everything.log.len() + 1, "and one row of the target's own");
        let own = &copied.log[everything.log.len()].entry;
        let names: Vec<_> =
            everything.memories.iter().map(|stored| stored.memory.memory_id.clone()).collect();
        assert_eq!((own.verb, &own.targets), (Verb::Import, &names));
        assert_ne!(own.writer, everything.log[0].entry.writer);

        for text in ["parser spans", "wordaac wordaad wordaae", "tokens"] {
            let query = SearchQuery { concepts: concepts(&["parser", "tokens"]), ..source.query(text) };
            let (left, right) = (source.search(query.clone()).await, target.search(query).await);
            assert_eq!(ids(&left, &left.lexical), ids(&right, &right.lexical));
            assert_eq!(ids(&left, &left.vector), ids(&right, &right.vector));
            assert_eq!(ids(&left, &left.concept), ids(&right, &right.concept));
            assert_eq!(
                left.lexical.unwrap().iter().map(|hit| hit.score).collect::<Vec<_>>(),
                right.lexical.unwrap().iter().map(|hit| hit.score).collect::<Vec<_>>()
            );
        }
        let (left, right) =
            (source.store.statistics().await.unwrap(), target.store.statistics().await.unwrap());
        assert_eq!(
            (left.memories, left.vectors, left.concepts),
            (right.memories, right.vectors, right.concepts)
        );
        assert_eq!(left.observation_bytes, right.observation_bytes);
        target.verify().await;
    }
}

pub(super) async fn an_import_skips_what_is_there(factory: &dyn Factory) {
    let source = furnished(factory, Profile::Default).await;
    let everything = source.everything().await;
    let whole = import_of(&source, &everything);
    let rows = whole.sessions.len() + whole.memories.len() + whole.observations.len() + whole.log.len();

    let target = Kit::new(factory).await;
    // Half of it first, as an interrupted copy leaves it.
    let mut half = whole.clone();
    half.memories.truncate(10);
    half.observations.truncate(1);
    half.log.truncate(5);
    import(&target, half).await;
    let outcome = import(&target, whole.clone()).await;
    let expected = Outcome::Imported {
        memories: whole.memories.len() as u64 - 10,
        observations: whole.observations.len() as u64 - 1,
        skipped: whole.sessions.len() as u64 + 16,
    };
    assert_eq!(outcome, expected);
    let copied = target.everything().await;
    assert_eq!(copied.memories, everything.memories);

    let outcome = import(&target, whole.clone()).await;
    assert_eq!(outcome, Outcome::Imported { memories: 0, observations: 0, skipped: rows as u64 });
    assert_eq!(target.everything().await, copied, "nothing is written, not even to the log");
    let outcome = import(&target, Import::default()).await;
    assert_eq!(outcome, Outcome::Imported { memories: 0, observations: 0, skipped: 0 });
    assert_eq!(target.everything().await, copied);

    // A text that is there under another id.
    let (mut twin, terms) = whole.memories[0].clone();
    twin.memory.memory_id = MemoryId::random();
    twin.memory.id = StoreId(900);
    let outcome = import(&target, Import { memories: vec![(twin, terms)], ..Import::default() }).await;
    assert_eq!(outcome, Outcome::Imported { memories: 0, observations: 0, skipped: 1 });
    // Twice within one import.
    let fresh = record(&target, 901, "a text of its own");
    let twice = vec![fresh.clone(), fresh];
    let outcome = import(&target, Import { memories: twice, ..Import::default() }).await;
    assert_eq!(outcome, Outcome::Imported { memories: 1, observations: 0, skipped: 1 });
    target.verify().await;
}

/// Makes a record one that no store can have given out.
type Spoil = fn(&mut StoredMemory);

/// A record of a text as another store may give it.
fn record(kit: &Kit, id: i64, content: &str) -> (StoredMemory, Option<AnalysedText>) {
    let save = kit.note(content);
    let at = Instant::from_millis(START - 1_000_000);
    let stored = StoredMemory {
        memory: am_model::Memory {
            id: StoreId(id),
            memory_id: save.memory.memory_id,
            project: home(),
            session_id: session("imported"),
            kind: save.memory.kind,
            content: content.to_owned(),
            origin: save.memory.origin,
            importance: save.memory.importance,
            created_at: at,
            version: 3,
            concepts: concepts(&["imported"]),
        },
        concept_parts: vec![0],
        dedup_key: save.memory.text.dedup_key,
        vector: save.memory.text.vector,
        parts: vec![crate::Part { session_id: session("imported"), bytes: content.len(), at }],
        derived_from: vec![],
        digest_key: [7; 32],
    };
    (stored, save.memory.text.terms)
}

pub(super) async fn an_import_keeps_free_ids_and_reuses_none(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let with = |memories| Import { memories, ..Import::default() };
    let contents = async || {
        let rows = kit.everything().await.memories;
        rows.into_iter().map(|stored| (stored.memory.id.0, stored.memory.content)).collect::<Vec<_>>()
    };
    let pairs = |rows: &[(i64, &str)]| -> Vec<(i64, String)> {
        rows.iter().map(|(id, content)| (*id, (*content).to_owned())).collect()
    };

    // Whatever order they come in.
    import(&kit, with(vec![record(&kit, 9, "nine"), record(&kit, 5, "five")])).await;
    assert_eq!(contents().await, pairs(&[(5, "five"), (9, "nine")]));
    let next = kit.insert_note("next").await;
    assert_eq!(kit.memory(&next).await.id, StoreId(10));
    kit.forget(&[next]).await;
    // 9 is taken, 10 was, 7 lies below what was given, 30 is free.
    let more = vec![
        record(&kit, 10, "was ten"),
        record(&kit, 30, "thirty"),
        record(&kit, 7, "was seven"),
        record(&kit, 9, "was nine"),
    ];
    import(&kit, with(more)).await;
    let expected = pairs(&[
        (5, "five"),
        (9, "nine"),
        (11, "was seven"),
        (12, "was nine"),
        (13, "was ten"),
        (30, "thirty"),
    ]);
    assert_eq!(contents().await, expected);
    let last = kit.insert_note("last").await;
    assert_eq!(kit.memory(&last).await.id, StoreId(31));
    kit.verify().await;
}

pub(super) async fn imported_rows_work_like_saved_ones(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let text = words(0, 10).join(" ");
    let (stored, terms) = record(&kit, 4, &text);
    let memory_id = stored.memory.memory_id.clone();
    let event_of = |event_id: &str| crate::StoredObservation {
        id: StoreId(6),
        observation: event(event_id, &text),
        memory_id: Some(memory_id.clone()),
    };
    let records = Import {
        memories: vec![(stored.clone(), terms)],
        observations: vec![event_of("call-1")],
        ..Import::default()
    };
    import(&kit, records).await;

    assert_eq!(kit.stored(&memory_id).await, stored);
    assert_eq!(kit.lexical(&text).await, std::slice::from_ref(&memory_id));
    assert_eq!(kit.nearest(&text).await, std::slice::from_ref(&memory_id));
    assert_eq!(kit.linked(&["imported"]).await, std::slice::from_ref(&memory_id));
    assert_eq!(kit.listed("imported").await, std::slice::from_ref(&memory_id));
    assert_eq!(kit.store.counts(&home()).await.unwrap(), Counts { memories: 1, sessions: 1 });
    let sessions = kit.everything().await.sessions;
    let made = stored.memory.created_at;
    assert_eq!((sessions[0].started_at, sessions[0].updated_at), (made, made), "its session was missing");

    let near = kit.save(kit.probing(&words(0, 9).join(" "), 0.9)).await;
    assert_eq!(near, Outcome::NearDuplicates { candidates: vec![stored.memory.clone()] });
    assert_eq!(kit.save(kit.note(&text)).await, Outcome::Deduplicated { memory_id: memory_id.clone() });
    let mut repeated = kit.note("another text");
    repeated.observation = Some(event("call-1", "another text"));
    assert_eq!(kit.save(repeated).await, Outcome::Repeated { memory_id: Some(memory_id.clone()) });
    kit.grow(&memory_id, "and more").await;
    assert_eq!(kit.memory(&memory_id).await.version, 4);
    let outcome = kit.forget(std::slice::from_ref(&memory_id)).await;
    let expected =
        Outcome::Forgotten { memories: vec![memory_id], derived: vec![], rewritten: vec![], observations: 1 };
    assert_eq!(outcome, expected);
    kit.verify().await;
}

pub(super) async fn a_record_that_does_not_add_up_is_refused(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    kit.insert_note("there").await;
    let before = kit.everything().await;
    let changes: [(&str, Spoil); 6] = [
        ("no parts", |stored| stored.parts.clear()),
        ("short parts", |stored| stored.parts[0].bytes -= 1),
        ("long parts", |stored| stored.parts[0].bytes = usize::MAX),
        ("a concept without a part", |stored| stored.concept_parts.clear()),
        ("a concept of a part that is not there", |stored| stored.concept_parts[0] = 1),
        ("a short vector", |stored| stored.vector = Some(vec![1.0])),
    ];
    for (what, change) in changes {
        let (mut bad, terms) = record(&kit, 8, "does not add up");
        change(&mut bad);
        let memories = vec![record(&kit, 7, "adds up"), (bad, terms)];
        let refused =
            kit.try_commit(Action::Import(Box::new(Import { memories, ..Import::default() }))).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{what}: {refused:?}");
        assert_eq!(kit.everything().await, before, "{what}: nothing of it is written");
    }
}
