//! Losing against other writers.

use std::sync::Arc;

use am_embed::analysis::Profile;
use am_model::{Actor, Channel, Instant, MemoryId, Origin, Verb};
use am_service::{Remember, ServiceError, Settings};
use am_store::{Action, Audit, Change, Forget, Outcome, Store as _, StoreError, StoreIdentity};

use crate::double::{Double, Step};
use crate::support::{Fixture, caller, forty_words, project, request, session};

/// Makes the change of another writer.
fn by_another(action: Action) -> Change {
    let audit = Audit { at: Instant::default(), actor: Actor("test".to_owned()), channel: Channel::Cli };
    Change { audit, analysis: None, action }
}

fn lost() -> Step {
    Step::Answer(Ok(Outcome::Changed { now: vec![] }))
}

async fn fixture() -> (Arc<Double>, Fixture) {
    let double = Arc::new(Double::new(Profile::Default));
    let fixture = Fixture::over(double.clone(), Settings::default()).await;
    (double, fixture)
}

#[tokio::test(start_paused = true)]
async fn a_lost_merge_is_tried_again() {
    let (double, fixture) = fixture().await;
    let words = forty_words("eta");
    let first = fixture.save("s1", &words).await;
    // The save finds the near-duplicate, the merge loses, three times.
    double.script([Step::Pass, lost(), Step::Pass, lost(), Step::Pass, lost()]);
    let second = fixture.save("s2", &format!("{words} more")).await;
    assert_eq!((&second.memory_id, second.consolidated), (&first.memory_id, true));
    assert_eq!(fixture.contents("s1").await, [format!("{words}\n{words} more")]);
}

#[tokio::test]
async fn a_survivor_that_is_forgotten_meanwhile_is_not_brought_back() {
    let (double, fixture) = fixture().await;
    let words = forty_words("theta");
    let first = fixture.save("s1", &format!("{words} secret")).await;
    let forget = by_another(Action::Forget(Forget {
        memory_ids: vec![first.memory_id.clone()],
        verb: Verb::Forget,
        reason: None,
        created_before: None,
    }));
    double.script([Step::Pass, Step::After(forget)]);
    let second = fixture.save("s2", &format!("{words} more")).await;
    assert!(!second.consolidated && second.memory_id != first.memory_id);
    assert_eq!(fixture.contents("s2").await, [format!("{words} more")]);
    assert_eq!(fixture.search("secret").await.hits, []);
}

#[tokio::test(start_paused = true)]
async fn patience_has_an_end() {
    let (double, fixture) = fixture().await;
    double.answer_always(Outcome::Changed { now: vec![] });
    let failed = fixture.service.remember(&caller(), request("s", "text")).await;
    assert!(matches!(failed, Err(ServiceError::Contended { .. })), "{failed:?}");
    let failed = fixture.service.forget_session(&caller(), &project(), &session("s")).await;
    assert!(matches!(failed, Err(ServiceError::Contended { .. })), "{failed:?}");
    double.answer_always(Outcome::Repeated { memory_id: None });
    let failed = fixture.service.remember(&caller(), request("s", "text")).await;
    assert!(matches!(failed, Err(ServiceError::Contended { .. })), "{failed:?}");
    double.answer_always(Outcome::NearDuplicates { candidates: vec![] });
    let failed = fixture.service.remember(&caller(), request("s", "text")).await;
    assert!(matches!(failed, Err(ServiceError::Contended { .. })), "{failed:?}");
}

#[tokio::test]
async fn a_failure_in_the_middle_changes_nothing() {
    let (double, fixture) = fixture().await;
    let words = forty_words("iota");
    fixture.save("s1", &words).await;
    let before = fixture.memories().await;
    double.script([Step::Pass, Step::Answer(Err(StoreError::Full))]);
    let failed = fixture.service.remember(&caller(), request("s2", &format!("{words} more"))).await;
    assert_eq!(failed, Err(ServiceError::Store(StoreError::Full)));
    assert_eq!(fixture.memories().await, before);
}

#[tokio::test]
async fn a_candidate_that_is_not_alike_is_passed_over() {
    let (double, fixture) = fixture().await;
    fixture.save("s1", "one thing").await;
    let unlike = fixture.memories().await.remove(0).memory;
    double.script([Step::Answer(Ok(Outcome::NearDuplicates { candidates: vec![unlike.clone()] }))]);
    let saved = fixture.save("s2", "quite another").await;
    assert!(!saved.consolidated && !saved.deduped);
    let Some(Action::Save(save)) = double.actions.lock().unwrap().last().cloned() else { panic!() };
    assert_eq!(save.except, [(unlike.memory_id, unlike.version)]);
}

#[tokio::test]
async fn an_answer_that_belongs_to_another_change_is_an_error() {
    let (double, fixture) = fixture().await;
    double.answer_always(Outcome::Observed { appended: 0, repeated: 0 });
    let failed = fixture.service.remember(&caller(), request("s", "text")).await;
    assert_eq!(failed, Err(ServiceError::Unexpected { verb: "remember" }));
    let failed = fixture.service.forget(&caller(), &MemoryId::random()).await;
    assert_eq!(failed, Err(ServiceError::Unexpected { verb: "forget" }));
}

#[tokio::test]
async fn forgetting_a_session_follows_other_writers() {
    let double = Arc::new(Double::new(Profile::Default));
    let fixture = Fixture::over(double.clone(), Settings::default()).await;
    fixture.merged(&["s1", "s2"]).await;
    // While the session is being forgotten, the row grows once more.
    let other = Fixture::over(double.clone(), Settings::default()).await;
    other.save("s3", &format!("{} rares3", forty_words("zeta"))).await;
    let action = double.actions.lock().unwrap().last().cloned().unwrap();
    other.service.forget_session(&caller(), &project(), &session("s3")).await.unwrap();
    let growing = by_another(at_version_now(&fixture, action).await);
    double.script([Step::After(growing)]);
    let before = double.commits();
    fixture.service.forget_session(&caller(), &project(), &session("s2")).await.unwrap();
    assert_eq!(double.commits() - before, 2);
    let words = forty_words("zeta");
    assert_eq!(fixture.contents("s1").await, [format!("{words} rares1\n{words} rares3")]);
}

/// Makes a recorded merge fit the version that its survivor has by now.
async fn at_version_now(fixture: &Fixture, action: Action) -> Action {
    let Action::Merge(mut merge) = action else { panic!("not a merge") };
    merge.version = fixture.store.memories(std::slice::from_ref(&merge.survivor)).await.unwrap()[0].version;
    Action::Merge(merge)
}

#[tokio::test]
async fn parts_that_do_not_fit_their_text_are_damage_not_a_panic() {
    let double = Arc::new(Double::new(Profile::Default));
    let fixture = Fixture::over(double.clone(), Settings::default()).await;
    fixture.merged(&["s1", "s2"]).await;
    let stored = fixture.memories().await.remove(0);
    for bytes in [[0, 0], [1, 1], [usize::MAX, 1], [stored.memory.content.len() - 1, 1]] {
        let mut broken = stored.clone();
        broken.parts.iter_mut().zip(bytes).for_each(|(part, bytes)| part.bytes = bytes);
        double.script([Step::Answer(Ok(Outcome::Changed { now: vec![broken] }))]);
        let failed = fixture.service.forget_session(&caller(), &project(), &session("s2")).await;
        assert!(matches!(failed, Err(ServiceError::Store(StoreError::Damaged { .. }))), "{failed:?}");
    }
    assert_eq!(fixture.memories().await.remove(0), stored);
}

#[tokio::test(start_paused = true)]
async fn what_is_forgotten_meanwhile_is_not_quoted() {
    // Before the summary is saved, and between it and its lessons.
    for steps in [0, 1, 2] {
        let double = Arc::new(Double::new(Profile::Default));
        let fixture = Fixture::over(double.clone(), Settings::default()).await;
        let sources = fixture.seed().await;
        let action = Action::Forget(Forget {
            memory_ids: vec![sources[1].clone()],
            verb: Verb::Forget,
            reason: None,
            created_before: None,
        });
        double.script((0..steps).map(|_| Step::Pass).chain([Step::After(by_another(action))]));
        let summary = fixture.summarize(false).await;
        assert_eq!(summary.memories, 2);
        assert!(!format!("{:?}", fixture.memories().await).contains("capacitor"));
    }
}

#[tokio::test]
async fn a_profile_that_another_process_changed_counts_from_the_next_call() {
    let double = Arc::new(Double::new(Profile::Contract));
    let fixture = Fixture::over(double.clone(), Settings::default()).await;
    fixture.save("s", "tool used: Grep").await;
    assert!(
        matches!(double.actions.lock().unwrap().last(), Some(Action::Save(save)) if save.memory.text.terms.is_some())
    );
    let identity = double.inner.identity().await.unwrap();
    *double.identity.lock().unwrap() = Some(StoreIdentity { profile: Profile::Default, ..identity });
    let hook =
        Remember { origin: Origin::new("hook:PostToolUse").unwrap(), ..request("s", "tool used: Read") };
    fixture.service.remember(&caller(), hook).await.unwrap();
    assert!(
        matches!(double.actions.lock().unwrap().last(), Some(Action::Save(save)) if save.memory.text.terms.is_none())
    );
}
