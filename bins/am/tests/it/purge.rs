//! Purging, with the messages and lines of the contract.

use crate::support::{Am, assert_shown};

/// A user with one memory of 2020 in each of two projects, and one of today in both.
fn seeded() -> (Am, Vec<String>) {
    let source = Am::new();
    let old: Vec<String> = ["p", "q"].map(|project| source.remember(project, "s1", "an old otter")).into();
    let export = source.run(["export"]).ok().stdout;
    let mut aged = String::new();
    for line in export.lines().filter(|line| !line.starts_with("{\"log\"")) {
        let mut parts = line.splitn(2, "\"createdAt\":\"");
        aged.push_str(parts.next().unwrap());
        if let Some(rest) = parts.next() {
            aged.push_str("\"createdAt\":\"2020-01-01T00:00:00.000Z\"");
            aged.push_str(rest.split_once('"').unwrap().1);
        }
        aged.push('\n');
    }
    let am = Am::new();
    let file = am.write("aged.jsonl", aged);
    am.run(["import", &file]).ok();
    for project in ["p", "q"] {
        am.remember(project, "s1", "a young otter");
    }
    (am, old)
}

#[test]
fn every_mistake_has_its_message() {
    let am = Am::new();
    for (arguments, message) in [
        ("", "missing required --days"),
        ("--all", "missing required --days"),
        ("--days 3", "exactly one of --project or --all is required"),
        ("--days 3 --all --project p", "--all and --project are mutually exclusive"),
        ("--project p --all --days 3", "--project and --all are mutually exclusive"),
        ("--days 3 --project", "--project requires a value"),
        ("--project --days 3", "--project requires a value"),
        ("--days 3 --project=", "--project requires a value"),
        ("--days 3 --everything", "unknown argument \"--everything\""),
        ("--days 3 p", "unknown argument \"p\""),
        ("--days 3 --all --dry-run=yes", "unknown argument \"--dry-run=yes\""),
    ] {
        let ran = am.run(["purge"].into_iter().chain(arguments.split(' ').filter(|word| !word.is_empty())));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments}");
        let usage = "usage: am purge --days N (--project NAME | --all) [--dry-run]";
        assert_eq!(ran.stderr, format!("purge: {message}\n{usage}\n"), "{arguments}");
    }
    for days in ["0", "-1", "1.5", "1e3", "x", "", "01", "1234567", " 3", "+3", "\u{663}"] {
        let ran = am.run(["purge", "--days", days, "--all"]);
        let shown = days.trim_ascii();
        let message = format!(
            "purge: --days must be an integer >= 1 (got \"{shown}\") \u{2014} days=0 would delete EVERYTHING"
        );
        assert_eq!(ran.code, 2, "{days:?}");
        if days == shown {
            assert_eq!(ran.stderr.lines().next(), Some(message.as_str()), "{days:?}");
        }
    }
    assert!(!am.data().exists());
}

#[test]
fn a_dry_run_lists_ids_and_deletes_nothing() {
    let (am, old) = seeded();
    let ran = am.line("purge --days 30 --project p --dry-run");
    assert_shown("purge-dry-run", &am, &ran.shown());
    assert_eq!(ran.stdout.lines().next(), Some(old[0].as_str()));
    let json = am.line("purge --days 30 --all --dry-run --json").ok().json();
    assert_eq!(json["wouldDelete"], serde_json::json!(old));
    assert_eq!(am.run(["stats", "--json"]).ok().json()["memories"], 4);
}

#[test]
fn what_is_old_goes_and_what_is_young_stays() {
    let (am, _) = seeded();
    assert_shown("purge-project", &am, &am.line("purge --days 30 --project p").shown());
    assert_eq!(am.found("p", "otter"), ["a young otter"]);
    assert_eq!(am.found("q", "old otter").len(), 2);
    assert_shown("purge-all", &am, &am.line("purge --all --days 30").shown());
    assert_eq!(am.found("q", "otter"), ["a young otter"]);
    assert_shown("purge-nothing", &am, &am.line("purge --days 999999 --project p").shown());
    assert_eq!(am.run(["verify", "--json"]).ok().json()["erasurePending"], false);
}

#[test]
fn global_options_may_stand_anywhere() {
    let (am, _) = seeded();
    let data = am.data();
    let data = data.to_str().unwrap();
    let elsewhere = Am::new();
    for arguments in [
        vec!["purge", "--days", "30", "--data-dir", data, "--project", "p", "--dry-run"],
        vec!["--data-dir", data, "purge", "--project=p", "--days=30", "--dry-run", "-q"],
        vec!["--project", "p", "--color", "never", "--data-dir", data, "purge", "--days", "30", "--dry-run"],
    ] {
        let ran = elsewhere.run(&arguments).ok();
        assert!(ran.stdout.contains("would-delete=1"), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn a_failure_is_told_on_one_line() {
    let am = Am::new();
    let ran = am.line("purge --days 3 --all");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with("purge failed: there is no memory in "), "{ran:?}");
    std::fs::create_dir(am.data()).unwrap();
    std::fs::write(am.data().join("memory.db"), "not a database, but long enough to be taken for one")
        .unwrap();
    let ran = am.line("purge --days 3 --all");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with("purge failed: "), "{ran:?}");
}

#[test]
fn names_stay_on_one_line() {
    let am = Am::new();
    am.remember("two\nlines \u{1b}[31m", "s", "x");
    let ran = am.run(["purge", "--days", "1", "--project", "two\nlines \u{1b}[31m"]).ok();
    assert!(
        ran.stdout.starts_with("purge-health project=two lines \u{fffd}[31m phase=before memories=1"),
        "{ran:?}"
    );
}
