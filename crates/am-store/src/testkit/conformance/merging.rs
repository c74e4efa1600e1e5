//! Merges: what a survivor becomes, and when it is left alone.

use am_model::{Memory, Verb};

use super::Factory;
use crate::testkit::kit::{Kit, START, TICK, concepts, event, home, ids, session};
use crate::{Merge, Outcome, Part, SearchQuery};

fn merged(memory: &Memory) -> Outcome {
    Outcome::Merged { memory_id: memory.memory_id.clone() }
}

pub(super) async fn a_merged_text_takes_the_place_of_the_old_one(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut save = kit.note("retry with backoff");
    save.memory.concepts = concepts(&["retry"]);
    let memory_id = kit.insert(save).await;
    let decoy = kit.insert_note("backoff").await;
    let before = kit.memory(&memory_id).await;
    let score = async |text: &str| {
        let reply = kit.search(SearchQuery { vector: None, ..kit.query(text) }).await;
        let place = ids(&reply, &reply.lexical).iter().position(|id| *id == memory_id);
        place.map(|place| reply.lexical.as_ref().unwrap()[place].score)
    };
    let old_score = score("backoff").await.unwrap();
    assert_eq!(score("jitter").await, None);

    let merge = kit.merge(&before, "and full jitter");
    assert_eq!(kit.merged(merge).await, merged(&before));

    let after = kit.memory(&memory_id).await;
    assert_eq!(after.content, "retry with backoff\nand full jitter");
    let unchanged = Memory { content: before.content.clone(), version: before.version, ..after.clone() };
    assert_eq!(unchanged, before, "all but text and version stays");
    assert_eq!(after.version, 2);

    assert!(score("jitter").await.is_some());
    assert!(score("backoff").await.unwrap() < old_score, "the row is longer now");
    let vector = SearchQuery { terms: None, ..kit.query("retry with backoff\nand full jitter") };
    let reply = kit.search(vector).await;
    assert_eq!(ids(&reply, &reply.vector), [memory_id.clone(), decoy]);
    assert!(reply.vector.unwrap()[0].score > 0.999, "the vector is the merged text's");

    let grown = kit.save(kit.note("retry with backoff\nand full jitter")).await;
    assert_eq!(grown, Outcome::Deduplicated { memory_id: memory_id.clone() });
    kit.insert_note("retry with backoff").await;
    let entry = kit.everything().await.log[2].entry.clone();
    assert_eq!((entry.verb, entry.targets), (Verb::Merge, vec![memory_id]));
    kit.verify().await;
}

pub(super) async fn merging_keeps_the_parts_in_order(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let part = |name: &str, text: &str, tick: i64| Part {
        session_id: session(name),
        bytes: text.len(),
        at: am_model::Instant::from_millis(START + tick * TICK),
    };
    // White space at the end of the survivor is cut when it grows.
    let memory_id = kit.insert_note("größe  \u{3000}").await;
    let survivor = kit.memory(&memory_id).await;
    let mut merge = kit.merge(&survivor, "straße");
    merge.text = Some(kit.text(&home(), "größe\nstraße"));
    merge.observation = Some(event("call-1", "straße"));
    assert_eq!(kit.merged(merge).await, merged(&survivor));
    let mut merge = kit.merge(&kit.memory(&memory_id).await, "two\nlines");
    merge.session_id = session("u");
    assert_eq!(kit.merged(merge).await, merged(&survivor));

    let stored = kit.stored(&memory_id).await;
    assert_eq!(stored.memory.content, "größe\nstraße\ntwo\nlines");
    assert_eq!(stored.parts, [part("s", "größe", 1), part("t", "straße", 2), part("u", "two\nlines", 3)]);
    assert_eq!(kit.observation("call-1").await.memory_id, Some(memory_id.clone()));

    let shared = async |name: &str| kit.store.shared_memories(&home(), &session(name)).await.unwrap();
    for name in ["s", "t", "u"] {
        assert_eq!(shared(name).await, std::slice::from_ref(&stored));
    }
    assert!(shared("v").await.is_empty());
    assert_eq!(kit.listed("s").await, [memory_id]);
    assert!(kit.listed("t").await.is_empty(), "a part makes no row of its session");

    let own = kit.insert_note("of one session").await;
    let mut merge = kit.merge(&kit.memory(&own).await, "twice");
    merge.session_id = session("s");
    kit.merged(merge).await;
    assert_eq!(shared("s").await, [stored], "parts of one session are not shared");
}

pub(super) async fn merging_links_missing_concepts_once(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut save = kit.note("first");
    save.memory.concepts = concepts(&["b", "a", "b"]);
    let memory_id = kit.insert(save).await;
    let mut merge = kit.merge(&kit.memory(&memory_id).await, "second");
    merge.concepts = concepts(&["c", "a", "c", "B"]);
    assert!(matches!(kit.merged(merge).await, Outcome::Merged { .. }));

    let stored = kit.stored(&memory_id).await;
    assert_eq!(stored.memory.concepts, concepts(&["b", "a", "b", "c", "B"]));
    assert_eq!(stored.concept_parts, [0, 0, 0, 1, 1]);
    assert_eq!(kit.linked(&["c"]).await, [memory_id]);
    assert_eq!(kit.store.statistics().await.unwrap().concepts, 4);
}

pub(super) async fn merging_without_a_text_links_only(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let memory_id = kit.insert_note("the cache is warmed at boot").await;
    kit.grow(&memory_id, "by a timer").await;
    let before = kit.stored(&memory_id).await;
    let linking = |memory: &Memory, names: &[&str]| Merge {
        text: None,
        incoming_bytes: 0,
        concepts: concepts(names),
        ..kit.merge(memory, "warmed at boot")
    };

    assert_eq!(kit.merged(linking(&before.memory, &["cache"])).await, merged(&before.memory));
    let after = kit.stored(&memory_id).await;
    assert_eq!(after.memory.version, before.memory.version + 1);
    assert_eq!(after.memory.concepts, concepts(&["cache"]));
    let brought =
        Part { session_id: session("t"), bytes: 0, at: am_model::Instant::from_millis(START + 3 * TICK) };
    assert_eq!(
        after.parts,
        [before.parts.clone(), vec![brought]].concat(),
        "a part of no bytes tells who linked"
    );
    assert_eq!((after.concept_parts, &after.memory.content), (vec![2], &before.memory.content));
    assert_eq!((after.dedup_key, &after.vector), (before.dedup_key, &before.vector));
    assert_eq!(kit.linked(&["cache"]).await, std::slice::from_ref(&memory_id));
    assert_eq!(kit.lexical("timer").await, [memory_id]);

    let everything = kit.everything().await;
    assert_eq!(kit.merged(linking(&after.memory, &["cache"])).await, merged(&after.memory));
    assert_eq!(kit.everything().await, everything, "nothing was missing");

    // A text that comes later stands after the pieces that have bytes.
    kit.grow(&after.memory.memory_id, "twice a day").await;
    let grown = kit.stored(&after.memory.memory_id).await;
    assert_eq!(grown.parts.iter().map(|part| part.bytes).collect::<Vec<_>>(), [27, 10, 0, 11]);
    kit.verify().await;
}

pub(super) async fn a_survivor_that_changed_is_not_merged_into(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let memory_id = kit.insert_note("first").await;
    let seen = kit.memory(&memory_id).await;
    kit.grow(&memory_id, "second").await;
    let now = kit.stored(&memory_id).await;
    let before = kit.everything().await;

    let outcome = kit.merged(kit.merge(&seen, "third")).await;
    assert_eq!(outcome, Outcome::Changed { now: vec![now.clone()] });
    let linking = Merge { text: None, concepts: concepts(&["c"]), ..kit.merge(&seen, "third") };
    assert_eq!(kit.merged(linking).await, Outcome::Changed { now: vec![now.clone()] });
    assert_eq!(kit.everything().await, before);

    assert_eq!(kit.merged(kit.merge(&now.memory, "third")).await, merged(&seen));
    kit.forget(&[memory_id]).await;
    let gone = kit.merged(kit.merge(&now.memory, "fourth")).await;
    assert_eq!(gone, Outcome::Changed { now: vec![] });
}

pub(super) async fn a_merged_text_that_is_another_rows_is_not_written(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let memory_id = kit.insert_note("first").await;
    let mut owner = kit.note("FIRST second");
    owner.memory.concepts = concepts(&["owner"]);
    let owner = kit.insert(owner).await;
    let before = kit.everything().await;
    let survivor = kit.memory(&memory_id).await;

    let outcome = kit.merged(kit.merge(&survivor, "second")).await;
    assert_eq!(outcome, Outcome::KeyTaken { memory: Box::new(kit.memory(&owner).await) });
    assert_eq!(kit.everything().await, before);
}

pub(super) async fn merging_what_was_said_before_is_no_merge(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let memory_id = kit.insert_note("first").await;
    let mut said = kit.note("second");
    said.observation = Some(event("call-1", "second"));
    let said = kit.insert(said).await;
    let survivor = kit.memory(&memory_id).await;
    let before = kit.everything().await;

    let mut repeated = kit.merge(&survivor, "third");
    repeated.observation = Some(event("call-1", "third"));
    assert_eq!(kit.merged(repeated).await, Outcome::Repeated { memory_id: Some(said.clone()) });
    let there = Outcome::Deduplicated { memory_id: said.clone() };
    assert_eq!(kit.merged(kit.merge(&survivor, "Second")).await, there);
    let mut stale = kit.merge(&survivor, "second");
    stale.version += 1;
    assert_eq!(kit.merged(stale).await, there, "the key is looked at first");
    assert_eq!(kit.everything().await, before);

    let mut expired = kit.merge(&survivor, "second");
    expired.expired_before = Some(kit.memory(&said).await.created_at.plus_millis(1));
    expired.observation = Some(event("call-2", "second"));
    assert_eq!(kit.merged(expired).await, Outcome::Revived { memory_id: said.clone() });
    assert_eq!(kit.memory(&memory_id).await, survivor);
    assert_eq!(kit.observation("call-2").await.memory_id, Some(said));
}
