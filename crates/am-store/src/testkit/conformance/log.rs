//! The log: whole chains, and nothing in them that could be guessed from.

use am_model::{Actor, Channel, Instant, MemoryId, Verb};

use super::Factory;
use crate::chain::{FIRST, digest_of, keyed_digest};
use crate::testkit::kit::{Kit, START, TICK, concepts, event, forget, home, session};
use crate::{Action, Forget, Import, Outcome};

/// Does one of everything that is logged; returns what the log should say.
async fn one_of_everything(kit: &Kit) -> Vec<(Verb, Vec<MemoryId>)> {
    let first = kit.insert_note("swordfish one").await;
    kit.grow(&first, "swordfish grown").await;
    let mut again = kit.note("swordfish one\nswordfish grown");
    again.expired_before = Some(Instant::from_millis(START + TICK + 1));
    assert!(matches!(kit.save(again).await, Outcome::Revived { .. }));
    kit.commit(Action::Observe(vec![event("swordfish-call", "swordfish seen")])).await;
    kit.commit(Action::ForgetObservation { project: home(), event_id: "swordfish-call".to_owned() }).await;
    let second = kit.insert_note("swordfish two").await;
    let delete = Forget {
        verb: Verb::Delete,
        reason: Some("a stated reason".to_owned()),
        ..forget(std::slice::from_ref(&second))
    };
    kit.commit(Action::Forget(delete)).await;
    kit.forget_session(&session("t")).await;
    let third = kit.insert_note("swordfish three").await;
    kit.forget(&[third.clone(), first.clone()]).await;
    vec![
        (Verb::Remember, vec![first.clone()]),
        (Verb::Merge, vec![first.clone()]),
        (Verb::Revive, vec![first.clone()]),
        (Verb::Observe, vec![]),
        (Verb::Forget, vec![]),
        (Verb::Remember, vec![second.clone()]),
        (Verb::Delete, vec![second]),
        (Verb::Forget, vec![first.clone()]),
        (Verb::Remember, vec![third.clone()]),
        (Verb::Forget, vec![third, first]),
    ]
}

pub(super) async fn every_mutation_is_one_row_of_a_whole_chain(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let expected = one_of_everything(&kit).await;
    let log = kit.everything().await.log;
    let said: Vec<_> = log.iter().map(|row| (row.entry.verb, row.entry.targets.clone())).collect();
    assert_eq!(said, expected);

    let mut previous = FIRST;
    for (number, row) in log.iter().enumerate() {
        let entry = &row.entry;
        assert_eq!(entry.writer, log[0].entry.writer);
        assert_eq!(entry.sequence, number as i64 + 1, "without holes");
        assert_eq!(entry.previous, previous);
        previous = digest_of(entry);
        assert_eq!((entry.actor.clone(), entry.channel), (Actor("tester".to_owned()), Channel::Library));
        assert_eq!(entry.at, Instant::from_millis(START + (number as i64 + 1) * TICK));
        let reason = match number {
            6 => Some("a stated reason"),
            7 => Some("asked to"),
            _ => None,
        };
        assert_eq!(entry.reason.as_deref(), reason);
    }
    let report = kit.store.verify().await.unwrap();
    assert_eq!((report.log_entries, report.chains, report.memories), (log.len() as u64, 1, 0));
    assert_eq!(report.faults, []);
    assert_eq!(kit.store.statistics().await.unwrap().log_entries, log.len() as u64);

    // Chains that are copied stay as they are beside the copy's own.
    let copy = Kit::new(factory).await;
    copy.insert_note("own").await;
    copy.commit(Action::Import(Box::new(Import { log: log.clone(), ..Import::default() }))).await;
    copy.insert_note("after").await;
    let copied = copy.everything().await.log;
    let sealed: Vec<_> = copied.iter().filter(|row| row.entry.writer == log[0].entry.writer).collect();
    assert!(sealed.iter().map(|row| &row.entry).eq(log.iter().map(|row| &row.entry)));
    let own: Vec<_> = copied.iter().filter(|row| row.entry.writer != log[0].entry.writer).collect();
    assert_eq!(own.iter().map(|row| row.entry.sequence).collect::<Vec<_>>(), [1, 2], "copied without a word");
    let report = copy.store.verify().await.unwrap();
    assert_eq!((report.chains, report.faults), (2, vec![]));
}

pub(super) async fn digests_follow_a_memory_through_its_life(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut save = kit.note("first");
    save.memory.concepts = concepts(&["a"]);
    let memory_id = kit.insert(save).await;
    let digest = async || {
        let stored = kit.stored(&memory_id).await;
        keyed_digest(&stored.digest_key, &stored.memory)
    };
    let key = kit.stored(&memory_id).await.digest_key;
    let inserted = kit.last_log_entry().await;
    let mut before = digest().await;
    assert_eq!((inserted.before, inserted.after), (None, Some(before)));

    kit.grow(&memory_id, "second").await;
    let mut linked = crate::Merge { text: None, ..kit.merge(&kit.memory(&memory_id).await, "second") };
    let mut revived = kit.note("first\nsecond");
    revived.expired_before = Some(Instant::from_millis(START + 1_000_000));
    for step in ["grown", "linked", "revived", "rewritten"] {
        match step {
            "linked" => {
                linked.concepts = concepts(&["b"]);
                kit.merged(linked.clone()).await;
            }
            "revived" => {
                kit.save(revived.clone()).await;
            }
            "rewritten" => {
                assert_eq!(kit.stored(&memory_id).await.digest_key, key, "one key for one row");
                kit.forget_session(&session("t")).await;
            }
            _ => {}
        }
        let entry = kit.last_log_entry().await;
        assert_eq!((entry.before, entry.after), (Some(before), Some(digest().await)), "{step}");
        assert_ne!(entry.before, entry.after);
        before = digest().await;
    }
    assert_ne!(kit.stored(&memory_id).await.digest_key, key, "with it, what was taken out could be guessed");
    let other = kit.insert_note("other").await;
    assert_ne!(kit.stored(&other).await.digest_key, key, "each row its own");

    kit.forget(std::slice::from_ref(&memory_id)).await;
    let entry = kit.last_log_entry().await;
    assert_eq!((entry.before, entry.after), (Some(before), None));
    let second = kit.insert_note("second").await;
    kit.forget(&[other, second]).await;
    let entry = kit.last_log_entry().await;
    assert_eq!((entry.before, entry.after), (None, None), "not where several went");
}

pub(super) async fn content_never_enters_the_log(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    one_of_everything(&kit).await;
    let log = kit.everything().await.log;
    let said = format!("{log:?}");
    assert!(!said.contains("swordfish"), "neither texts nor event keys");

    // The same text twice, in two lives, leaves no two equal digests.
    let first = kit.insert_note("the same text").await;
    let first_entry = kit.last_log_entry().await;
    kit.forget(&[first]).await;
    kit.insert_note("the same text").await;
    assert_ne!(kit.last_log_entry().await.after, first_entry.after);
}

pub(super) async fn what_writes_nothing_is_not_logged(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let memory_id = kit.insert_note("first").await;
    let memory = kit.memory(&memory_id).await;
    let before = kit.everything().await;

    kit.save(kit.note("First")).await;
    kit.merged(crate::Merge { text: None, ..kit.merge(&memory, "irst") }).await;
    kit.merged(crate::Merge { version: 9, ..kit.merge(&memory, "second") }).await;
    kit.forget(&[MemoryId::random()]).await;
    kit.forget_session(&session("unknown")).await;
    kit.commit(Action::Observe(vec![])).await;
    kit.commit(Action::ForgetObservation { project: home(), event_id: "unknown".to_owned() }).await;
    kit.commit(Action::Import(Box::default())).await;
    kit.store.verify().await.unwrap();
    assert_eq!(kit.everything().await, before);
}
