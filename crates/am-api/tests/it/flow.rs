//! Golden `rest_flow.json`, every step in order, on both stores.

use am_api::{ApiSettings, Router};
use bytes::Bytes;
use http_body_util::Full;

use crate::json::{Json, Masks};
use crate::support::{over_memory, over_sqlite, request, send};

async fn walk(router: &Router) {
    let golden = Json::golden("rest_flow.json");
    let mut masks = Masks::default();
    for (mask, value) in [("$P", "flow project"), ("$P2", "flow second"), ("$run", "run 1")] {
        masks.known.insert(mask.to_owned(), value.to_owned());
    }
    for step in golden.at("steps").elements() {
        let note = step.at("note").text();
        let path = masks.fill(step.at("path").text()).replace(' ', "%20");
        let builder = request(step.at("method").text(), &path).header("content-type", "application/json");
        let body = match step.at("body") {
            Json::Null => String::new(),
            body => masks.fill(&body.to_string()),
        };
        let reply = send(router, builder.body(Full::new(Bytes::from(body))).unwrap()).await;
        assert_eq!(f64::from(reply.status), step.at("status").number(), "{note}: {}", reply.text());
        masks.compare(step.at("response"), &reply.json()).unwrap_or_else(|why| panic!("{note}: {why}"));
    }
}

#[tokio::test]
async fn a_clients_day_goes_as_the_contract_says_in_memory() {
    walk(&over_memory(ApiSettings::default()).await).await;
}

#[tokio::test]
async fn a_clients_day_goes_as_the_contract_says_on_disk() {
    let (router, _directory) = over_sqlite(ApiSettings::default()).await;
    walk(&router).await;
}
