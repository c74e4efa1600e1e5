//! Saves: what becomes of a text, and what is refused.

use am_embed::analysis::Profile;
use am_model::{Actor, Channel, DedupKey, Importance, Instant, MemoryId, MemoryKind, Origin, Verb};

use super::Factory;
use crate::testkit::kit::{
    Kit, MANY, START, TICK, concepts, event, forget, home, ids, live, project, session, vector_query,
};
use crate::{
    Action, Audit, Change, Forget, ForgetSession, LiveMemory, Outcome, Part, Rewrite, SearchQuery,
    StoreError, StoredMemory, Text,
};

pub(super) async fn a_saved_text_is_in_every_arm_listing_and_count(factory: &dyn Factory) {
    for profile in [Profile::Default, Profile::Contract] {
        let kit = Kit::of(factory, profile).await;
        let mut save = kit.note("the parser now tracks spans");
        save.memory.kind = MemoryKind::Lesson;
        save.memory.origin = Origin::from_stored("lesson");
        save.memory.importance = Importance::from_stored(0.775);
        save.memory.concepts = concepts(&["parser", "spans"]);
        let text = save.memory.text.clone();
        let memory_id = kit.insert(save).await;

        let memory = kit.memory(&memory_id).await;
        assert_eq!(memory.content, "the parser now tracks spans");
        assert_eq!((memory.project.clone(), memory.session_id.clone()), (home(), session("s")));
        assert_eq!((memory.kind, memory.origin.as_str()), (MemoryKind::Lesson, "lesson"));
        assert_eq!(memory.importance.get(), 0.775);
        assert_eq!(
            memory.created_at,
            Instant::from_millis(START + TICK),
            "made at the instant of the change"
        );
        assert_eq!((memory.version, memory.concepts.clone()), (1, concepts(&["parser", "spans"])));

        let found = vec![memory_id.clone()];
        assert_eq!(kit.lexical("spans").await, found);
        assert_eq!(kit.nearest("parser spans").await, found);
        assert_eq!(kit.linked(&["parser"]).await, found);
        assert_eq!(kit.listed("s").await, found);
        let counts = kit.store.counts(&home()).await.unwrap();
        assert_eq!((counts.memories, counts.sessions), (1, 1));

        let stored = kit.stored(&memory_id).await;
        let parts = vec![Part { session_id: session("s"), bytes: text.content.len(), at: memory.created_at }];
        let expected = StoredMemory {
            memory,
            concept_parts: vec![0, 0],
            dedup_key: text.dedup_key,
            vector: text.vector,
            parts,
            derived_from: vec![],
            digest_key: stored.digest_key,
        };
        assert_eq!(stored, expected);
        kit.verify().await;
    }
}

pub(super) async fn a_repeated_text_is_saved_once(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let first = kit.insert_note("Use tabs").await;
    let before = kit.everything().await;

    let mut again = kit.note("use \u{a0} TABS");
    again.memory.session_id = session("other");
    again.memory.concepts = concepts(&["tabs"]);
    again.memory.importance = Importance::from_stored(1.0);
    again.near_duplicate = Some(0.9);
    assert_eq!(kit.save(again).await, Outcome::Deduplicated { memory_id: first.clone() });
    assert_eq!(kit.everything().await, before, "the first save wins, and nothing is written");

    let elsewhere = kit.insert(kit.note_of(&project("elsewhere"), "Use tabs")).await;
    assert_ne!(elsewhere, first, "another project saves the text for itself");
}

pub(super) async fn an_expired_text_is_revived(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let memory_id = kit.insert_note("rotate the keys").await;
    let made = kit.memory(&memory_id).await;
    let saved_again = |expired_before: Instant| {
        let mut save = kit.note("rotate the keys");
        save.expired_before = Some(expired_before);
        save.memory.session_id = session("other");
        save
    };

    let outcome = kit.save(saved_again(made.created_at)).await;
    assert_eq!(
        outcome,
        Outcome::Deduplicated { memory_id: memory_id.clone() },
        "as old as the bound is live"
    );
    assert_eq!(kit.memory(&memory_id).await, made);

    let bound = made.created_at.plus_millis(1);
    let hidden = LiveMemory { project: home(), expired_before: Some(bound) };
    assert!(kit.store.session_memories(&hidden, &session("s"), MANY).await.unwrap().is_empty());
    let at = kit.tick();
    let outcome = kit.try_commit_at(at, Action::Save(Box::new(saved_again(bound)))).await.unwrap();
    assert_eq!(outcome, Outcome::Revived { memory_id: memory_id.clone() });

    let revived = kit.memory(&memory_id).await;
    assert_eq!((revived.created_at, revived.version), (at, made.version + 1));
    assert_eq!(revived.session_id, session("s"), "it stays the row of its session");
    assert_eq!(kit.last_log_entry().await.verb, Verb::Revive);
    assert_eq!(kit.store.session_memories(&hidden, &session("s"), MANY).await.unwrap().len(), 1);
    let reply = kit.search(SearchQuery { live: hidden, ..kit.query("keys") }).await;
    assert_eq!(ids(&reply, &reply.lexical), vec![memory_id.clone()]);
    assert_eq!(ids(&reply, &reply.vector), vec![memory_id]);
    assert_eq!(reply.hidden, 0);
    kit.verify().await;
}

pub(super) async fn terms_of_another_analysis_are_refused(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let save = Action::Save(Box::new(kit.note("analysed before the store was rebuilt")));
    let audit = Audit { at: kit.tick(), actor: Actor("tester".to_owned()), channel: Channel::Library };
    let given = "of-another-time".to_owned();
    let change = Change { audit: audit.clone(), analysis: Some(given.clone()), action: save.clone() };
    let stored = kit.store.identity().await.unwrap().analysis;
    let refused = StoreError::Outdated { stored: stored.clone(), given };
    assert_eq!(kit.store.commit(change).await, Err(refused));
    assert_eq!(kit.store.counts(&home()).await.unwrap().memories, 0);
    let change = Change { audit, analysis: Some(stored), action: save };
    assert!(matches!(kit.store.commit(change).await, Ok(Outcome::Inserted { .. })));
    kit.verify().await;
}

pub(super) async fn a_text_without_terms_or_vector_is_listed_only(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut save = kit.note("listed only");
    save.memory.kind = MemoryKind::Event;
    save.memory.text = Text { terms: None, vector: None, ..save.memory.text };
    let listed = kit.insert(save).await;
    // Analysed, but nothing in it to search for.
    let empty = kit.insert_note("!?").await;
    assert!(kit.stored(&empty).await.vector.is_none());

    assert_eq!(kit.listed("s").await, vec![empty.clone(), listed.clone()]);
    assert!(kit.lexical("listed only").await.is_empty());
    assert!(kit.nearest("listed only").await.is_empty());
    let near = kit.save(kit.probing("only listed", 0.5)).await;
    assert!(matches!(near, Outcome::Inserted { .. }), "a row without terms is no near-duplicate: {near:?}");
    let same = kit.save(kit.note("listed only")).await;
    assert_eq!(same, Outcome::Deduplicated { memory_id: listed }, "but its key is taken");
}

pub(super) async fn quoting_what_is_not_there_is_refused(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let source = kit.insert_note("the token lasts an hour").await;
    let foreign = kit.insert(kit.note_of(&project("foreign"), "the token lasts a day")).await;
    let quoting = |content: &str, sources: &[&MemoryId]| {
        let mut save = kit.note(content);
        save.memory.derived_from = sources.iter().copied().cloned().collect();
        save
    };

    let summary = kit.insert(quoting("summary: one token", &[&source])).await;
    assert_eq!(kit.stored(&summary).await.derived_from, vec![source.clone()]);
    let before = kit.everything().await;
    for missing in [&foreign, &MemoryId::random()] {
        let outcome = kit.save(quoting("summary: two tokens", &[&source, missing])).await;
        assert_eq!(outcome, Outcome::Changed { now: vec![] });
    }
    assert_eq!(kit.everything().await, before);
}

pub(super) async fn a_repeated_quotation_settles_what_it_rests_on(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let first = kit.insert_note("the token lasts an hour").await;
    let second = kit.insert_note("the token is signed").await;
    let quoting = |sources: &[&MemoryId]| {
        let mut save = kit.note("summary: a token");
        save.memory.derived_from = sources.iter().copied().cloned().collect();
        save
    };
    let summary = kit.insert(quoting(&[&first])).await;
    let known = Outcome::Deduplicated { memory_id: summary.clone() };
    let row = kit.stored(&summary).await;
    let before = kit.everything().await;
    assert_eq!(kit.save(quoting(&[&first])).await, known);
    assert_eq!(kit.everything().await, before, "it quoted that already");

    assert_eq!(kit.save(quoting(&[&second, &first])).await, known);
    let both = vec![first.clone(), second.clone()];
    assert_eq!(kit.stored(&summary).await, StoredMemory { derived_from: both, ..row.clone() });
    let entry = kit.last_log_entry().await;
    assert_eq!((entry.verb, &entry.targets), (Verb::Merge, &vec![summary.clone()]));
    assert!(entry.before.is_some() && entry.before == entry.after);

    // Said on purpose, it stands by itself, whatever quotes the same text later.
    assert_eq!(kit.save(quoting(&[])).await, known);
    assert_eq!(kit.stored(&summary).await, StoredMemory { derived_from: vec![], ..row.clone() });
    let before = kit.everything().await;
    assert_eq!(kit.save(quoting(&[&second])).await, known);
    assert_eq!(kit.everything().await, before);
    kit.forget(&[first.clone(), second]).await;
    assert!(kit.is_there(&summary).await);

    // So it does when the text comes as a merge.
    let third = kit.insert_note("the token is opaque").await;
    let mut lesson = kit.note("lesson: opaque");
    lesson.memory.derived_from = vec![third.clone()];
    let lesson = kit.insert(lesson).await;
    let merge = kit.merge(&kit.memory(&summary).await, "lesson: opaque");
    assert_eq!(kit.merged(merge).await, Outcome::Deduplicated { memory_id: lesson.clone() });
    kit.forget(&[third]).await;
    assert!(kit.is_there(&lesson).await);
    kit.verify().await;
}

pub(super) async fn what_makes_no_sense_is_refused_and_changes_nothing(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let memory_id = kit.insert_note("the one row").await;
    let memory = kit.memory(&memory_id).await;
    kit.insert_note("another row").await;
    let before = kit.everything().await;
    let saving = |change: &dyn Fn(&mut crate::Save)| {
        let mut save = kit.note("something new");
        change(&mut save);
        Action::Save(Box::new(save))
    };
    let merging = |change: &dyn Fn(&mut crate::Merge)| {
        let mut merge = kit.merge(&memory, "one more line");
        change(&mut merge);
        Action::Merge(Box::new(merge))
    };
    let not_finite = |number: f32| {
        let mut vector = vector_query("something").vector;
        vector[0] = number;
        Some(vector)
    };
    let foreign = {
        let mut observation = event("call-1", "something new");
        observation.project = project("foreign");
        observation
    };

    let mut actions: Vec<(&str, Action)> = [0.0, -0.5, 1.001, f64::NAN, f64::INFINITY]
        .into_iter()
        .map(|threshold| ("a threshold", saving(&|save| save.near_duplicate = Some(threshold))))
        .collect();
    actions.extend([
        ("a short vector", saving(&|save| save.memory.text.vector = Some(vec![1.0]))),
        ("a vector of nothing", saving(&|save| save.memory.text.vector = Some(vec![]))),
        ("not a number", saving(&|save| save.memory.text.vector = not_finite(f32::NAN))),
        ("infinity", saving(&|save| save.memory.text.vector = not_finite(f32::INFINITY))),
        ("a taken id", saving(&|save| save.memory.memory_id = memory_id.clone())),
        ("a foreign event", saving(&|save| save.observation = Some(foreign.clone()))),
        ("a foreign event of a merge", merging(&|merge| merge.observation = Some(foreign.clone()))),
        (
            "a short vector of a merge",
            merging(&|merge| merge.text.as_mut().unwrap().vector = Some(vec![1.0])),
        ),
        ("more bytes than text", merging(&|merge| merge.incoming_bytes = 10_000)),
        ("no line feed before the text", merging(&|merge| merge.incoming_bytes = 3)),
        (
            "no bytes of a text",
            merging(&|merge| {
                merge.text = Some(kit.text(&home(), "the one row\n"));
                merge.incoming_bytes = 0;
            }),
        ),
        (
            "the whole text as incoming",
            merging(&|merge| {
                merge.incoming_bytes = merge.text.as_ref().unwrap().content.len();
            }),
        ),
        (
            "forgetting as remembering",
            Action::Forget(Forget { verb: Verb::Remember, ..forget(std::slice::from_ref(&memory_id)) }),
        ),
    ]);
    for (what, action) in actions {
        let refused = kit.try_commit(action).await;
        assert!(matches!(refused, Err(StoreError::Invalid { .. })), "{what}: {refused:?}");
        assert_eq!(kit.everything().await, before, "{what}");
    }

    kit.grow(&memory_id, "a line of another session").await;
    let before = kit.everything().await;
    let rewrite = kit.rewrite(&kit.stored(&memory_id).await, &session("t"));
    let longer = Rewrite { text: kit.text(&home(), "the one row and more"), ..rewrite };
    let action = Action::ForgetSession(ForgetSession {
        project: home(),
        session_id: session("t"),
        rewrites: vec![longer],
        reason: None,
    });
    let refused = kit.try_commit(action).await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })), "a longer rewrite: {refused:?}");
    assert_eq!(kit.everything().await, before);
    kit.verify().await;
}

pub(super) async fn a_failed_precondition_changes_nothing(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut first = kit.note("cache the parsed manifest in memory");
    first.observation = Some(event("call-1", "cache the parsed manifest in memory"));
    first.memory.concepts = concepts(&["cache"]);
    let first = kit.insert(first).await;
    let other = kit.insert_note("entirely different words stand here").await;
    let survivor = kit.memory(&first).await;
    let other = kit.memory(&other).await;
    let before = kit.everything().await;
    let with_event = |mut save: crate::Save, event_id: &str| {
        save.memory.session_id = session("new session");
        save.memory.concepts = concepts(&["new concept"]);
        save.observation = Some(event(event_id, "a new event"));
        save
    };

    let near = kit.save(with_event(kit.probing("cache the parsed manifest in", 0.5), "call-2")).await;
    assert_eq!(near, Outcome::NearDuplicates { candidates: vec![survivor.clone()] });
    let repeated = kit.save(with_event(kit.note("a new text"), "call-1")).await;
    assert_eq!(repeated, Outcome::Repeated { memory_id: Some(first) });
    let mut merge = kit.merge(&survivor, "and on disk");
    merge.version += 1;
    merge.observation = Some(event("call-3", "and on disk"));
    let changed = kit.merged(merge).await;
    assert!(matches!(changed, Outcome::Changed { .. }), "{changed:?}");
    let mut merge = kit.merge(&survivor, "and on disk");
    merge.text.as_mut().unwrap().dedup_key = DedupKey::of(&home(), &other.content);
    merge.observation = Some(event("call-4", "and on disk"));
    merge.concepts = concepts(&["new concept"]);
    assert_eq!(kit.merged(merge).await, Outcome::KeyTaken { memory: Box::new(other) });

    assert_eq!(kit.everything().await, before);
    assert!(kit.linked(&["new concept"]).await.is_empty());
    assert_eq!(kit.store.statistics().await.unwrap().concepts, 1);
}

pub(super) async fn hostile_text_is_kept_to_the_byte(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let long = "0123456789 long text \u{1f980}\n".repeat(8_000);
    let texts = [
        "a\0b\0\0c",
        "\0",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} family \u{1f1e9}\u{1f1ea} flag \u{1f44d}\u{1f3fd}",
        "שלום \u{202e}right to left\u{202c} مرحبا",
        "\u{d7ff}\u{e000}\u{fffd}\u{10ffff}\u{feff}x\u{85}",
        "e\u{301}\u{327}\u{5b0}\u{5b1}\u{5b2}\u{5b3}",
        "'; DROP TABLE memory; -- \" NEAR(a b) AND * OR ( [ { % _ \\",
        "-1",
        "检索引擎 索引 LRU",
        "\r\n\t\u{b}\u{c}\u{2028}\u{2029}y",
        long.as_str(),
    ];
    let hostile_session = session("s\0\u{1f980}'\"");
    let mut saved = Vec::new();
    for (number, text) in texts.into_iter().enumerate() {
        let mut save = kit.note(text);
        save.memory.session_id = hostile_session.clone();
        save.memory.concepts = concepts(&[text.get(..1).unwrap_or("x"), "c\0\u{202e}'"]);
        save.memory.origin = Origin::from_stored("hook:\0'\"");
        let mut observation = event(&format!("call-{number}\0'"), text);
        observation.session_id = hostile_session.clone();
        save.observation = Some(observation);
        save.near_duplicate = Some(0.9);
        let memory_id = kit.insert(save).await;
        let stored = kit.memory(&memory_id).await;
        assert_eq!(stored.content, text, "text {number}");
        assert_eq!(stored.session_id, hostile_session);
        assert_eq!(stored.origin.as_str(), "hook:\0'\"");
        assert_eq!(stored.concepts, concepts(&[text.get(..1).unwrap_or("x"), "c\0\u{202e}'"]));
        assert_eq!(
            kit.observation(&format!("call-{number}\0'")).await.observation.text.as_deref(),
            Some(text)
        );
        let again = kit.save(kit.note(text)).await;
        assert_eq!(again, Outcome::Deduplicated { memory_id: memory_id.clone() });
        // Any text is a query too.
        let reply = kit.search(kit.query(text)).await;
        let searchable = !kit.analysis().query(text).is_empty();
        assert_eq!(ids(&reply, &reply.lexical).contains(&memory_id), searchable, "text {number}");
        saved.push(memory_id);
    }
    assert_eq!(kit.linked(&["c\0\u{202e}'"]).await, saved);
    saved.reverse();
    let listed = kit.store.session_memories(&live(None), &hostile_session, MANY).await.unwrap();
    assert_eq!(listed.into_iter().map(|memory| memory.memory_id).collect::<Vec<_>>(), saved);
    kit.verify().await;
}

pub(super) async fn projects_that_look_alike_stay_apart(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let names = [
        "cafe\u{301}",
        "caf\u{e9}",
        "Caf\u{e9}",
        "CAF\u{c9}",
        "caf\u{e9}-",
        "caf\u{e9}\0",
        "ca\u{fb01}",
        "cafi",
        "1",
        "1.0",
    ];
    for name in names {
        let mut save = kit.note_of(&project(name), "one text for all");
        save.near_duplicate = Some(0.5);
        save.memory.concepts = concepts(&["shared"]);
        save.observation = None;
        kit.insert(save).await;
    }
    for name in names {
        let live = LiveMemory { project: project(name), expired_before: None };
        let reply = kit
            .search(SearchQuery { live: live.clone(), concepts: concepts(&["shared"]), ..kit.query("text") })
            .await;
        for arm in [&reply.lexical, &reply.vector, &reply.concept] {
            assert_eq!(ids(&reply, arm).len(), 1, "{name:?}");
        }
        assert!(reply.rows.iter().all(|row| row.project == project(name)));
        let counts = kit.store.counts(&project(name)).await.unwrap();
        assert_eq!((counts.memories, counts.sessions), (1, 1));
        assert_eq!(kit.store.sessions(&project(name), MANY).await.unwrap().len(), 1);
        assert_eq!(kit.store.session_memories(&live, &session("s"), MANY).await.unwrap().len(), 1);
    }
    let mut sorted: Vec<_> = names.iter().map(|name| project(name)).collect();
    sorted.sort();
    assert_eq!(kit.store.projects().await.unwrap(), sorted);
}
