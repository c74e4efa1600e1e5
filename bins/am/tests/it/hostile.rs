//! Whatever is typed, piped or stored is data.

use proptest::prelude::*;

use crate::support::Am;

const QUERIES: [&str; 21] = [
    "\"",
    "'",
    "*",
    "^",
    "-",
    "--",
    "(",
    ")",
    "((((",
    "NEAR(a b)",
    "AND",
    "a OR",
    "NOT",
    "col:x",
    "a.b/c\\d",
    "%",
    "_",
    ";DROP TABLE memory;--",
    "[x]",
    "{}",
    "\u{202e}\u{1f469}\u{200d}\u{1f4bb}",
];

#[test]
fn any_query_is_only_a_query() {
    let am = Am::new();
    am.remember("p", "s", "plain words here");
    for query in QUERIES {
        for mode in ["keyword", "semantic", "hybrid"] {
            let ran = am.run(["search", "--json", "--project", "p", "--mode", mode, "--", query]);
            assert!([0, 1].contains(&ran.code), "{query:?}: {ran:?}");
            assert_eq!(ran.json()["signals"], serde_json::json!([]), "{query:?}");
        }
    }
    assert_eq!(am.found("p", "words"), ["plain words here"]);
}

#[test]
fn a_query_has_bounds() {
    let am = Am::new();
    am.remember("p", "s", "plain words here");
    let long = "word ".repeat(2_000);
    am.run(["search", "--project", "p", long.trim_ascii()]).ok();
    let longer = am.run(["search", &"x".repeat(10_001)]);
    assert_eq!(longer.code, 2);
    assert_eq!(longer.stderr, "error: query: String must contain at most 10000 character(s)\n");
    assert_eq!(am.run(["search", "  "]).code, 2);
}

#[test]
fn stored_text_moves_no_terminal() {
    let am = Am::new();
    let text = "evil \u{1b}]0;title\u{7} text \u{9b}31m end";
    am.run_with_input(["remember", "--project", "p", "--session", "s\u{1b}[2J"], text.as_bytes()).ok();
    for line in [
        "search --project p evil",
        "search --full --project p evil",
        "recap --project p",
        "handoff --project p",
        "sessions --project p",
    ] {
        let ran = am.line(line).ok();
        assert!(!ran.stdout.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{line}: {ran:?}");
        assert!(ran.stdout.contains(char::REPLACEMENT_CHARACTER), "{line}");
    }
    // As data it is exact.
    assert_eq!(am.found("p", "evil"), [text]);
}

#[test]
fn text_of_any_script_is_found() {
    let am = Am::new();
    for text in [
        "\u{8bb0}\u{5fc6}\u{5e93}",
        "\u{43f}\u{430}\u{43c}\u{44f}\u{442}\u{44c}",
        "\u{1f980}\u{1f980}",
        "C++ vs C#",
    ] {
        am.remember("p", "s", text);
        assert!(am.found("p", text).contains(&text.to_owned()), "{text}");
    }
    assert_eq!(am.run(["stats", "--json"]).ok().json()["memories"], 4);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_arguments_make_it_panic(words in prop::collection::vec(argument(), 0..6)) {
        let ran = Am::new().with("AGENT_MEMORY_URL", "http://127.0.0.1:9").run(&words);
        prop_assert!([0, 1, 2, 69, 73, 78].contains(&ran.code), "{:?}: {:?}", words, ran);
        prop_assert!(!ran.stderr.contains("panicked"), "{:?}: {:?}", words, ran);
    }

    #[test]
    fn no_lines_make_an_import_panic(lines in prop::collection::vec(line(), 0..12)) {
        let am = Am::new();
        let file = am.write("lines", lines.join("\n"));
        for arguments in [vec!["import", &file], vec!["import", "transcript", "--include-prompts", "--file", &file]] {
            let ran = am.run(arguments);
            prop_assert!([0, 1].contains(&ran.code), "{:?}: {:?}", lines, ran);
            prop_assert!(!ran.stderr.contains("panicked"), "{:?}: {:?}", lines, ran);
        }
        prop_assert_eq!(am.run(["verify", "--json"]).ok().json()["ok"].clone(), true);
    }
}

fn argument() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec![
            "search", "remember", "purge", "forget", "delete", "sessions", "recap", "stats", "doctor", "export", "verify",
            "summarize", "config", "show", "index", "rebuild", "--json", "--project", "--days", "--all", "--session",
            "--limit", "--reason", "--", "-q", "--help", "--mode", "keyword", "hook",
        ])
        .prop_map(str::to_owned),
        1 => "[^\u{0}]{0,20}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,40}",
        Just("{\"header\":{\"format\":\"agent-memory export\",\"version\":1,\"embedder\":\"hash/contract-1/384\"}}".to_owned()),
        "\\PC{0,10}".prop_map(|id| {
            let value = serde_json::Value::from(id);
            format!("{{\"session\":{{\"id\":1,\"project\":{value},\"sessionId\":{value},\"startedAt\":\"2020-01-01T00:00:00.000Z\",\"updatedAt\":{value}}}}}")
        }),
        "\\PC{0,10}".prop_map(|text| {
            let value = serde_json::Value::from(text);
            format!("{{\"type\":\"user\",\"message\":{{\"content\":[{value},{{\"text\":{value},\"name\":{value}}}]}}}}")
        }),
        Just("[[[[[[[[{\"a\":".repeat(200)),
    ]
}
