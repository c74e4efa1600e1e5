//! Recap and handoff over a store.

use std::sync::Arc;
use std::time::Duration;

use am_embed::analysis::Profile;
use am_model::{Counts, Signal};
use am_service::{Digest, Settings};
use am_store::StoreError;

use crate::double::Double;
use crate::support::{Fixture, Kind, project, session};

fn digest(session_id: Option<&str>) -> Digest {
    Digest { project: project(), session_id: session_id.map(session), limit: 10 }
}

#[tokio::test]
async fn shows_the_newest_first() {
    let fixture = Fixture::new(Kind::Sqlite, Profile::Default).await;
    fixture.save("one", "first text").await;
    fixture.save("two", "second text\nof two lines").await;
    let recap = fixture.service.recap(digest(None)).await;
    assert_eq!(recap.count, 2);
    let lines: Vec<&str> = recap.text.lines().collect();
    assert!(
        lines[0].starts_with("- [two] 2031-06-15T12:00:00.") && lines[0].ends_with("(rest): second text")
    );
    assert!(lines[2].ends_with("(rest): first text"));
    let handoff = fixture.service.handoff(digest(Some("one"))).await;
    assert!(handoff.text.starts_with("project=p memories=2 sessions=2 recent:\n- [one] "));
    assert_eq!(handoff.session_id, Some(session("one")));
    assert_eq!(fixture.service.recap(digest(Some("nobody"))).await.text, "");
}

#[tokio::test(start_paused = true)]
async fn gives_what_it_has_when_the_budget_is_spent() {
    let mut double = Double::new(Profile::Default);
    double.delay = Duration::from_secs(7);
    let fixture = Fixture::over(Arc::new(double), Settings::default()).await;
    for n in 1..=5 {
        fixture.save(&format!("s{n}"), &format!("text number {n}")).await;
    }
    let budget = [Signal("digest: budget exceeded".to_owned())];
    let recap = fixture.service.recap(digest(None)).await;
    assert_eq!(recap.count, 2);
    assert!(recap.text.contains("[s5]") && recap.text.contains("[s4]"));
    assert_eq!(recap.signals, budget);
    let handoff = fixture.service.handoff(digest(None)).await;
    assert_eq!((handoff.counts, handoff.signals.as_slice()), (Counts::default(), budget.as_slice()));
}

#[tokio::test]
async fn failed_counts_are_zero_and_a_signal() {
    let mut double = Double::new(Profile::Default);
    double.counts = Some(Err(StoreError::ReadOnly));
    let fixture = Fixture::over(Arc::new(double), Settings::default()).await;
    let handoff = fixture.service.handoff(digest(None)).await;
    assert_eq!(handoff.text, "project=p memories=0 sessions=0 recent:");
    assert_eq!(
        handoff.signals,
        [Signal("counts: ReadOnly: the store is read-only: nothing was written".to_owned())]
    );
}
