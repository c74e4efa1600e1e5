//! Saving.

use crate::support::{Am, assert_shown};

#[test]
fn a_text_is_saved_once() {
    let am = Am::new();
    let first = am.run(["remember", "the", "deploy", "key", "rotates", "monthly"]);
    let again = am.run(["remember", "the deploy key rotates monthly"]);
    assert_shown("remember", &am, &first.shown());
    assert_shown("remember-again", &am, &again.shown());
    assert_eq!(first.stdout, again.stdout);
}

#[test]
fn everything_about_it_can_be_given() {
    let am = Am::new();
    let ran = am.run([
        "remember",
        "--json",
        "--project",
        "p",
        "--session",
        "s",
        "--concept",
        "A",
        "--concept",
        "b",
        "--importance",
        "0.9",
        "--origin",
        "notes",
        "the text",
    ]);
    let json = ran.ok().json();
    let id = json["id"].as_str().unwrap().to_owned();
    assert_eq!(
        json,
        serde_json::json!({
            "id": id, "sessionId": "s", "project": "p", "concepts": ["A", "b"], "deduped": false,
            "consolidated": false,
        })
    );
    let listed = am.line("sessions --json --project p s").ok().json();
    let row = &listed["memories"][0];
    assert_eq!((&row["origin"], &row["importance"]), (&"notes".into(), &0.9.into()));
}

#[test]
fn a_lesson_matters_more() {
    let am = Am::new();
    am.line("remember --lesson --project p --session s --concept c never-again").ok();
    let row = am.line("sessions --json --project p s").ok().json()["memories"][0].clone();
    assert_eq!((&row["origin"], &row["importance"]), (&"lesson".into(), &0.775.into()));
    assert_eq!(am.line("remember --lesson --origin x text").code, 2);
}

#[test]
fn near_duplicates_are_merged_unless_that_is_off() {
    let words: Vec<String> = (0..40).map(|n| format!("word{n}")).collect();
    let (first, second) = (words.join(" "), format!("{} tail", words.join(" ")));
    let am = Am::new();
    let id = am.remember("p", "s", &first);
    let merged = am.run(["remember", "--json", "--project", "p", &second]).ok().json();
    assert_eq!((&merged["id"], &merged["consolidated"]), (&id.into(), &true.into()));
    let off = Am::new().with("AGENT_MEMORY_MERGE_JACCARD", "off");
    off.remember("p", "s", &first);
    assert_eq!(off.run(["remember", "--json", "--project", "p", &second]).ok().json()["consolidated"], false);
}

#[test]
fn standard_input_is_taken_whole() {
    let am = Am::new();
    let text = "first line\n\0 a NUL inside\n\u{1f980} crab\n";
    for arguments in [vec!["remember", "--project", "p"], vec!["remember", "--project", "p", "-"]] {
        am.run_with_input(arguments, text.as_bytes()).ok();
    }
    let found = am.found("p", "crab");
    assert_eq!(found, ["first line\n\0 a NUL inside\n\u{1f980} crab"]);
}

#[test]
fn bad_input_changes_nothing_and_says_why() {
    let am = Am::new();
    let cases: [(&[&str], &[u8], &str); 8] = [
        (&["remember"], b"", "content: String must contain at least 1 character(s)"),
        (&["remember", " \n "], b"", "content: String must contain at least 1 character(s)"),
        (&["remember", "-"], b"\xff\xfe", "the text is not UTF-8"),
        (&["remember", "--importance", "1.5", "x"], b"", "importance: Number must be between 0 and 1"),
        (&["remember", "--importance", "NaN", "x"], b"", "importance: Number must be between 0 and 1"),
        (&["remember", "--concept", "", "x"], b"", "concepts: String must contain at least 1 character(s)"),
        (&["remember", "--session", " ", "x"], b"", "sessionId: String must contain at least 1 character(s)"),
        (&["remember", "--origin", "", "x"], b"", "origin: String must contain at least 1 character(s)"),
    ];
    for (arguments, input, message) in cases {
        let ran = am.run_with_input(arguments, input);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}: {ran:?}");
        assert_eq!(ran.stderr, format!("error: {message}\n"), "{arguments:?}");
    }
    for blank in ["", " \n"] {
        let ran = am.run(["remember", "--project", blank, "x"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    }
    let large = am.run_with_input(["remember", "-"], &b"x".repeat(1_000_000));
    assert_eq!(large.code, 2);
    assert_eq!(large.stderr, "error: content: String must contain at most 200000 character(s)\n");
    let many: Vec<String> = (0..65).map(|n| format!("--concept=c{n}")).collect();
    let ran = am.run(["remember", "x"].into_iter().map(str::to_owned).chain(many));
    assert_eq!(ran.code, 2);
    let stats = am.run(["stats", "--json"]);
    assert!(stats.code == 1 || stats.json()["memories"] == 0, "{stats:?}");
}
