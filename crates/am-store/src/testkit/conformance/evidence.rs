//! Evidence: delivered once, kept, and gone when it must be.

use am_model::{Instant, MemoryId, MemoryKind, Observation, Origin, Verb};

use super::Factory;
use crate::testkit::kit::{Kit, START, event, forget, forgotten, home, project, session};
use crate::{Action, Outcome, Save};

/// A memory that a hook brought with its event.
fn captured(kit: &Kit, event_id: &str, text: &str) -> Save {
    let mut save = kit.note(text);
    save.memory.kind = MemoryKind::Observation;
    save.memory.origin = Origin::from_stored("hook:PostToolUse");
    save.observation = Some(event(event_id, text));
    save
}

/// Makes an event another one.
type ChangeEvent = fn(&mut Observation);

fn forgetting(event_id: &str) -> Action {
    Action::ForgetObservation { project: home(), event_id: event_id.to_owned() }
}

fn erased(memories: &[MemoryId], observations: u64) -> Outcome {
    let Outcome::Forgotten { memories, derived, rewritten, .. } = forgotten(memories) else { unreachable!() };
    Outcome::Forgotten { memories, derived, rewritten, observations }
}

pub(super) async fn an_event_counts_once_by_its_key(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let first = kit.insert(captured(&kit, "call-1", "ran the tests")).await;
    let before = kit.everything().await;
    let repeated = Outcome::Repeated { memory_id: Some(first.clone()) };

    let mut later = captured(&kit, "call-1", "another text");
    later.observation.as_mut().unwrap().at = Instant::from_millis(START + 1_000_000);
    later.observation.as_mut().unwrap().session_id = session("other");
    assert_eq!(kit.save(later).await, repeated, "the key alone decides");
    assert_eq!(
        kit.save(captured(&kit, "call-1", "ran the tests")).await,
        repeated,
        "before the text is looked at"
    );
    assert_eq!(kit.everything().await, before);

    let mut elsewhere = kit.note_of(&project("elsewhere"), "ran the tests");
    let observation = Observation { project: project("elsewhere"), ..event("call-1", "ran the tests") };
    elsewhere.observation = Some(observation);
    kit.insert(elsewhere).await;

    kit.forget(std::slice::from_ref(&first)).await;
    assert_eq!(kit.save(captured(&kit, "call-1", "ran the tests")).await, repeated, "gone or not");
}

pub(super) async fn an_event_of_two_hosts_counts_once_within_two_seconds(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let first = kit.insert(captured(&kit, "delivery:1", "ran the tests")).await;
    let second = |event_id: &str, change: &(dyn Fn(&mut Observation) + Sync)| {
        let mut observation = event(event_id, "ran the tests");
        change(&mut observation);
        let mut save = kit.note("what is saved with it does not matter");
        save.observation = Some(observation);
        save
    };
    let at = |millis: i64| Instant::from_millis(START + millis);

    for millis in [0, 1, 2_000, -2_000] {
        let outcome = kit.save(second("delivery:2", &|observation| observation.at = at(millis))).await;
        assert_eq!(outcome, Outcome::Repeated { memory_id: Some(first.clone()) }, "{millis} ms apart");
    }
    let others: [(&str, ChangeEvent); 7] = [
        ("delivery:3", |observation| observation.at = observation.at.plus_millis(2_001)),
        ("delivery:4", |observation| observation.at = observation.at.plus_millis(-2_001)),
        ("delivery:5", |observation| observation.text = Some("ran the tests again".to_owned())),
        ("delivery:6", |observation| observation.session_id = session("other")),
        ("delivery:7", |observation| observation.origin = Origin::from_stored("hook:Stop")),
        ("call-8", |_| ()),
        ("delivery:9", |observation| observation.text = None),
    ];
    for (event_id, change) in others {
        let outcome = kit.save(second(event_id, &change)).await;
        assert!(
            matches!(outcome, Outcome::Inserted { .. } | Outcome::Deduplicated { .. }),
            "{event_id} is an event of its own: {outcome:?}"
        );
    }
    assert_eq!(kit.everything().await.observations.len(), 1 + others.len());

    // Without a text there is nothing to be the same.
    let silent =
        ["delivery:10", "delivery:11"].map(|event_id| Observation { text: None, ..event(event_id, "") });
    let outcome = kit.commit(Action::Observe(silent.to_vec())).await;
    assert_eq!(outcome, Outcome::Observed { appended: 2, repeated: 0 });
}

pub(super) async fn a_dedup_hit_keeps_its_event(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let memory_id = kit.insert_note("ran the tests").await;
    let row = kit.stored(&memory_id).await;

    let outcome = kit.save(captured(&kit, "call-1", "ran the tests")).await;
    assert_eq!(outcome, Outcome::Deduplicated { memory_id: memory_id.clone() });
    assert_eq!(kit.stored(&memory_id).await, row);
    let kept = kit.observation("call-1").await;
    assert_eq!(kept.observation, event("call-1", "ran the tests"));
    assert_eq!(kept.memory_id, Some(memory_id.clone()));
    let entry = kit.last_log_entry().await;
    assert_eq!((entry.verb, entry.targets), (Verb::Observe, vec![memory_id.clone()]));

    let merge = crate::Merge {
        text: None,
        observation: Some(event("call-2", "tests")),
        ..kit.merge(&row.memory, "tests")
    };
    assert_eq!(kit.merged(merge).await, Outcome::Merged { memory_id: memory_id.clone() });
    assert_eq!(kit.observation("call-2").await.memory_id, Some(memory_id));
    kit.verify().await;
}

pub(super) async fn evidence_alone_is_appended_once(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let events = vec![
        event("call-1", "one"),
        event("call-2", "two"),
        event("call-1", "one again"),
        event("delivery:1", "three"),
        event("delivery:2", "three"),
    ];
    let outcome = kit.commit(Action::Observe(events.clone())).await;
    assert_eq!(outcome, Outcome::Observed { appended: 3, repeated: 2 });
    let everything = kit.everything().await;
    let kept: Vec<_> = everything.observations.iter().map(|stored| stored.observation.clone()).collect();
    assert_eq!(kept, [&events[0], &events[1], &events[3]].map(Clone::clone));
    assert!(everything.observations.iter().all(|stored| stored.memory_id.is_none()));
    assert_eq!(everything.log.len(), 1, "a batch is one mutation");
    assert_eq!(kit.last_log_entry().await.verb, Verb::Observe);

    let outcome = kit.commit(Action::Observe(events.clone())).await;
    assert_eq!(outcome, Outcome::Observed { appended: 0, repeated: 5 });
    assert_eq!(kit.commit(Action::Observe(vec![])).await, Outcome::Observed { appended: 0, repeated: 0 });
    assert_eq!(kit.everything().await, everything);

    let mut save = kit.note("a memory of an event that stands alone");
    save.observation = Some(event("call-1", "one"));
    assert_eq!(kit.save(save).await, Outcome::Repeated { memory_id: None });
}

pub(super) async fn a_forgotten_event_takes_what_rests_on_it_alone(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let captured_id = kit.insert(captured(&kit, "call-1", "the password is swordfish")).await;
    let mut summary = kit.note("summary: a password was typed");
    summary.memory.derived_from = vec![captured_id.clone()];
    let summary = kit.insert(summary).await;
    kit.commit(Action::Observe(vec![event("call-2", "bare evidence")])).await;

    let outcome = kit.commit(forgetting("call-1")).await;
    let expected = Outcome::Forgotten {
        memories: vec![captured_id.clone()],
        derived: vec![summary.clone()],
        rewritten: vec![],
        observations: 1,
    };
    assert_eq!(outcome, expected);
    assert!(!kit.is_there(&captured_id).await && !kit.is_there(&summary).await);
    assert_eq!(kit.observation("call-1").await.observation.text, None);
    let entry = kit.last_log_entry().await;
    assert_eq!((entry.verb, entry.targets), (Verb::Forget, vec![captured_id, summary]));

    assert_eq!(kit.commit(forgetting("call-2")).await, erased(&[], 1));
    assert_eq!(kit.observation("call-2").await.observation.text, None);
    let before = kit.everything().await;
    for unknown in ["call-1", "call-3", ""] {
        assert_eq!(kit.commit(forgetting(unknown)).await, erased(&[], 0), "{unknown:?} has nothing to erase");
    }
    let elsewhere =
        Action::ForgetObservation { project: project("elsewhere"), event_id: "call-2".to_owned() };
    assert_eq!(kit.commit(elsewhere).await, erased(&[], 0));
    assert_eq!(kit.everything().await, before);
    kit.verify().await;
}

pub(super) async fn a_forgotten_event_leaves_what_rests_on_more(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    // Saved on purpose first: a captured event of the same text does not own it.
    let note = kit.insert_note("deploy on Fridays").await;
    kit.save(captured(&kit, "call-1", "deploy on Fridays")).await;
    assert_eq!(kit.commit(forgetting("call-1")).await, erased(&[], 1));
    assert!(kit.is_there(&note).await);

    let twice = kit.insert(captured(&kit, "call-2", "ran the tests")).await;
    kit.save(captured(&kit, "call-3", "ran the tests")).await;
    assert_eq!(kit.commit(forgetting("call-2")).await, erased(&[], 1));
    assert!(kit.is_there(&twice).await, "the second event still says it");
    assert_eq!(kit.commit(forgetting("call-3")).await, erased(std::slice::from_ref(&twice), 1));
    assert!(!kit.is_there(&twice).await);

    // Captured by two hooks: it rests on neither alone, and on nothing once both are gone.
    let both = kit.insert(captured(&kit, "call-5", "linted")).await;
    let mut other = captured(&kit, "call-6", "linted");
    other.observation.as_mut().unwrap().origin = Origin::from_stored("hook:Stop");
    kit.save(other).await;
    assert_eq!(kit.commit(forgetting("call-5")).await, erased(&[], 1));
    assert_eq!(kit.commit(forgetting("call-6")).await, erased(std::slice::from_ref(&both), 1));

    let grown = kit.insert(captured(&kit, "call-4", "built the image")).await;
    kit.grow(&grown, "and pushed it").await;
    assert_eq!(kit.commit(forgetting("call-4")).await, erased(&[], 1));
    assert!(kit.is_there(&grown).await, "others' text was merged into it");
}

pub(super) async fn an_erased_line_leaves_no_digest_of_what_it_said(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let line = am_model::Observation {
        origin: Origin::from_stored("import:user"),
        ..event("import:9f86d081:0", "said in a transcript")
    };
    let save = Save { observation: Some(line), ..kit.note("said in a transcript") };
    let memory_id = kit.insert(save).await;
    kit.commit(Action::Forget(forget(&[memory_id]))).await;
    let observations = kit.everything().await.observations;
    assert_eq!(observations.len(), 1);
    let event_id = &observations[0].observation.event_id;
    assert!(event_id.starts_with("erased:") && !event_id.contains("9f86d081"), "{event_id}");
    assert_eq!(observations[0].observation.text, None);
    kit.verify().await;
}

pub(super) async fn old_evidence_can_be_purged_and_memories_stay(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let day = 86_400_000;
    let mut memories = Vec::new();
    for (age, text) in [(9, "nine days ago"), (8, "eight days ago"), (2, "two days ago")] {
        let at = Instant::from_millis(START - age * day);
        let observation = am_model::Observation { at, ..event(&format!("host:{age}"), text) };
        memories.push(kit.insert(Save { observation: Some(observation), ..kit.note(text) }).await);
    }
    let before = Instant::from_millis(START - 7 * day);
    let purge = |limit| Action::PurgeEvidence { before, limit };
    let purged = |observations| Outcome::Forgotten {
        memories: vec![],
        derived: vec![],
        rewritten: vec![],
        observations,
    };
    assert_eq!(kit.commit(purge(1)).await, purged(1));
    assert_eq!(kit.last_log_entry().await.verb, Verb::Purge);
    assert_eq!(kit.commit(purge(100)).await, purged(1));
    let log = kit.everything().await.log.len();
    assert_eq!(kit.commit(purge(100)).await, purged(0));
    let everything = kit.everything().await;
    assert_eq!(everything.log.len(), log, "nothing to purge is no change");
    assert_eq!(everything.observations.len(), 1);
    assert_eq!(everything.memories.len(), memories.len());
    kit.verify().await;
}

pub(super) async fn a_late_delivery_brings_nothing_back(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let by_id = kit.insert(captured(&kit, "call-1", "a secret of one memory")).await;
    let by_event = kit.insert(captured(&kit, "call-2", "a secret of one event")).await;
    let mut by_session = captured(&kit, "call-3", "a secret of one session");
    by_session.memory.session_id = session("t");
    by_session.observation.as_mut().unwrap().session_id = session("t");
    let by_session = kit.insert(by_session).await;
    kit.forget(std::slice::from_ref(&by_id)).await;
    kit.commit(forgetting("call-2")).await;
    kit.forget_session(&session("t")).await;

    let deliveries = [("call-1", by_id), ("call-2", by_event), ("call-3", by_session)];
    for (event_id, memory_id) in deliveries {
        let outcome = kit.save(captured(&kit, event_id, "delivered late")).await;
        assert_eq!(outcome, Outcome::Repeated { memory_id: Some(memory_id) });
        let outcome = kit.commit(Action::Observe(vec![event(event_id, "delivered late")])).await;
        assert_eq!(outcome, Outcome::Observed { appended: 0, repeated: 1 });
        assert_eq!(kit.observation(event_id).await.observation.text, None);
    }
    assert!(kit.everything().await.memories.is_empty());
}
