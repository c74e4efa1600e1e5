//! Losing against other writers.

use std::sync::Arc;

use am_embed::analysis::Profile;
use am_model::MemoryId;
use am_service::{ServiceError, Settings};
use am_store::{Action, Outcome, StoreError};

use crate::double::{Double, Step};
use crate::support::{Fixture, caller, forty_words, project, request, session};

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
    let forget = am_store::Change {
        audit: am_store::Audit {
            at: am_model::Instant::default(),
            actor: am_model::Actor("test".to_owned()),
            channel: am_model::Channel::Cli,
        },
        action: Action::Forget(am_store::Forget {
            memory_ids: vec![first.memory_id.clone()],
            verb: am_model::Verb::Forget,
            reason: None,
            created_before: None,
        }),
    };
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
