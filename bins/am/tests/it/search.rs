//! Searching.

use crate::support::{Am, assert_shown, contents};

fn seeded() -> Am {
    let am = Am::new();
    am.remember("p", "s1", "Retries use exponential backoff with full jitter, base 200 ms.");
    am.remember("p", "s1", "The staging database runs Postgres 16 behind pgbouncer.");
    am.remember("q", "s2", "Backoff of another project.");
    am
}

#[test]
fn each_mode_finds_and_shows_what_it_is_from() {
    let am = seeded();
    for mode in ["keyword", "semantic", "hybrid"] {
        let ran = am.run(["search", "--project", "p", "--mode", mode, "backoff", "jitter"]);
        assert_shown(&format!("search-{mode}"), &am, &ran.shown());
        let json =
            am.run(["search", "--json", "--project", "p", "--mode", mode, "backoff jitter"]).ok().json();
        let first = &json["results"][0];
        assert_eq!(first["content"], "Retries use exponential backoff with full jitter, base 200 ms.");
        assert_eq!(first["sessionId"], "s1");
        assert_eq!(json["signals"], serde_json::json!([]));
        assert_eq!(first.get("distance").is_some(), first["source"] == "vector", "{first}");
    }
}

#[test]
fn json_has_the_keys_of_the_rest_reply_in_its_order() {
    let am = seeded();
    let saved =
        am.run(["remember", "--json", "--project", "p", "--session", "s3", "--importance", "1", "Walrus"]);
    assert_shown("remember-json", &am, &saved.shown());
    for mode in ["keyword", "hybrid"] {
        let ran = am.run(["search", "--json", "--project", "p", "--mode", mode, "walrus", "--limit", "1"]);
        assert_shown(&format!("search-{mode}-json"), &am, &ran.shown());
    }
}

#[test]
fn a_search_sees_its_project_only() {
    let am = seeded();
    assert_eq!(am.found("q", "backoff"), ["Backoff of another project."]);
    let by_variable = Am::new().with("AGENT_MEMORY_PROJECT", "mine");
    by_variable.run(["remember", "kept in mine"]).ok();
    assert_eq!(by_variable.found("mine", "kept"), ["kept in mine"]);
    assert_eq!(by_variable.found("other", "kept"), [""; 0]);
}

#[test]
fn the_limit_counts_and_has_bounds() {
    let am = Am::new();
    for n in 0..4 {
        am.remember("p", "s", &format!("apple number {n} from tree {}", "xyzw".chars().nth(n).unwrap()));
    }
    let ran = am.line("search --json --project p --limit 3 apple").ok();
    assert_eq!(contents(&ran.json()["results"]).len(), 3);
    for limit in ["0", "101", "-1", "x", "1.5"] {
        assert_eq!(am.run(["search", "apple", &format!("--limit={limit}")]).code, 2, "{limit}");
    }
}

#[test]
fn concepts_are_looked_for_by_name() {
    let am = Am::new();
    am.run(["remember", "--concept", "Rare Name", "one thing"]).ok();
    am.run(["remember", "another matter"]).ok();
    let ran = am.run(["search", "--json", "--concept", "Rare Name", "unrelated words"]).ok();
    assert_eq!(ran.json()["results"][0]["content"], "one thing");
}

#[test]
fn nothing_found_says_where_to_look() {
    let am = seeded();
    let ran = am.run(["search", "--project", "p", "--mode", "keyword", "zebra"]);
    assert_shown("search-nothing", &am, &ran.shown());
    let ran = am.run(["search", "--project", "missing", "zebra"]);
    assert_shown("search-no-project", &am, &ran.shown());
    let ran = am.run(["search", "--project", "missing", "--json", "zebra"]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.json(), serde_json::json!({ "mode": "hybrid", "results": [], "signals": [] }));
}

#[test]
fn without_a_memory_it_says_how_to_make_one() {
    let am = Am::new();
    let ran = am.run(["search", "anything"]);
    assert_shown("search-no-memory", &am, &ran.shown());
    assert!(!am.data().exists());
}

#[test]
fn what_hooks_have_left_is_found() {
    let am = Am::new();
    am.capture("p", "s", "host:Stop:1", "agent said something about walruses");
    assert_eq!(am.found("p", "walruses"), ["agent said something about walruses"]);
    assert_eq!(am.run(["stats", "--json"]).ok().json()["observations"], 1);
}

#[test]
fn whole_texts_are_shown_when_asked_for() {
    let am = Am::new();
    am.remember("p", "s", &format!("first line\nsecond line {}", "long ".repeat(80)));
    let short = am.line("search --project p line").ok().stdout;
    assert!(short.contains('\u{2026}') && short.contains("first line second line"));
    let full = am.line("search --project p --full line").ok().stdout;
    assert!(full.contains("1. first line\n   second line long") && !full.contains('\u{2026}'));
}

#[test]
fn an_expired_memory_is_hidden_and_said_to_be() {
    let am = Am::new();
    let old = am.remember("p", "s", "an old fact about otters");
    let export = am.run(["export"]).ok().stdout;
    let created = export.split("\"createdAt\":\"").nth(1).unwrap().split('"').next().unwrap();
    let aged = am.write("aged.jsonl", export.replace(created, "2020-01-01T00:00:00.000Z"));
    let late = Am::new().with("AGENT_MEMORY_TTL_DAYS", "30");
    late.run(["import", &aged]).ok();
    let ran = late.run(["search", "--project", "p", "otters"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("ttl: hidden 1 expired rows"), "{ran:?}");
    // By its id it can still be forgotten.
    late.run(["forget", &old]).ok();
}
