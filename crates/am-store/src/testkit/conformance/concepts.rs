//! Concepts: what they rank, and how long they are there.

use am_model::MemoryId;

use super::Factory;
use crate::testkit::kit::{Kit, MANY, concepts, home, ids, live, project, session};
use crate::{LiveMemory, Outcome, SearchQuery};

async fn insert(kit: &Kit, content: &str, names: &[&str]) -> MemoryId {
    let mut save = kit.note(content);
    save.memory.concepts = concepts(names);
    kit.insert(save).await
}

pub(super) async fn concepts_are_ranked_in_creation_order(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let first = insert(&kit, "one", &["zebra"]).await;
    let second = insert(&kit, "two", &["apple", "zebra"]).await;
    let third = insert(&kit, "three", &["mango", "apple"]).await;
    let fourth = insert(&kit, "four", &["zebra"]).await;

    assert_eq!(kit.linked(&["zebra"]).await, [&first, &second, &fourth].map(Clone::clone));
    assert_eq!(kit.linked(&["apple"]).await, [&second, &third].map(Clone::clone));
    let all = [&first, &second, &fourth, &third].map(Clone::clone);
    for asked in [["mango", "apple", "zebra"], ["zebra", "mango", "apple"], ["apple", "zebra", "mango"]] {
        assert_eq!(kit.linked(&asked).await, all, "the order of the request does not matter");
    }
    assert_eq!(
        kit.linked(&["apple", "apple", "unknown", "mango"]).await,
        [&second, &third].map(Clone::clone)
    );
    assert!(kit.linked(&["Zebra"]).await.is_empty(), "names are compared exactly");

    // A later link to an early row keeps the order of the store ids.
    let mut merge = kit.merge(&kit.memory(&first).await, "grown");
    merge.concepts = concepts(&["mango"]);
    assert!(matches!(kit.merged(merge).await, Outcome::Merged { .. }));
    assert_eq!(kit.linked(&["mango"]).await, [first, third]);

    let query = SearchQuery { vector: None, concepts: concepts(&["zebra", "mango"]), ..kit.query("two") };
    let reply = kit.search(SearchQuery { per_arm: 2, ..query }).await;
    let hits = reply.concept.as_ref().unwrap();
    assert_eq!(hits.len(), 2, "the cut comes last");
    assert!(hits.iter().all(|hit| hit.score == 0.0 && hit.distance.is_none()));
    assert_eq!(ids(&reply, &reply.lexical), [second]);
}

pub(super) async fn concepts_belong_to_a_project(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut elsewhere = kit.note_of(&project("elsewhere"), "elsewhere");
    elsewhere.memory.concepts = concepts(&["late", "early"]);
    let elsewhere = kit.insert(elsewhere).await;
    let early = insert(&kit, "early", &["early"]).await;
    let late = insert(&kit, "late", &["late"]).await;

    assert_eq!(kit.linked(&["late", "early"]).await, [early.clone(), late.clone()]);
    kit.forget(&[elsewhere]).await;
    assert_eq!(
        kit.linked(&["late", "early"]).await,
        [early, late],
        "another project's order and rows don't matter"
    );
    assert_eq!(kit.store.statistics().await.unwrap().concepts, 2);
}

pub(super) async fn a_concept_goes_with_its_last_memory(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let count = async || kit.store.statistics().await.unwrap().concepts;
    let first = insert(&kit, "one", &["first", "both"]).await;
    let second = insert(&kit, "two", &["second", "both"]).await;
    assert_eq!(kit.linked(&["second", "first"]).await, [first.clone(), second.clone()]);
    assert_eq!(count().await, 3);

    kit.forget(std::slice::from_ref(&first)).await;
    assert_eq!(count().await, 2);
    assert!(kit.linked(&["first"]).await.is_empty());
    assert_eq!(kit.linked(&["both"]).await, std::slice::from_ref(&second));

    let third = insert(&kit, "three", &["first"]).await;
    let anew = [second.clone(), third.clone()];
    assert_eq!(kit.linked(&["first", "second"]).await, anew, "made anew, it comes after the others");

    // A part that goes takes its links, and the concept that only they kept.
    let mut merge = kit.merge(&kit.memory(&third).await, "four");
    merge.concepts = concepts(&["brief"]);
    kit.merged(merge).await;
    assert_eq!((count().await, kit.linked(&["brief"]).await.len()), (4, 1));
    kit.forget_session(&session("t")).await;
    assert_eq!((count().await, kit.linked(&["brief"]).await.len()), (3, 0));
    assert_eq!(kit.memory(&third).await.concepts, concepts(&["first"]));
    kit.forget(&anew).await;
    assert_eq!(count().await, 0);
}

pub(super) async fn concepts_are_kept_as_given(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let names = ["b", "a", "B", "b", "caf\u{e9}", "cafe\u{301}", "a", "b "];
    let memory_id = insert(&kit, "text", &names).await;
    assert_eq!(kit.memory(&memory_id).await.concepts, concepts(&names));
    assert_eq!(kit.stored(&memory_id).await.concept_parts, vec![0; names.len()]);
    assert_eq!(kit.store.statistics().await.unwrap().concepts, 6);
    for name in names {
        assert_eq!(kit.linked(&[name]).await, std::slice::from_ref(&memory_id));
    }

    let rows = kit.store.session_memories(&live(None), &session("s"), MANY).await.unwrap();
    assert!(rows[0].concepts.is_empty(), "listings leave them out");
    let bound = rows[0].created_at.plus_millis(1);
    let query = SearchQuery {
        live: LiveMemory { project: home(), expired_before: Some(bound) },
        concepts: concepts(&["a", "b"]),
        terms: None,
        vector: None,
        ..kit.query("")
    };
    let reply = kit.search(query).await;
    assert!(ids(&reply, &reply.concept).is_empty());
    assert_eq!(reply.hidden, 1, "an expired row counts once");
}
