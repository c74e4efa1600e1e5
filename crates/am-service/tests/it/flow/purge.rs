//! Purging by age.

use am_embed::analysis::Profile;
use am_model::{Project, StoreId, Verb};
use am_service::{PurgeProgress, Remember};
use am_store::Scope;

use super::KIND;
use crate::support::{DAY, Fixture, caller, project, request, without_merging};

#[tokio::test]
async fn removes_what_is_older_and_nothing_else() {
    let fixture = Fixture::with(KIND, Profile::Default, without_merging()).await;
    for n in 0..1_200 {
        fixture.save("old", &format!("old text {n}")).await;
        if n % 100 == 0 {
            let other =
                Remember { project: Project::new("q").unwrap(), ..request("old", &format!("other {n}")) };
            fixture.service.remember(&caller(), other).await.unwrap();
        }
    }
    fixture.clock.advance(10 * DAY);
    fixture.save("new", "new text").await;
    let cutoff = fixture.service.purge_cutoff(5);

    let mut ids = vec![];
    let planned = fixture.service.purge_plan(&project(), cutoff, |id| ids.push(id.clone())).await.unwrap();
    assert_eq!((planned, ids.len()), (1_200, 1_200));
    assert_eq!(fixture.memories().await.len(), 1_201);

    let mut steps = vec![];
    let deleted =
        fixture.service.purge(&caller(), &project(), cutoff, |step| steps.push(step)).await.unwrap();
    assert_eq!(deleted, 1_200);
    let expected =
        [(1, 500), (2, 1_000), (3, 1_200)].map(|(batch, deleted)| PurgeProgress { batch, deleted });
    assert_eq!(steps, expected);
    assert_eq!(fixture.contents("old").await, [] as [&str; 0]);
    assert_eq!(fixture.contents("new").await, ["new text"]);
    let log = fixture.store.log_page(StoreId(0), 10_000).await.unwrap();
    assert_eq!(log.iter().filter(|row| row.entry.verb == Verb::Purge).count(), 3);
    assert_eq!(fixture.service.purge(&caller(), &project(), cutoff, |_| ()).await.unwrap(), 0);

    let projects = fixture.service.purge_projects(&Scope::AllProjects).await.unwrap();
    assert_eq!(projects, [project(), Project::new("q").unwrap()]);
    assert_eq!(fixture.service.purge_projects(&Scope::Project(project())).await.unwrap(), [project()]);
    let counts = fixture.service.counts(&Project::new("q").unwrap()).await.unwrap();
    assert_eq!(counts.memories, 12);
}
