//! Sessions, digests, summaries.

use crate::support::{Am, assert_shown};

fn seeded() -> Am {
    let am = Am::new();
    am.remember("p", "s1", "Decided on SQLite for the store.");
    am.remember("p", "s2", "The index rebuild takes a minute.");
    am.remember("p", "s2", "Two lines:\nsecond of them.");
    am
}

#[test]
fn sessions_and_their_memories_are_listed_newest_first() {
    let am = seeded();
    assert_shown("sessions", &am, &am.line("sessions --project p").shown());
    assert_shown("sessions-one", &am, &am.line("sessions --project p s2").shown());
    let json = am.line("sessions --json --project p").ok().json();
    let ids: Vec<&str> =
        json["sessions"].as_array().unwrap().iter().map(|row| row["sessionId"].as_str().unwrap()).collect();
    assert_eq!(ids, ["s2", "s1"]);
    assert_eq!(
        am.line("sessions --json --project p missing").ok().json(),
        serde_json::json!({ "memories": [] })
    );
    assert_eq!(am.line("sessions --json --project none").ok().json(), serde_json::json!({ "sessions": [] }));
}

#[test]
fn digests_show_the_newest() {
    let am = seeded();
    assert_shown("recap", &am, &am.line("recap --project p").shown());
    assert_shown("handoff", &am, &am.line("handoff --project p --session s1").shown());
    let json = am.line("recap --json --project p --session s2").ok().json();
    assert_eq!((&json["count"], &json["sessionId"]), (&2.into(), &"s2".into()));
    let json = am.line("handoff --json --project p --limit 1").ok().json();
    assert_eq!(json["counts"], serde_json::json!({ "memories": 3, "sessions": 2 }));
    let nothing = am.line("recap --project empty").ok();
    assert_eq!((nothing.stdout.as_str(), nothing.stderr.as_str()), ("", "nothing to show\n"));
}

#[test]
fn json_has_the_keys_of_the_rest_reply_in_its_order() {
    let am = seeded();
    assert_shown("sessions-json", &am, &am.line("sessions --json --project p").shown());
    assert_shown("sessions-one-json", &am, &am.line("sessions --json --project p s2").shown());
    assert_shown("recap-json", &am, &am.line("recap --json --project p --session s1").shown());
    assert_shown("handoff-json", &am, &am.line("handoff --json --project p --session s1").shown());
}

#[test]
fn a_session_is_summarised_with_the_lines_of_the_contract() {
    let am = seeded();
    assert_shown(
        "summarize-dry-run",
        &am,
        &am.line("summarize --project p --session-id s2 --dry-run").shown(),
    );
    assert_eq!(am.run(["stats", "--json"]).ok().json()["memories"], 3);
    assert_shown("summarize", &am, &am.line("summarize --project p --session-id s2").shown());
    assert_eq!(am.run(["stats", "--json"]).ok().json()["memories"], 6);
    assert_shown("summarize-nothing", &am, &am.line("summarize --project p --session missing").shown());
    let json = am.line("summarize --json --project p --session-id s1 --dry-run").ok().json();
    assert!(
        json["summary"].as_str().unwrap().starts_with("session s1 (project p): 1 memories, cli=1, "),
        "{json}"
    );
    assert_eq!(json["lessons"], serde_json::json!(["lesson: Decided on SQLite for the store."]));
    for mistake in ["summarize", "summarize --session-id s --limit 0", "summarize --session-id s --limit 101"]
    {
        assert_eq!(am.line(mistake).code, 2, "{mistake}");
    }
}
