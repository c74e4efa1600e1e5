//! Golden `search_scores.json` through the routes, on both stores.

use am_api::{ApiSettings, Router};

use crate::json::Json;
use crate::support::{over_memory, over_sqlite, post, send};

async fn walk(router: &Router) {
    let golden = Json::golden("search_scores.json");
    let mut ids = vec![];
    for doc in golden.at("docs").elements() {
        let body = format!(r#"{{"content":{doc},"project":"scores","sessionId":"s"}}"#);
        let saved = send(router, post("/memory/remember", body)).await.json();
        ids.push(saved.at("id").text().to_owned());
        // Ties go to the later memory; those of one millisecond would go to the smaller id, which is drawn.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    for query in golden.at("queries").elements() {
        let body = format!(r#"{{"query":{},"project":"scores","limit":20}}"#, query.at("query"));
        for (route, expected) in [("search", "text"), ("smart-search", "fused")] {
            let reply = send(router, post(&format!("/memory/{route}"), body.clone())).await.json();
            let (rows, expected) = (reply.at("results").elements(), query.at(expected).elements());
            assert_eq!(rows.len(), expected.len(), "{route} {body}: {reply}");
            for (row, expected) in rows.iter().zip(expected) {
                let about = format!("{route} {body}: {row}");
                assert_eq!(row.at("memoryId").text(), ids[expected.at("doc").number() as usize], "{about}");
                assert!((row.at("score").number() - expected.at("score").number()).abs() < 1e-5, "{about}");
                if route == "smart-search" {
                    assert_eq!(row.at("source"), expected.at("source"), "{about}");
                }
                match (row.get("distance"), expected.get("distance")) {
                    (Some(ours), Some(golden)) => {
                        assert!((ours.number() - golden.number()).abs() < 1e-5, "{about}");
                    }
                    (ours, golden) => assert_eq!(ours, golden, "{about}"),
                }
            }
            // The file records the signals of the fused search; a search by words alone has none.
            let signals = if route == "search" { &[] } else { query.at("signals").elements() };
            assert_eq!(reply.at("signals").elements(), signals, "{route} {body}");
        }
    }
}

#[tokio::test]
async fn a_small_project_is_ranked_as_the_contract_says_in_memory() {
    walk(&over_memory(ApiSettings::default()).await).await;
}

#[tokio::test]
async fn a_small_project_is_ranked_as_the_contract_says_on_disk() {
    let (router, _directory) = over_sqlite(ApiSettings::default()).await;
    walk(&router).await;
}
