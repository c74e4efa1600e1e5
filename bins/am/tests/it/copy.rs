//! Back-ups, exports and imports.

use crate::support::{Am, assert_shown};

fn seeded() -> Am {
    let am = Am::new();
    am.remember("p", "s1", "an apple a day");
    am.remember("q", "s2", "a pear instead");
    am.capture("p", "s1", "host:Stop:1", "captured beside it");
    am
}

#[test]
fn a_back_up_comes_back() {
    let am = seeded();
    let file = am.path("copy.db");
    assert_shown("backup", &am, &am.run(["backup", &file]).shown());
    assert_shown("backup-exists", &am, &am.run(["backup", &file]).shown());

    let other = Am::new();
    other.run(["restore", &file]).ok();
    assert_eq!(other.found("p", "apple"), ["an apple a day"]);
    let ran = other.run(["restore", &file]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("hint: `--replace` replaces it"), "{ran:?}");
    other.remember("p", "s9", "written after the back-up");
    other.run(["restore", "--replace", &file]).ok();
    assert_eq!(other.found("p", "written"), [""; 0]);
    assert_eq!(other.run(["verify", "--json"]).ok().json()["ok"], true);
}

#[test]
fn only_a_back_up_is_restored() {
    let am = seeded();
    let text = am.write("text", "just a text, long enough to have a header of a hundred bytes ".repeat(9));
    for file in [am.path("missing"), text, am.home().to_str().unwrap().to_owned()] {
        let ran = am.run(["restore", "--replace", &file]);
        assert!([1, 69].contains(&ran.code), "{file}: {ran:?}");
        assert_eq!(am.found("p", "apple"), ["an apple a day"]);
    }
    let fresh = Am::new();
    assert_eq!(fresh.line("restore missing").code, 1);
    assert!(!fresh.data().exists());
}

#[test]
fn a_back_up_goes_where_it_can() {
    let am = seeded();
    let ran = am.run(["backup", &am.path("no/such/directory/copy.db")]);
    assert_eq!(ran.code, 73, "{ran:?}");
}

#[test]
fn an_export_comes_in_whole_and_only_once() {
    let am = seeded();
    let file = am.path("export.jsonl");
    assert_shown("export", &am, &am.run(["export", &file]).shown());
    let exported = std::fs::read_to_string(&file).unwrap();
    assert_eq!(am.run(["export"]).ok().stdout, exported);
    assert_eq!(am.run(["export", "-"]).ok().stdout, exported);
    assert_eq!(am.run(["export", &file]).code, 73);
    am.run(["export", "--replace", &file]).ok();

    let other = Am::new();
    assert_shown("import", &am, &other.run(["import", &file]).shown());
    assert_shown("import-again", &am, &other.run_with_input(["import", "-"], exported.as_bytes()).shown());
    assert_eq!(other.run(["export"]).ok().stdout, exported);
    assert_eq!(other.run(["verify", "--json"]).ok().json()["ok"], true);
}

#[test]
fn a_project_is_exported_by_flag_only() {
    let am = seeded();
    let one = am.line("export --project q").ok().stdout;
    assert!(one.contains("a pear instead") && !one.contains("apple") && !one.contains("{\"log\""));
    let am = am.with("AGENT_MEMORY_PROJECT", "q");
    assert!(am.run(["export"]).ok().stdout.contains("an apple a day"));
}

#[test]
fn broken_lines_cost_themselves_only() {
    let am = seeded();
    let exported = am.run(["export"]).ok().stdout;
    let memory = exported.lines().find(|line| line.starts_with("{\"memory\"")).unwrap();
    let mut lines: Vec<String> = exported.lines().map(str::to_owned).collect();
    let broken = [
        "not json".to_owned(),
        "{\"memory\":{}}".to_owned(),
        "{\"unknown\":{}}".to_owned(),
        "[1,2]".to_owned(),
        memory.replace("an apple a day", "another text than the key says"),
        memory.replace("\"vector\":[", "\"vector\":[0.5,"),
        memory.replace("\"kind\":\"note\"", "\"kind\":\"nothing\""),
        memory.replacen("\"createdAt\":\"2", "\"createdAt\":\"x2", 1),
        memory.replacen("{\"memory\":{", "{\"memory\":{\"extra\":1,", 1),
        memory.replacen("\"version\":1", "\"version\":0", 1),
    ];
    for (n, line) in broken.iter().enumerate() {
        assert!(!lines.contains(line));
        lines.insert(1 + 2 * n.min(4), line.clone());
    }
    lines.insert(3, String::new());
    let file = am.write("mixed.jsonl", format!("{}\r\n", lines.join("\r\n")));
    let other = Am::new();
    let ran = other.run(["import", &file]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("error: 10 broken lines were left out"), "{}", ran.stderr);
    assert_eq!(other.run(["export"]).ok().stdout, exported);
    let json = Am::new().run(["import", "--json", &file]).json();
    assert_eq!(json["broken"], 10);
    for line in json["brokenLines"].as_array().unwrap() {
        let number = line["line"].as_u64().unwrap() as usize;
        assert!(broken.contains(&lines[number - 1]), "{line}");
    }
}

#[test]
fn a_huge_line_is_passed_over() {
    let am = seeded();
    let exported = am.run(["export"]).ok().stdout;
    let huge = format!("{{\"memory\":\"{}\"}}", "x".repeat(17 << 20));
    let (header, rest) = exported.split_once('\n').unwrap();
    let other = Am::new();
    let ran = other.run_with_input(["import", "-"], format!("{header}\n{huge}\n{rest}").as_bytes());
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("line 2: larger than 16.0 MiB"), "{}", ran.stderr);
    assert_eq!(other.run(["export"]).ok().stdout, exported);
}

#[test]
fn an_export_of_a_newer_version_is_refused() {
    let am = seeded();
    let exported = am.run(["export"]).ok().stdout.replacen("\"version\":1", "\"version\":2", 1);
    let ran = Am::new().run_with_input(["import", "-"], exported.as_bytes());
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("error: line 1: this is an export of version 2\nhint: upgrade"), "{ran:?}");
}

#[test]
fn vectors_of_an_unknown_embedder_are_made_anew() {
    let am = seeded();
    let exported = am.run(["export"]).ok().stdout;
    let foreign = exported.replacen("hash/contract-1/384", "http/other/2", 1);
    let other = Am::new();
    other.run_with_input(["import", "-"], foreign.as_bytes()).ok();
    assert_eq!(other.run(["export"]).ok().stdout, exported);
}

type Damage = fn(&mut Vec<u8>);

/// Ways in which a memory that was whole is damaged.
const DAMAGES: [(&str, Damage); 4] = [
    ("truncated", |bytes| bytes.truncate(20_000)),
    ("cut in its first page", |bytes| bytes.truncate(700)),
    ("without its header", |bytes| bytes[..100].fill(0xa5)),
    ("overwritten", |bytes| bytes[1_000..].fill(0x5a)),
];

#[test]
fn a_back_up_replaces_a_damaged_memory_which_is_kept() {
    for (damage, apply) in DAMAGES {
        let am = seeded();
        let file = am.path("copy.db");
        am.run(["backup", &file]).ok();
        let database = am.data().join("memory.db");
        let mut bytes = std::fs::read(&database).unwrap();
        apply(&mut bytes);
        std::fs::write(&database, &bytes).unwrap();

        let ran = am.run(["verify"]);
        assert_eq!(ran.code, 1, "{damage}: {ran:?}");
        assert!(ran.stderr.contains("`am restore FILE --replace` brings"), "{damage}: {ran:?}");
        assert!(!ran.stderr.contains("`am verify`"), "{damage}: {ran:?}");
        let text =
            am.write("text", "just a text, long enough to have a header of a hundred bytes ".repeat(9));
        for refused in [vec!["restore", &file], vec!["restore", "--replace", &text]] {
            assert_eq!(am.run(&refused).code, 1, "{damage}: {refused:?}");
            assert_eq!(std::fs::read(&database).unwrap(), bytes, "{damage}: {refused:?}");
        }

        let ran = am.run(["restore", "--replace", &file]).ok();
        let aside = am.data().join("memory.db.damaged");
        assert!(
            ran.stderr.contains(&format!("{} and still holds text", aside.display())),
            "{damage}: {ran:?}"
        );
        assert_eq!(std::fs::read(&aside).unwrap(), bytes, "{damage}");
        assert_eq!(am.found("p", "apple"), ["an apple a day"], "{damage}");
        assert_eq!(am.run(["verify", "--json"]).ok().json()["ok"], true, "{damage}");

        // The next one gets a name of its own.
        std::fs::write(&database, "no memory, but something that is longer than nothing").unwrap();
        let json = am.run(["restore", "--json", "--replace", &file]).ok().json();
        assert!(json["damaged"].as_str().unwrap().ends_with("memory.db.damaged-2"), "{damage}: {json}");
        assert_eq!(std::fs::read(&aside).unwrap(), bytes, "{damage}");
        let left: Vec<_> =
            std::fs::read_dir(am.data()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(!left.iter().any(|name| name.to_str().unwrap().starts_with("restore-")), "{left:?}");
    }
}

#[test]
fn a_transcript_is_told_from_an_export() {
    let am = Am::new();
    let line = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n";
    let file = am.write("transcript.jsonl", line.repeat(17));
    let ran = am.run(["import", &file]);
    assert_eq!(ran.code, 1);
    assert!(!ran.stderr.contains("line 1:"), "{ran:?}");
    assert!(ran.stderr.contains("hint: `am import transcript --file FILE`"), "{ran:?}");
    assert_eq!(am.run(["import", "--json", &file]).json()["broken"], 17);
}

#[test]
fn lines_before_the_first_record_are_named_too() {
    let exported = seeded().run(["export"]).ok().stdout;
    let ran = Am::new().run_with_input(["import", "-"], format!("x\n{exported}").as_bytes());
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("line 1: not JSON\n") && ran.stderr.contains("1 broken line was"), "{ran:?}");
}

#[test]
fn faults_of_a_back_up_are_told_and_have_to_be_accepted() {
    let am = seeded();
    let database = am.data().join("memory.db");
    let mut bytes = std::fs::read(&database).unwrap();
    while let Some(at) = bytes.windows(14).position(|window| window == b"an apple a day") {
        bytes[at..at + 8].copy_from_slice(b"an ample");
    }
    std::fs::write(&database, bytes).unwrap();
    let file = am.path("copy.db");
    let ran = am.run(["backup", &file]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("and so has the copy, which is kept"), "{ran:?}");
    let json = am.run(["backup", "--json", &am.path("other.db")]).json();
    assert_eq!(json["faults"][0]["area"], "memory", "{json}");

    let other = Am::new();
    let ran = other.run(["restore", &file]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("hint: `--accept-faults` takes"), "{ran:?}");
    other.run(["restore", "--accept-faults", &file]).ok();
    assert_eq!(other.run(["stats", "--json"]).ok().json()["memories"], 3);
}
