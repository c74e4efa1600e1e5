//! Keeping a memory in order.

use crate::support::{Am, assert_shown};

fn seeded() -> Am {
    let am = Am::new().with("AGENT_MEMORY_URL", "http://127.0.0.1:9");
    am.remember("p", "s", "an apple a day");
    am
}

#[test]
fn bootstrap_makes_a_memory_that_answers() {
    let am = Am::new();
    assert_shown("bootstrap", &am, &am.run(["bootstrap"]).shown());
    assert_eq!(am.run(["bootstrap", "--json"]).ok().json()["ready"], true);
    let contract = Am::new().with("AGENT_MEMORY_PROFILE", "contract");
    assert_eq!(contract.run(["bootstrap", "--json"]).ok().json()["profile"], "contract");
}

#[test]
fn verify_tells_what_holds() {
    let am = seeded();
    assert_shown("verify", &am, &am.run(["verify"]).shown());
    assert_eq!(am.run(["verify", "--json"]).ok().json()["faults"], serde_json::json!([]));
}

#[test]
fn verify_finds_damage() {
    let am = seeded();
    let database = am.data().join("memory.db");
    let mut bytes = std::fs::read(&database).unwrap();
    // The content of the only memory, changed behind the back of everything that rests on it.
    let places: Vec<usize> = bytes
        .windows(14)
        .enumerate()
        .filter(|(_, window)| *window == b"an apple a day")
        .map(|(at, _)| at)
        .collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place..place + 8].copy_from_slice(b"an ample");
    }
    std::fs::write(&database, bytes).unwrap();
    let ran = am.run(["verify"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("fault     memory: ") && ran.stdout.contains("verdict   something is wrong"),
        "{ran:?}"
    );
    assert_eq!(am.run(["verify", "--json"]).json()["ok"], false);
}

#[test]
fn stats_tells_how_much_there_is() {
    let am = seeded();
    am.capture("p", "s", "host:Stop:1", "captured");
    assert_shown("stats", &am, &am.run(["stats"]).shown());
    let json = am.run(["stats", "--json"]).ok().json();
    assert_eq!((&json["memories"], &json["observations"]), (&2.into(), &1.into()));
    assert_eq!(json["store"]["embedder"], "hash/contract-1/384");
}

#[test]
fn stats_of_a_project_are_its_own() {
    let am = seeded();
    am.remember("q", "s1", "a pear");
    am.remember("q", "s2", "a plum");
    let json = am.line("stats --json --project q").ok().json();
    assert_eq!(json, serde_json::json!({ "project": "q", "memories": 2, "sessions": 2 }));
    assert_eq!(am.line("stats --project q").ok().stdout, "project   q\nsessions  2\nmemories  2\n");
}

#[test]
fn a_rebuild_changes_no_answer_and_can_change_the_profile() {
    let am = seeded();
    let before = am.line("search --json --project p apple").ok().stdout;
    assert_shown("rebuild", &am, &am.line("index rebuild").shown());
    assert_eq!(am.line("search --json --project p apple").ok().stdout, before);
    let json = am.line("index rebuild --profile contract --json").ok().json();
    assert_eq!((&json["profile"], &json["analysis"]), (&"contract".into(), &"contract-1".into()));
    assert_eq!(am.run(["stats", "--json"]).ok().json()["store"]["profile"], "contract");
    assert_eq!(am.run(["verify", "--json"]).ok().json()["ok"], true);
    assert_eq!(am.line("index rebuild --profile x").code, 2);
}

#[test]
fn config_shows_values_and_where_they_come_from() {
    let am = Am::new().with("AGENT_MEMORY_SECRET", "do-not-show").with("AGENT_MEMORY_TTL_DAYS", "30");
    std::fs::create_dir_all(am.home().join(".config/agent-memory")).unwrap();
    am.write(".config/agent-memory/config.toml", "port = 3151\n");
    assert_shown("config", &am, &am.line("config show").shown());
    let ran = am.line("--project p config show --origin");
    assert_shown("config-origin", &am, &ran.shown());
    assert!(!ran.stdout.contains("do-not-show"));
    let json = am.line("config show --json").ok().json();
    let port = json["settings"].as_array().unwrap().iter().find(|setting| setting["key"] == "port").unwrap();
    assert_eq!((&port["value"], &port["origin"]), (&"3151".into(), &"file".into()));
}

#[test]
fn an_unusable_value_of_ranking_is_warned_about_once() {
    let am = Am::new().with("AGENT_MEMORY_TTL_DAYS", "soon");
    let ran = am.run(["bootstrap"]).ok();
    assert_eq!(ran.stderr.matches("AGENT_MEMORY_TTL_DAYS").count(), 1, "{ran:?}");
    assert!(ran.stderr.starts_with("warning: "), "{ran:?}");
}

#[test]
fn the_doctor_finds_nothing_wrong_with_a_fresh_start() {
    let am = Am::new().with("AGENT_MEMORY_URL", "http://127.0.0.1:9");
    let ran = am.run(["doctor"]);
    assert_shown("doctor-fresh", &am, &ran.shown());
    assert!(!am.data().exists(), "looking changes nothing");
}

#[test]
fn the_doctor_says_what_to_do() {
    let am = seeded().with("AGENTMEMORY_PORT", "3111");
    am.capture("p", "s", "host:Stop:1", "captured");
    am.run(["stats"]).ok();
    am.capture("p", "s", "host:Stop:2", "waiting");
    am_hook::spool::Spool::of(&am.data())
        .count(&am_hook::spool::Counters { dropped: 2, foreign: 1, broken: 1, ..Default::default() })
        .unwrap();
    let ran = am.run(["doctor"]);
    assert_shown("doctor", &am, &ran.shown());
    let json = am.run(["doctor", "--json"]).json();
    let dropped = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["detail"].as_str().unwrap().starts_with("2 events were lost"));
    assert_eq!(dropped.unwrap()["status"], "warn");
}

#[test]
fn the_doctor_tells_of_events_that_a_hook_could_send_nowhere() {
    let am = Am::new().with("AGENT_MEMORY_URL", "127.0.0.1:3111");
    let payload = b"{\"session_id\":\"s\",\"cwd\":\"/x/y\"}";
    am.run_with_input(["hook", "Stop"], payload).ok();
    let mut doctor = am.command();
    let ran = doctor.env("AGENT_MEMORY_URL", "http://127.0.0.1:9").arg("doctor").output().unwrap();
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert!(
        shown.contains("warn  spool: 1 event was refused: ") && shown.contains("AGENT_MEMORY_URL"),
        "{shown}"
    );
}

#[cfg(unix)]
#[test]
fn the_doctor_sees_who_else_may_look() {
    use std::os::unix::fs::PermissionsExt as _;
    let am = seeded();
    std::fs::set_permissions(am.data(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = am.run(["doctor"]);
    assert!(ran.stdout.contains("others may use") && ran.stdout.contains("chmod 700"), "{ran:?}");
}

#[test]
fn the_doctor_reports_a_store_that_cannot_be_opened() {
    let am = Am::new().with("AGENT_MEMORY_URL", "http://127.0.0.1:9");
    std::fs::create_dir(am.data()).unwrap();
    std::fs::write(am.data().join("memory.db"), "some other file").unwrap();
    let ran = am.run(["doctor"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("FAIL  memory: can't open the memory in "), "{ran:?}");
}
