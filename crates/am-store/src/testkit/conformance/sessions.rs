//! Sessions and what they list.

use am_model::{Instant, Session, StoreId};

use super::Factory;
use crate::testkit::kit::{Kit, MANY, START, TICK, event, home, live, project, session};
use crate::{Action, Outcome};

pub(super) async fn a_session_begins_and_moves_with_its_memories(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let at = |tick: i64| Instant::from_millis(START + tick * TICK);
    let only = async || {
        let sessions = kit.store.sessions(&home(), MANY).await.unwrap();
        assert_eq!(sessions.len(), 1);
        (sessions[0].started_at, sessions[0].updated_at)
    };

    let first = kit.insert_note("first").await;
    assert_eq!(only().await, (at(1), at(1)));
    kit.insert_note("second").await;
    assert_eq!(only().await, (at(1), at(2)));

    let mut again = kit.note("first");
    again.observation = Some(event("call-1", "first"));
    kit.save(again).await;
    let mut merge = kit.merge(&kit.memory(&first).await, "third");
    merge.session_id = session("s");
    assert!(matches!(kit.merged(merge).await, Outcome::Merged { .. }));
    kit.grow(&first, "fourth").await;
    kit.commit(Action::Observe(vec![event("call-2", "evidence makes no session")])).await;
    assert_eq!(only().await, (at(1), at(2)), "only an inserted memory makes or moves a session");

    let late = Action::Save(Box::new(kit.note("from a clock that is behind")));
    kit.try_commit_at(at(-100), late).await.unwrap();
    assert_eq!(only().await, (at(1), at(2)), "a session never moves back");
}

pub(super) async fn sessions_of_two_projects_share_no_row(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    kit.insert_note("here").await;
    let there = kit.insert(kit.note_of(&project("there"), "there")).await;

    for name in ["home", "there"] {
        let sessions = kit.store.sessions(&project(name), MANY).await.unwrap();
        let [Session { session_id, project: of, .. }] = sessions.as_slice() else { panic!("{sessions:?}") };
        assert_eq!((session_id, of), (&session("s"), &project(name)));
    }
    kit.forget_session(&session("s")).await;
    assert!(kit.store.sessions(&home(), MANY).await.unwrap().is_empty());
    assert_eq!(kit.store.sessions(&project("there"), MANY).await.unwrap().len(), 1);
    assert!(kit.is_there(&there).await);
}

pub(super) async fn listings_come_newest_first_and_hide_expired_rows(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut saved = Vec::new();
    for number in 0..6 {
        let mut save = kit.note(&format!("text {number}"));
        save.memory.session_id = session(if number % 2 == 0 { "even" } else { "odd" });
        saved.push(kit.insert(save).await);
    }
    let sessions = kit.store.sessions(&home(), MANY).await.unwrap();
    let names: Vec<&str> = sessions.iter().map(|session| session.session_id.as_str()).collect();
    assert_eq!(names, ["odd", "even"], "newest created first, whichever moved last");
    assert!(sessions[0].id > sessions[1].id && sessions[1].id > StoreId(0));

    assert_eq!(kit.listed("even").await, [&saved[4], &saved[2], &saved[0]].map(Clone::clone));
    assert!(kit.listed("neither").await.is_empty());
    let bound = kit.memory(&saved[2]).await.created_at;
    let rows = kit.store.session_memories(&live(Some(bound)), &session("even"), MANY).await.unwrap();
    let shown: Vec<_> = rows.iter().map(|memory| memory.memory_id.clone()).collect();
    assert_eq!(shown, [saved[4].clone(), saved[2].clone()]);

    // A revived row is young again and keeps its place.
    let mut again = kit.note("text 0");
    again.expired_before = Some(bound);
    assert_eq!(kit.save(again).await, Outcome::Revived { memory_id: saved[0].clone() });
    let rows = kit.store.session_memories(&live(Some(bound)), &session("even"), 2).await.unwrap();
    let shown: Vec<_> = rows.iter().map(|memory| memory.memory_id.clone()).collect();
    assert_eq!(shown, [saved[4].clone(), saved[2].clone()]);
    let counts = kit.store.counts(&home()).await.unwrap();
    assert_eq!((counts.memories, counts.sessions), (6, 2), "counts hide nothing");
}
