//! Exports of released versions: each must come in whole.
//!
//! `tests/fixtures/vN/export.jsonl` is what `am export` of format version N wrote: notes in several scripts, merged
//! parts, a lesson, a summary with its lessons, hook lines, an imported transcript, erased evidence, the log of it all.
//! It is never written again. For a new version: keep the older ones with their tests, and add an export of a memory
//! that holds one of everything.

use serde_json::{Value, json};

use crate::support::{Am, contents};

const EXPORT: &str = include_str!("../fixtures/v1/export.jsonl");

fn imported() -> Am {
    let am = Am::new();
    let file = am.write("export.jsonl", EXPORT);
    let imported = am.run(["import", "--json", &file]).ok().json();
    let expected = json!({ "memories": 13, "observations": 5, "skipped": 0, "broken": 0, "brokenLines": Value::Array(vec![]) });
    assert_eq!(imported, expected);
    am
}

#[test]
fn an_export_of_version_1_comes_in_whole() {
    let am = imported();
    let report = am.line("verify --json").ok().json();
    // The log of the original, and one row of the import.
    assert_eq!(
        (&report["faults"], &report["chains"], &report["logEntries"]),
        (&json!([]), &json!(2), &json!(19))
    );
    assert_eq!(am.line("export").ok().stdout, EXPORT);
}

#[test]
fn what_an_export_of_version_1_brings_is_found_and_forgotten() {
    let am = imported();
    // The summary of the session quotes it.
    let found = am.found("shop", "fake payment gateway");
    assert_eq!(found[0], "Checkout tests need the fake payment gateway on port 5433");
    assert!(found[1].starts_with("session s1 (project shop): 4 memories, "), "{found:?}");
    assert_eq!(am.found("shop", "检索"), ["检索结果按项目隔离 🚀\n\"quoted\"\tand tabbed"]);
    assert_eq!(am.found("shop", "secret"), [] as [&str; 0]);
    let session = am.line("sessions --json --project shop s1").ok().json();
    let lock = "The lock file of the build cache is removed by the nightly job, never by hand, because two runners \
                share the cache and one of them would rebuild everything from scratch";
    assert!(contents(&session["memories"]).contains(&format!("{lock}\n{lock} again")));
    let forgotten = am.line("forget --json --project shop --session s2").ok().json();
    assert_eq!(forgotten["memories"].as_array().unwrap().len(), 2);
    assert_eq!(forgotten["rewritten"], json!(["c20268bc-3909-495a-959d-36c467ec2b7f"]));
    assert_eq!(am.found("shop", "nightly job by hand")[0], lock);
    assert_eq!(am.line("verify --json").ok().json()["ok"], true);
}
