//! Reads beside searches: pages, lookups, counts, identity.

use am_embed::analysis::Profile;
use am_embed::embedder::Embedder as _;
use am_embed::hash::HashEmbedder;
use am_model::{MemoryId, StoreId};

use super::Factory;
use crate::testkit::kit::{Kit, MANY, concepts, event, home, project, session};
use crate::{Action, Scope};

/// Walks pages of `limit` rows to the end.
async fn walk<T: PartialEq + std::fmt::Debug>(
    limit: usize,
    id_of: impl Fn(&T) -> StoreId,
    page: impl AsyncFn(StoreId) -> Vec<T>,
) -> Vec<T> {
    let mut rows: Vec<T> = Vec::new();
    loop {
        let after = rows.last().map_or(StoreId(0), &id_of);
        let next = page(after).await;
        let is_last = next.len() < limit;
        assert!(next.len() <= limit);
        assert!(next.iter().all(|row| id_of(row) > after), "a page starts after the last one");
        rows.extend(next);
        assert!(rows.windows(2).all(|pair| id_of(&pair[0]) < id_of(&pair[1])), "by id ascending");
        if is_last {
            assert!(page(rows.last().map_or(StoreId(0), &id_of)).await.is_empty());
            return rows;
        }
    }
}

pub(super) async fn pages_walk_everything_once(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    for number in 0..7 {
        let name = project(["home", "other"][number % 2]);
        let mut save = kit.note_of(&name, &format!("text {number}"));
        save.memory.session_id = session(&format!("s{number}"));
        let mut observation = event(&format!("call-{number}"), "seen");
        observation.project = name;
        save.observation = Some(observation);
        kit.insert(save).await;
    }
    let middle = kit.everything().await.memories[2].memory.memory_id.clone();
    kit.forget(&[middle]).await;
    let everything = kit.everything().await;
    assert_eq!((everything.memories.len(), everything.sessions.len()), (6, 7));
    assert_eq!((everything.observations.len(), everything.log.len()), (7, 8));

    let store = &kit.store;
    for scope in [Scope::AllProjects, Scope::Project(home()), Scope::Project(project("unknown"))] {
        let is_in = |of: &am_model::Project| match &scope {
            Scope::AllProjects => true,
            Scope::Project(name) => name == of,
        };
        for limit in [1, 2, 3, 7, MANY] {
            let sessions = walk(
                limit,
                |row: &am_model::Session| row.id,
                async |after| store.sessions_page(&scope, after, limit).await.unwrap(),
            );
            let mut expected = everything.sessions.clone();
            expected.retain(|row| is_in(&row.project));
            assert_eq!(sessions.await, expected);

            let memories = walk(
                limit,
                |row: &crate::StoredMemory| row.memory.id,
                async |after| store.memories_page(&scope, after, limit).await.unwrap(),
            );
            let mut expected = everything.memories.clone();
            expected.retain(|row| is_in(&row.memory.project));
            assert_eq!(memories.await, expected);

            let observations = walk(
                limit,
                |row: &crate::StoredObservation| row.id,
                async |after| store.observations_page(&scope, after, limit).await.unwrap(),
            );
            let mut expected = everything.observations.clone();
            expected.retain(|row| is_in(&row.observation.project));
            assert_eq!(observations.await, expected);
        }
    }
    for limit in [1, 3, MANY] {
        let log = walk(
            limit,
            |row: &crate::StoredLogEntry| row.id,
            async |after| store.log_page(after, limit).await.unwrap(),
        );
        assert_eq!(log.await, everything.log);
    }
}

pub(super) async fn memories_come_in_the_order_asked(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut save = kit.note("first");
    save.memory.concepts = concepts(&["b", "a"]);
    let first = kit.insert(save).await;
    let second = kit.insert_note("second").await;
    let elsewhere = kit.insert(kit.note_of(&project("elsewhere"), "third")).await;
    let asked = [elsewhere.clone(), MemoryId::random(), second.clone(), first.clone()];
    let found = kit.store.memories(&asked).await.unwrap();
    let names: Vec<_> = found.iter().map(|memory| memory.memory_id.clone()).collect();
    assert_eq!(names, [elsewhere, second, first.clone()]);
    assert_eq!(found[2].concepts, concepts(&["b", "a"]));
    assert!(kit.store.memories(&[]).await.unwrap().is_empty());

    let mut many: Vec<MemoryId> =
        (0..3_000).map(|number| MemoryId::from_stored(format!("m{number}"))).collect();
    many.push(first.clone());
    let found = kit.store.memories(&many).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].memory_id, first);
}

pub(super) async fn projects_are_those_that_hold_something(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    assert!(kit.store.projects().await.unwrap().is_empty());
    let names = async || {
        let projects = kit.store.projects().await.unwrap();
        projects.into_iter().map(am_model::Project::into_string).collect::<Vec<_>>()
    };
    let memory_id = kit.insert(kit.note_of(&project("b"), "text")).await;
    let mut observation = event("call-1", "seen");
    observation.project = project("é");
    kit.commit(Action::Observe(vec![observation])).await;
    kit.insert(kit.note_of(&project("Z"), "text")).await;
    kit.insert(kit.note_of(&project("a"), "text")).await;
    assert_eq!(names().await, ["Z", "a", "b", "é"], "in code point order");

    kit.forget(&[memory_id]).await;
    assert_eq!(names().await, ["Z", "a", "b", "é"], "the session is left");
    let forget = crate::ForgetSession {
        project: project("b"),
        session_id: session("s"),
        rewrites: vec![],
        reason: None,
    };
    kit.commit(Action::ForgetSession(forget)).await;
    assert_eq!(names().await, ["Z", "a", "é"]);
    assert_eq!(kit.store.counts(&project("b")).await.unwrap(), am_model::Counts::default());
    assert_eq!(kit.store.counts(&project("never seen")).await.unwrap(), am_model::Counts::default());
    assert_eq!(kit.store.statistics().await.unwrap().projects, 3);
}

pub(super) async fn statistics_count_what_is_there(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let empty = kit.store.statistics().await.unwrap();
    assert_eq!((empty.projects, empty.memories, empty.observations, empty.log_entries), (0, 0, 0, 0));
    let mut save = kit.note("größer");
    save.memory.concepts = concepts(&["a", "b", "a"]);
    save.observation = Some(event("call-1", "größer"));
    let first = kit.insert(save).await;
    let mut save = kit.note_of(&project("other"), "!!!");
    save.memory.concepts = concepts(&["a"]);
    kit.insert(save).await;
    kit.commit(Action::Observe(vec![event("call-2", "\u{1f980}")])).await;

    let seen = kit.store.statistics().await.unwrap();
    assert_eq!((seen.projects, seen.sessions, seen.memories, seen.vectors), (2, 2, 2, 1));
    assert_eq!((seen.concepts, seen.observations, seen.log_entries), (3, 2, 3));
    assert_eq!(seen.observation_bytes, "größer\u{1f980}".len() as u64);
    kit.forget(&[first]).await;
    let seen = kit.store.statistics().await.unwrap();
    assert_eq!((seen.projects, seen.sessions, seen.memories, seen.vectors), (2, 2, 1, 0));
    assert_eq!((seen.concepts, seen.observations, seen.log_entries), (1, 2, 4));
    assert_eq!(seen.observation_bytes, "\u{1f980}".len() as u64);
}

pub(super) async fn a_store_says_what_it_is(factory: &dyn Factory) {
    let mut seen = Vec::new();
    for profile in [Profile::Default, Profile::Contract] {
        let kit = Kit::of(factory, profile).await;
        let identity = kit.store.identity().await.unwrap();
        assert_eq!(identity.profile, profile);
        assert_eq!(identity.analysis, kit.analysis().id());
        assert_eq!(identity.embedder, HashEmbedder::new().id().to_string());
        kit.insert_note("text").await;
        assert_eq!(kit.store.identity().await.unwrap(), identity);
        assert_eq!(factory.open(&kit.place).await.identity().await.unwrap(), identity);
        seen.push(identity.uuid);
    }
    assert_ne!(seen[0], seen[1]);
}
