//! Many projects under a small budget: right answers, and no more memory than allowed.

use am_model::{DedupKey, Project};
use am_store::{Action, SearchQuery, Store};
use am_store_sqlite::{OpenOptions, SqliteStore};

use crate::support::{commit, note, open, query};

const PROJECTS: usize = 12;
const MEMORIES: usize = 150;
/// Room for about three of the projects.
const BUDGET: usize = 3 * MEMORIES * 1200;

fn project(number: usize) -> Project {
    Project::from_stored(format!("p{number}"))
}

fn ask(number: usize) -> SearchQuery {
    let mut asked = query("shared topic3 entry7", 20);
    asked.live.project = project(number);
    asked
}

#[tokio::test]
async fn projections_of_many_projects_keep_to_the_budget_and_answer_right() {
    let directory = tempfile::tempdir().unwrap();
    let writer = open(directory.path());
    for number in 0..PROJECTS {
        for entry in 0..MEMORIES {
            let content = format!("shared topic{} entry{entry} of project {number}", entry % 9);
            let mut save = note(&content, "s");
            save.memory.project = project(number);
            save.memory.text.dedup_key = DedupKey::of(&project(number), &content);
            save.near_duplicate = None;
            commit(&writer, Action::Save(Box::new(save)));
        }
    }
    let with = |projection_bytes| {
        let options =
            OpenOptions { projection_bytes, ..crate::support::options(am_embed::analysis::Profile::Default) };
        SqliteStore::open(directory.path(), options).unwrap()
    };
    let (bounded, scanning) = (with(BUDGET), with(0));
    for number in (0..PROJECTS).chain((0..PROJECTS).rev()).chain([0, 5, 0, 5]) {
        let (found, expected) =
            (bounded.search_blocking(&ask(number)), scanning.search_blocking(&ask(number)));
        assert_eq!(found.rows, expected.rows);
        assert_eq!(found.lexical.unwrap(), expected.lexical.unwrap());
        assert_eq!(found.vector.unwrap(), expected.vector.unwrap());
        let held = bounded.statistics().await.unwrap().projection_bytes as usize;
        assert!(held > 0 && held <= BUDGET, "{held} of {BUDGET} bytes");
    }
    assert_eq!(scanning.statistics().await.unwrap().projection_bytes, 0);
}
