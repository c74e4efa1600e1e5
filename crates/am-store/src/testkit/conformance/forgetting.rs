//! Forgetting: nothing of what went is left, everything else is.

use am_model::{MemoryId, Verb};

use super::Factory;
use crate::testkit::kit::{
    Kit, MANY, TICK, concepts, event, forget, forgotten, home, live, project, session,
};
use crate::{Action, Forget, ForgetSession, Outcome, Save};

/// A note of a session, with an event that says the same.
fn witnessed(kit: &Kit, session_id: &str, event_id: &str, content: &str) -> Save {
    let mut save = kit.note(content);
    save.memory.session_id = session(session_id);
    let mut observation = event(event_id, content);
    observation.session_id = session(session_id);
    save.observation = Some(observation);
    save
}

fn quoting(kit: &Kit, content: &str, sources: &[&MemoryId]) -> Save {
    let mut save = kit.note(content);
    save.memory.derived_from = sources.iter().copied().cloned().collect();
    save
}

pub(super) async fn a_forgotten_memory_is_gone_everywhere(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut save = kit.note("the passphrase is correct horse");
    save.memory.concepts = concepts(&["passphrase", "shared"]);
    let gone = kit.insert(save).await;
    let mut save = kit.note("the battery is a staple");
    save.memory.concepts = concepts(&["shared"]);
    let kept = kit.insert(save).await;

    assert_eq!(kit.forget(std::slice::from_ref(&gone)).await, forgotten(std::slice::from_ref(&gone)));
    assert!(!kit.is_there(&gone).await);
    assert_eq!(kit.lexical("the passphrase").await, std::slice::from_ref(&kept));
    assert_eq!(kit.nearest("passphrase horse").await, std::slice::from_ref(&kept));
    assert!(kit.linked(&["passphrase"]).await.is_empty());
    assert_eq!(kit.linked(&["shared"]).await, std::slice::from_ref(&kept));
    assert_eq!(kit.listed("s").await, std::slice::from_ref(&kept));
    let counts = kit.store.counts(&home()).await.unwrap();
    assert_eq!((counts.memories, counts.sessions), (1, 1), "the session stays");
    let statistics = kit.store.statistics().await.unwrap();
    assert_eq!((statistics.memories, statistics.vectors, statistics.concepts), (1, 1, 1));
    assert_eq!(kit.everything().await.memories.len(), 1);
    let entry = kit.last_log_entry().await;
    assert_eq!((entry.verb, entry.targets, entry.reason), (Verb::Forget, vec![gone.clone()], None));

    let again = kit.save(kit.probing("the passphrase is correct horse", 0.9)).await;
    assert!(matches!(again, Outcome::Inserted { .. }), "its key and its terms are free: {again:?}");
    let reason = Some("it was a secret".to_owned());
    let delete =
        Forget { verb: Verb::Delete, reason: reason.clone(), ..forget(&[kept.clone(), kept.clone()]) };
    assert_eq!(kit.commit(Action::Forget(delete)).await, forgotten(std::slice::from_ref(&kept)));
    let entry = kit.last_log_entry().await;
    assert_eq!((entry.verb, entry.targets, entry.reason), (Verb::Delete, vec![kept], reason));
    kit.verify().await;
}

pub(super) async fn forgetting_erases_the_evidence_of_that_memory_only(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let gone = kit.insert(witnessed(&kit, "s", "call-1", "ran the tests")).await;
    kit.save(witnessed(&kit, "s", "call-2", "RAN the tests")).await;
    let kept = kit.insert(witnessed(&kit, "s", "call-3", "ran the linter")).await;
    kit.commit(Action::Observe(vec![event("call-4", "ran the tests")])).await;

    let outcome = kit.forget(std::slice::from_ref(&gone)).await;
    let expected = Outcome::Forgotten {
        memories: vec![gone.clone()],
        derived: vec![],
        rewritten: vec![],
        observations: 2,
    };
    assert_eq!(outcome, expected);
    let text = async |event_id: &str| kit.observation(event_id).await.observation.text;
    assert_eq!((text("call-1").await, text("call-2").await), (None, None));
    assert_eq!(text("call-3").await.as_deref(), Some("ran the linter"));
    assert_eq!(text("call-4").await.as_deref(), Some("ran the tests"), "no memory rested on it");
    assert_eq!(kit.observation("call-1").await.memory_id, Some(gone), "the link outlives the row");
    assert_eq!(kit.observation("call-3").await.memory_id, Some(kept));
    assert_eq!(kit.everything().await.observations.len(), 4, "that it happened stays");
}

pub(super) async fn what_quotes_a_forgotten_memory_goes_with_it(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let first = kit.insert_note("first source").await;
    let second = kit.insert_note("second source").await;
    let of_first = kit.insert(quoting(&kit, "summary of the first", &[&first])).await;
    let of_second = kit.insert(quoting(&kit, "summary of the second", &[&second])).await;
    let of_both = kit.insert(quoting(&kit, "summary of both", &[&second, &first])).await;
    let mut of_summary = quoting(&kit, "lesson of the summary", &[&of_first]);
    of_summary.observation = Some(event("call-1", "lesson of the summary"));
    let of_summary = kit.insert(of_summary).await;

    let outcome = kit.forget(&[of_both.clone(), first.clone()]).await;
    let expected = Outcome::Forgotten {
        memories: vec![of_both, first],
        derived: vec![of_first, of_summary],
        rewritten: vec![],
        observations: 1,
    };
    assert_eq!(outcome, expected);
    let left: Vec<_> =
        kit.everything().await.memories.into_iter().map(|stored| stored.memory.memory_id).collect();
    assert_eq!(left, [second, of_second.clone()]);
    assert_eq!(kit.lexical("summary").await, std::slice::from_ref(&of_second));

    kit.forget(&[of_second]).await;
    assert_eq!(kit.everything().await.memories.len(), 1, "a source does not go with what quotes it");
    kit.verify().await;
}

pub(super) async fn forgetting_can_be_bounded_by_age(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut saved = Vec::new();
    for content in ["oldest", "older", "newer"] {
        saved.push(kit.insert_note(content).await);
    }
    let quoting = kit.insert(quoting(&kit, "a young summary", &[&saved[0]])).await;
    let bound = kit.memory(&saved[1]).await.created_at;
    let purge = Forget { verb: Verb::Purge, created_before: Some(bound), ..forget(&saved) };
    let outcome = kit.commit(Action::Forget(purge.clone())).await;
    let expected = Outcome::Forgotten {
        memories: vec![saved[0].clone()],
        derived: vec![quoting],
        rewritten: vec![],
        observations: 0,
    };
    assert_eq!(outcome, expected);
    assert_eq!(kit.last_log_entry().await.verb, Verb::Purge);
    assert_eq!(kit.listed("s").await, [saved[2].clone(), saved[1].clone()]);

    // What was revived is young again.
    let mut again = kit.note("older");
    again.expired_before = Some(bound.plus_millis(1));
    assert_eq!(kit.save(again).await, Outcome::Revived { memory_id: saved[1].clone() });
    let purge = Forget { created_before: Some(bound.plus_millis(2 * TICK)), ..purge };
    assert_eq!(kit.commit(Action::Forget(purge)).await, forgotten(&saved[2..]));
}

pub(super) async fn forgetting_the_unknown_changes_nothing(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let known = kit.insert_note("known").await;
    let before = kit.everything().await;
    assert_eq!(kit.forget(&[]).await, forgotten(&[]));
    let unknown = [MemoryId::random(), MemoryId::from_stored(""), MemoryId::from_stored("' OR 1=1 --\0")];
    assert_eq!(kit.forget(&unknown).await, forgotten(&[]));
    let bounded = Forget {
        created_before: Some(kit.memory(&known).await.created_at),
        ..forget(std::slice::from_ref(&known))
    };
    assert_eq!(kit.commit(Action::Forget(bounded)).await, forgotten(&[]));
    assert_eq!(kit.forget_session(&session("unknown")).await, forgotten(&[]));
    let elsewhere = ForgetSession {
        project: project("elsewhere"),
        session_id: session("s"),
        rewrites: vec![],
        reason: None,
    };
    assert_eq!(kit.commit(Action::ForgetSession(elsewhere)).await, forgotten(&[]));
    assert_eq!(kit.everything().await, before);

    let mixed = [MemoryId::random(), known.clone()];
    assert_eq!(kit.forget(&mixed).await, forgotten(std::slice::from_ref(&known)));
    assert_eq!(kit.forget(&[known]).await, forgotten(&[]), "a second time");
}

pub(super) async fn a_forgotten_session_is_gone_everywhere(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut own = witnessed(&kit, "t", "call-1", "of this session alone");
    own.memory.concepts = concepts(&["own"]);
    let own = kit.insert(own).await;
    let mut grown = kit.merge(&kit.memory(&own).await, "twice");
    grown.observation = Some({
        let mut observation = event("call-2", "twice");
        observation.session_id = session("u");
        observation
    });
    kit.merged(grown).await;
    let other = kit.insert(witnessed(&kit, "s", "call-3", "of another session")).await;
    let mut elsewhere = kit.note_of(&project("elsewhere"), "of a session of that name elsewhere");
    elsewhere.memory.session_id = session("t");
    let elsewhere = kit.insert(elsewhere).await;
    let mut bare = event("call-4", "bare evidence of this session");
    bare.session_id = session("t");
    kit.commit(Action::Observe(vec![bare])).await;
    // Evidence of this session for a memory of another.
    kit.save(witnessed(&kit, "t", "call-5", "of another session")).await;

    let outcome = kit.forget_session(&session("t")).await;
    let expected = Outcome::Forgotten {
        memories: vec![own.clone()],
        derived: vec![],
        rewritten: vec![],
        observations: 4,
    };
    assert_eq!(outcome, expected);
    assert!(!kit.is_there(&own).await);
    assert!(kit.is_there(&other).await && kit.is_there(&elsewhere).await);
    for (event_id, kept) in
        [("call-1", false), ("call-2", false), ("call-3", true), ("call-4", false), ("call-5", false)]
    {
        assert_eq!(kit.observation(event_id).await.observation.text.is_some(), kept, "{event_id}");
    }
    assert!(kit.listed("t").await.is_empty() && kit.linked(&["own"]).await.is_empty());
    let sessions = kit.store.sessions(&home(), MANY).await.unwrap();
    assert_eq!(sessions.iter().map(|row| &row.session_id).collect::<Vec<_>>(), [&session("s")]);
    let entry = kit.last_log_entry().await;
    assert_eq!((entry.verb, entry.targets), (Verb::Forget, vec![own]));
    assert_eq!(entry.reason.as_deref(), Some("asked to"));

    // The session may begin again.
    kit.insert(witnessed(&kit, "t", "call-6", "of a new beginning")).await;
    assert_eq!(kit.store.sessions(&home(), MANY).await.unwrap().len(), 2);
    kit.verify().await;
}

pub(super) async fn a_shared_memory_loses_the_part_of_a_forgotten_session(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut save = kit.note("zero");
    save.memory.concepts = concepts(&["zero", "both"]);
    let memory_id = kit.insert(save).await;
    for (name, incoming) in [("t", "one"), ("u", "two"), ("t", "three")] {
        let mut merge = kit.merge(&kit.memory(&memory_id).await, incoming);
        merge.session_id = session(name);
        merge.concepts = concepts(&[incoming]);
        assert!(matches!(kit.merged(merge).await, Outcome::Merged { .. }));
    }
    let before = kit.stored(&memory_id).await;
    assert_eq!(before.memory.content, "zero\none\ntwo\nthree");
    let rewritten = |observations| Outcome::Forgotten {
        memories: vec![],
        derived: vec![],
        rewritten: vec![memory_id.clone()],
        observations,
    };

    assert_eq!(kit.forget_session(&session("t")).await, rewritten(0));
    let after = kit.stored(&memory_id).await;
    assert_eq!(after.memory.content, "zero\ntwo");
    assert_eq!(after.memory.version, before.memory.version + 1);
    assert_eq!(after.parts, [before.parts[0].clone(), before.parts[2].clone()]);
    assert_eq!(after.memory.concepts, concepts(&["zero", "both", "two"]));
    assert_eq!(after.concept_parts, [0, 0, 1]);
    assert!(kit.lexical("one three").await.is_empty(), "the old terms are gone");
    assert_eq!(kit.lexical("two").await, std::slice::from_ref(&memory_id));
    assert_eq!(after.vector, kit.text(&home(), "zero\ntwo").vector);
    assert!(kit.linked(&["one", "three"]).await.is_empty());
    let known = kit.save(kit.note("zero two")).await;
    assert_eq!(known, Outcome::Deduplicated { memory_id: memory_id.clone() });
    let entry = kit.last_log_entry().await;
    assert_eq!((entry.verb, entry.targets), (Verb::Forget, vec![memory_id.clone()]));
    assert!(entry.before.is_some() && entry.after.is_some());

    // The session that made the row goes: the row is the next one's.
    assert_eq!(kit.forget_session(&session("s")).await, rewritten(0));
    let after = kit.stored(&memory_id).await;
    assert_eq!((after.memory.content.as_str(), &after.memory.session_id), ("two", &session("u")));
    assert_eq!((after.memory.concepts, after.concept_parts), (concepts(&["two"]), vec![0]));
    assert_eq!(after.memory.created_at, before.memory.created_at);
    assert_eq!(kit.listed("u").await, std::slice::from_ref(&memory_id));
    let sessions = kit.store.sessions(&home(), MANY).await.unwrap();
    assert_eq!(sessions.len(), 1);
    let at = after.parts[0].at;
    assert_eq!(
        (&sessions[0].session_id, sessions[0].started_at, sessions[0].updated_at),
        (&session("u"), at, at)
    );
    assert_eq!(kit.forget_session(&session("u")).await, forgotten(&[memory_id]));
    assert_eq!(kit.store.counts(&home()).await.unwrap(), am_model::Counts::default());
    kit.verify().await;
}

pub(super) async fn forgetting_a_session_needs_the_rewrites_that_are_right_now(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let first = kit.insert_note("first").await;
    let second = kit.insert_note("second").await;
    let own = kit.insert_note("of one session").await;
    kit.grow(&first, "grown").await;
    kit.grow(&second, "grown").await;
    let shared = kit.store.shared_memories(&home(), &session("t")).await.unwrap();
    let names: Vec<_> = shared.iter().map(|stored| stored.memory.memory_id.clone()).collect();
    assert_eq!(names, [first.clone(), second.clone()], "by store id");
    let right: Vec<_> = shared.iter().map(|stored| kit.rewrite(stored, &session("t"))).collect();
    let before = kit.everything().await;
    let forgetting = async |rewrites| {
        let forget = ForgetSession { project: home(), session_id: session("t"), rewrites, reason: None };
        kit.commit(Action::ForgetSession(forget)).await
    };

    let mut stale = right.clone();
    stale[1].version -= 1;
    let mut extra = right.clone();
    extra.push(crate::Rewrite {
        memory_id: own.clone(),
        version: 1,
        text: kit.text(&home(), "of one session"),
    });
    let twice = [right.clone(), right.clone()].concat();
    for wrong in [vec![], right[..1].to_vec(), stale, extra, twice] {
        assert_eq!(forgetting(wrong).await, Outcome::Changed { now: shared.clone() });
        assert_eq!(kit.everything().await, before);
    }
    let outcome = forgetting(right).await;
    let expected = Outcome::Forgotten {
        memories: vec![],
        derived: vec![],
        rewritten: vec![first, second],
        observations: 0,
    };
    assert_eq!(outcome, expected);
    assert!(kit.store.shared_memories(&home(), &session("t")).await.unwrap().is_empty());
}

pub(super) async fn a_rewrite_that_is_another_rows_text_is_removed(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let shared = kit.insert_note("first").await;
    kit.grow(&shared, "grown").await;
    let owner = kit.insert_note("FIRST").await;
    // Two rows that come to say the same: the first keeps it.
    let twin = kit.insert_note("twin").await;
    kit.grow(&twin, "once").await;
    let other = kit.insert_note("twin").await;
    kit.grow(&other, "more").await;
    // A row of the session alone stands in nobody's way.
    let mut own = kit.note("last");
    own.memory.session_id = session("t");
    let mut grown = kit.note("Last");
    grown.memory.session_id = session("u");
    let grown_id = kit.insert(grown).await;
    kit.grow(&grown_id, "line").await;
    let own = kit.insert(own).await;

    let outcome = kit.forget_session(&session("t")).await;
    let expected = Outcome::Forgotten {
        memories: vec![own, shared, other],
        derived: vec![],
        rewritten: vec![twin.clone(), grown_id.clone()],
        observations: 0,
    };
    assert_eq!(outcome, expected);
    let left: Vec<_> = kit.everything().await.memories.into_iter().map(|stored| stored.memory).collect();
    assert_eq!(left.iter().map(|memory| &memory.memory_id).collect::<Vec<_>>(), [&owner, &twin, &grown_id]);
    assert_eq!(
        left.iter().map(|memory| memory.content.as_str()).collect::<Vec<_>>(),
        ["FIRST", "twin", "Last"]
    );
    assert_eq!(kit.lexical("twin").await, [twin]);
    kit.verify().await;
}

pub(super) async fn concepts_without_a_text_go_with_their_session(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut save = kit.note("the cache is warmed at boot");
    save.memory.concepts = concepts(&["cache"]);
    let memory_id = kit.insert(save).await;
    let link = async |session_id: &str, name: &str| {
        let memory = kit.memory(&memory_id).await;
        let mut merge = kit.merge(&memory, "warmed at boot");
        merge.text = None;
        merge.incoming_bytes = 0;
        merge.session_id = session(session_id);
        merge.concepts = concepts(&[name]);
        assert_eq!(kit.merged(merge).await, Outcome::Merged { memory_id: memory.memory_id });
    };
    link("t", "secret name").await;
    link("u", "boot").await;
    let before = kit.stored(&memory_id).await;
    let shared = kit.store.shared_memories(&home(), &session("t")).await.unwrap();
    assert_eq!(shared, std::slice::from_ref(&before));

    let outcome = kit.forget_session(&session("t")).await;
    let expected = Outcome::Forgotten {
        memories: vec![],
        derived: vec![],
        rewritten: vec![memory_id.clone()],
        observations: 0,
    };
    assert_eq!(outcome, expected);
    let after = kit.stored(&memory_id).await;
    assert_eq!((after.memory.concepts, after.concept_parts), (concepts(&["cache", "boot"]), vec![0, 1]));
    assert_eq!(after.memory.content, before.memory.content);
    assert!(kit.linked(&["secret name"]).await.is_empty());
    assert_eq!(kit.lexical("boot").await, std::slice::from_ref(&memory_id));

    // What is left has no text.
    assert_eq!(kit.forget_session(&session("s")).await, forgotten(&[memory_id]));
    assert!(kit.everything().await.memories.is_empty());
    kit.verify().await;
}

pub(super) async fn what_quotes_a_rewritten_memory_goes(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let shared = kit.insert_note("first").await;
    kit.grow(&shared, "a secret of the session").await;
    let summary = kit.insert(quoting(&kit, "summary: a secret", &[&shared])).await;
    let lesson = kit.insert(quoting(&kit, "lesson: a secret", &[&summary])).await;
    let unrelated = kit.insert_note("unrelated").await;

    let outcome = kit.forget_session(&session("t")).await;
    let expected = Outcome::Forgotten {
        memories: vec![],
        derived: vec![summary.clone(), lesson.clone()],
        rewritten: vec![shared.clone()],
        observations: 0,
    };
    assert_eq!(outcome, expected);
    assert!(kit.lexical("secret").await.is_empty());
    assert_eq!(kit.last_log_entry().await.targets, [summary, lesson, shared.clone()]);
    let rows = kit.store.session_memories(&live(None), &session("s"), MANY).await.unwrap();
    assert_eq!(rows.into_iter().map(|memory| memory.memory_id).collect::<Vec<_>>(), [unrelated, shared]);
}
