//! Importing transcripts.

use serde_json::Value;

use crate::support::{Am, assert_shown};

fn golden() -> Value {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/transcript_lines.json");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// Returns all golden lines as one file, with blank and broken lines in between.
fn file() -> String {
    let golden = golden();
    let mut lines: Vec<String> =
        golden["lines"].as_array().unwrap().iter().map(|case| case["line"].to_string()).collect();
    lines.insert(3, String::new());
    lines.insert(5, "{broken".to_owned());
    lines.insert(9, "   ".to_owned());
    lines.push("{\"type\":\"user\"".to_owned());
    lines.join("\n")
}

#[test]
fn the_golden_file_is_counted_as_golden() {
    let am = Am::new();
    let file = am.write("transcript.jsonl", file());
    let golden = &golden()["file"];
    for (flags, rows, skipped) in [
        (vec![], "rows", "skippedPrompts"),
        (vec!["--include-prompts"], "rowsWithPrompts", "skippedPromptsWithPrompts"),
    ] {
        let arguments =
            ["import", "transcript", "--file", &file, "--project", "p", "--session-id", "s", "--dry-run"];
        let ran = am.run(arguments.into_iter().chain(flags)).ok();
        let plan = format!(
            "import-plan file={file} project=p session=s lines={} rows={} dry_run=true\n",
            golden["lines"], golden[rows]
        );
        assert_eq!(ran.stderr, plan);
        let line = format!(
            "import-dry-run project=p session=s parsed={} rows={} skipped_prompts={} at=",
            golden["parsed"], golden[rows], golden[skipped]
        );
        assert!(ran.stdout.starts_with(&line), "{ran:?}");
    }
    assert!(!am.data().exists());
}

#[test]
fn every_golden_row_is_saved_under_its_origin() {
    // Merging would join rows that are nearly the same.
    let am = Am::new().with("AGENT_MEMORY_MERGE_JACCARD", "off");
    let file = am.write("transcript.jsonl", file());
    am.run([
        "import",
        "transcript",
        "--file",
        &file,
        "--project",
        "p",
        "--session-id",
        "s",
        "--include-prompts",
    ])
    .ok();
    let saved = am.line("sessions --json --project p --limit 100 s").ok().json();
    let saved: Vec<(String, String)> = saved["memories"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|row| (row["content"].as_str().unwrap().to_owned(), row["origin"].as_str().unwrap().to_owned()))
        .collect();
    let mut expected: Vec<(String, String)> = vec![];
    for case in golden()["lines"].as_array().unwrap() {
        for row in case["rowsWithPrompts"].as_array().unwrap() {
            let content = row["content"].as_str().unwrap().to_owned();
            // An origin has at most 100 characters.
            let origin: String = row["origin"].as_str().unwrap().chars().take(100).collect();
            if !expected.iter().any(|(known, _)| *known == content) {
                expected.push((content, origin));
            }
        }
    }
    assert_eq!(saved, expected);
}

#[test]
fn it_is_imported_once_and_can_be_taken_up_again() {
    let am = Am::new();
    let line = |n: usize| {
        format!("{{\"type\":\"assistant\",\"message\":{{\"content\":\"step {n} went through well\"}}}}\n")
    };
    let first: String = (0..3).map(line).collect();
    let file = am.write("t.jsonl", &first);
    let arguments = ["import", "transcript", "--file", &file, "--project", "p", "--session-id", "s"];
    assert_shown("transcript", &am, &am.run(arguments).shown());
    am.write("t.jsonl", first + &line(3));
    assert_shown("transcript-again", &am, &am.run(arguments).shown());
    let stats = am.run(["stats", "--json"]).ok().json();
    assert_eq!((&stats["memories"], &stats["observations"]), (&4.into(), &4.into()));
}

#[test]
fn a_text_that_is_too_large_costs_itself_only() {
    let am = Am::new();
    let content = "x".repeat(200_001);
    let file = am.write("t.jsonl", format!("{{\"content\":\"{content}\"}}\n{{\"content\":\"fine\"}}\n"));
    let ran = am.run(["import", "transcript", "--file", &file, "--project", "p", "--json"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains("line 1: content: String must contain at most 200000 character(s)"),
        "{ran:?}"
    );
    assert_eq!((&ran.json()["saved"], &ran.json()["refused"]), (&1.into(), &1.into()));
}

#[test]
fn a_file_that_cannot_be_read_is_a_mistake() {
    let am = Am::new();
    for file in ["missing.jsonl", "."] {
        let ran = am.run(["import", "transcript", "--file", file]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    }
    assert_eq!(am.run(["import", "transcript"]).code, 2);
    assert!(!am.data().exists());
}
