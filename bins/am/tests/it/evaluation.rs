//! Measuring.

use std::path::Path;

use serde_json::Value;

use crate::support::{Am, assert_shown};

fn folder(am: &Am, name: &str, files: &[(&str, &str)]) -> String {
    let folder = am.path(name);
    std::fs::create_dir(&folder).unwrap();
    for (file, content) in files {
        std::fs::write(Path::new(&folder).join(file), content).unwrap();
    }
    folder
}

const SESSIONS: &str = r#"[
    {"id": "a", "timestamp": "2026-04-08T09:14:00Z", "content": "[user] apples rot in the cellar"},
    {"id": "b", "timestamp": "2026-04-08T10:14:00Z", "content": "[user] pears ripen on the shelf"},
    {"id": "c", "timestamp": "2026-04-08T11:14:00Z", "content": "[user] apples rot in the cellar"}
]"#;
const SESSION_QUERIES: &str = r#"[
    {"id": "q1", "type": "t", "question": "where do pears ripen?", "answer": "shelf", "goldSessionIds": ["b"]},
    {"id": "q2", "type": "t", "question": "where do apples rot?", "answer": "cellar", "goldSessionIds": ["a", "c"]}
]"#;
const OBSERVATIONS: &str = "\
{\"id\":\"o1\",\"sessionId\":\"s\",\"title\":\"Set up eslint\",\"facts\":[\"flat config\"],\"concepts\":[\"linting\"],\"importance\":5}
{\"id\":\"o2\",\"sessionId\":\"s\",\"title\":\"Add login\",\"narrative\":\"with tokens\",\"files\":[\"auth.ts\"]}
";
const OBSERVATION_QUERIES: &str =
    r#"[{"query": "auth.ts tokens", "category": "exact", "relevantObsIds": ["o2"]}]"#;

#[test]
fn the_built_in_corpus_is_measured_under_both_profiles() {
    let am = Am::new();
    for profile in ["default", "contract"] {
        let first = am.run(["eval", "--profile", profile]).ok();
        assert_shown(&format!("eval-{profile}"), &am, &first.shown());
        assert_eq!(
            am.run(["eval", "--profile", profile]).ok().stdout,
            first.stdout,
            "every run gives the same figures"
        );
    }
    assert!(!am.data().exists(), "a throw-away memory leaves nothing behind");
    let json = am.run(["eval", "--json"]).ok().json();
    let corpus = &json["corpora"][0];
    assert_eq!(
        (&corpus["documents"], &corpus["questions"], &corpus["ceiling"]),
        (&40.into(), &15.into(), &1.0.into())
    );
    for mode in corpus["modes"].as_array().unwrap() {
        assert!(mode["recall5"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn it_can_be_measured_in_place_again_and_again() {
    let am = Am::new();
    let first = am.run(["eval", "--in-place", "--json"]).ok().json();
    assert_eq!(
        am.run(["eval", "--in-place", "--json"]).ok().json()["corpora"][0]["documents"],
        first["corpora"][0]["documents"]
    );
    assert_eq!(am.run(["stats", "--json"]).ok().json()["memories"], 40);
    am.remember("agent-memory-eval", "s", "a stranger in this project");
    let ran = am.run(["eval", "--in-place"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("holds 41 memories"), "{ran:?}");
}

#[test]
fn folders_of_both_kinds_are_measured() {
    let am = Am::new();
    let sessions = folder(&am, "life", &[("sessions.json", SESSIONS), ("queries.json", SESSION_QUERIES)]);
    let observations = folder(
        &am,
        "quality",
        &[("observations.jsonl", OBSERVATIONS), ("queries.json", OBSERVATION_QUERIES)],
    );
    let ran = am.run(["eval", "--json", "--corpus", &sessions, "--corpus", &observations]).ok();
    let corpora = ran.json()["corpora"].clone();
    assert_eq!((&corpora[0]["corpus"], &corpora[1]["corpus"]), (&"life".into(), &"quality".into()));
    // Equal texts are documents of their own.
    assert_eq!((&corpora[0]["documents"], &corpora[1]["documents"]), (&3.into(), &2.into()));
    for corpus in corpora.as_array().unwrap() {
        for mode in corpus["modes"].as_array().unwrap() {
            assert_eq!((&mode["recall5"], &mode["mrr10"]), (&1.0.into(), &1.0.into()), "{corpus}");
        }
    }
}

#[test]
fn a_broken_corpus_is_named() {
    let am = Am::new();
    let unknown = SESSION_QUERIES.replace("\"b\"", "\"z\"");
    for (name, files, message) in [
        ("empty", vec![], "holds no corpus"),
        (
            "unknown",
            vec![("sessions.json", SESSIONS), ("queries.json", unknown.as_str())],
            "names \"z\", which is not there",
        ),
        ("no-queries", vec![("sessions.json", SESSIONS)], "queries.json"),
        (
            "not-json",
            vec![("observations.jsonl", "{}\nx"), ("queries.json", "[]")],
            "observations.jsonl: line 1",
        ),
        ("nothing", vec![("sessions.json", "[]"), ("queries.json", "[]")], "no documents or no questions"),
    ] {
        let folder = folder(&am, name, &files);
        let ran = am.run(["eval", "--corpus", &folder]);
        assert_eq!(ran.code, 1, "{name}");
        assert!(ran.stderr.contains(message), "{name}: {ran:?}");
    }
}

#[test]
fn the_scorecard_names_neither_machine_nor_time() {
    let am = Am::new();
    let file = am.path("SCORECARD.md");
    let corpus = folder(&am, "life", &[("sessions.json", SESSIONS), ("queries.json", SESSION_QUERIES)]);
    am.run(["eval", "--scorecard", &file, "--corpus", &corpus]).ok();
    let first = std::fs::read_to_string(&file).unwrap();
    assert!(!first.contains(am.home().to_str().unwrap()));
    assert!(first.contains("| built-in | 40 | 15 |") && first.contains("| life | 3 | 2 |"));
    am.run(["eval", "--scorecard", &file, "--corpus", &corpus]).ok();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), first);
    let ran = am.run(["eval", "--scorecard", &am.path("no/such/place.md")]);
    assert_eq!(ran.code, 73, "{ran:?}");
}

#[test]
fn the_published_figures_are_those_of_this_program() {
    let published = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/benchmarks/SCORECARD.md");
    let published = std::fs::read_to_string(published).unwrap();
    let am = Am::new();
    let file = am.path("SCORECARD.md");
    am.run(["eval", "--scorecard", &file]).ok();
    let rows = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("| built-in ")).map(str::to_owned).collect()
    };
    let fresh = rows(&std::fs::read_to_string(&file).unwrap());
    assert_eq!(fresh.len(), 4);
    assert_eq!(rows(&published), fresh, "run `am eval --scorecard` and commit the document");
}

#[test]
fn only_the_contract_s_mode_is_known() {
    let ran = Am::new().with("EVAL_MODE", "direct").run(["eval"]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.stderr, "error: EVAL_MODE: \"direct\" is not usable; allowed: rest\n");
    let json: Value = Am::new().with("EVAL_MODE", "rest").run(["eval", "--json"]).ok().json();
    assert_eq!(json["corpora"][0]["corpus"], "built-in");
}
