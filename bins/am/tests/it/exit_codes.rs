//! How runs end.

use std::process::Stdio;

use crate::support::{Am, assert_shown};

#[test]
fn mistakes_end_with_2() {
    let am = Am::new();
    for mistake in [
        "",
        "nonsense",
        "search",
        "search --mode fuzzy x",
        "--color sometimes stats",
        "--nope",
        "index",
        "config",
        "check --url nonsense",
        "import",
        "export --replace",
    ] {
        let ran = am.run(mistake.split(' ').filter(|word| !word.is_empty()));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{mistake}: {ran:?}");
        assert!(!ran.stderr.is_empty());
    }
    assert_shown("mistake", &am, &am.run(["serch", "x"]).shown());
}

#[test]
fn a_project_is_not_ignored_in_silence() {
    let am = Am::new();
    am.remember("p", "s", "x");
    for line in
        ["demo", "verify", "doctor", "backup x", "restore x", "import x", "eval", "index rebuild", "check"]
    {
        let ran = am.line(&format!("{line} --project p"));
        assert_eq!(ran.code, 2, "{line}");
        assert_eq!(ran.stderr, "error: `--project` means nothing to this command\n", "{line}");
    }
}

#[test]
fn an_unusable_setting_ends_with_78_and_names_itself() {
    let am = Am::new().with("AGENT_MEMORY_PORT", "99999");
    let ran = am.run(["stats"]);
    assert_shown("setting-unusable", &am, &ran.shown());
    let am = Am::new().with("AGENT_MEMORY_STORE", "postgres");
    assert_eq!(am.run(["stats"]).code, 78);
    let am = Am::new();
    std::fs::create_dir_all(am.home().join(".config/agent-memory")).unwrap();
    am.write(".config/agent-memory/config.toml", "prot = 3151\n");
    let ran = am.run(["stats"]);
    assert_eq!(ran.code, 78);
    assert!(ran.stderr.contains("did you mean \"port\"?"), "{ran:?}");
    assert!(ran.stderr.contains("\nhint: config.toml is in "), "{ran:?}");
    for line in ["serve", "mcp", "doctor"] {
        assert_eq!(am.line(line).code, 78, "{line}");
    }
    // These keep to the codes of the contract.
    for line in ["purge --days 1 --all", "summarize --session-id s", "import transcript --file x"] {
        assert_eq!(am.line(line).code, 1, "{line}");
    }
}

#[test]
fn nothing_found_ends_with_1() {
    let am = Am::new();
    for line in ["stats", "search x", "export", "verify", "backup x", "forget x"] {
        let ran = am.line(line);
        assert_eq!(ran.code, 1, "{line}");
        assert!(ran.stderr.contains("hint: "), "{ran:?}");
    }
}

#[test]
fn a_server_that_is_not_there_ends_with_69() {
    let am = Am::new();
    let ran = am.run(["check", "--url", "http://127.0.0.1:9"]);
    assert_eq!(ran.code, 69, "{ran:?}");
}

#[test]
fn a_data_directory_that_cannot_be_ends_in_a_clear_error() {
    let am = Am::new();
    let file = am.write("file", "x");
    let ran = am.run(["--data-dir", &format!("{file}/below"), "bootstrap"]);
    assert!([69, 77].contains(&ran.code), "{ran:?}");
    assert!(ran.stderr.starts_with("error: can't open the memory in "), "{ran:?}");
}

#[test]
fn a_memory_of_a_newer_version_is_left_as_it_is() {
    let am = Am::new();
    am.remember("p", "s", "from the future");
    let database = am.data().join("memory.db");
    let mut bytes = std::fs::read(&database).unwrap();
    // The schema version is in the header of the file, at bytes 60 to 63.
    bytes[60..64].copy_from_slice(&999_u32.to_be_bytes());
    std::fs::write(&database, &bytes).unwrap();
    for line in ["stats", "remember more", "verify", "purge --days 1 --all", "restore x"] {
        let ran = am.line(line);
        assert_eq!(ran.code, 1, "{line}: {ran:?}");
        assert_eq!(std::fs::read(&database).unwrap(), bytes, "{line}");
    }
    let ran = am.run(["stats"]);
    assert!(
        ran.stderr.contains("schema version 999") && ran.stderr.contains("hint: it was left untouched"),
        "{ran:?}"
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let am = Am::new();
    for n in 0..300 {
        am.capture("p", "s", &format!("host:Stop:{n}"), &format!("event {n} {}", "x".repeat(300)));
    }
    let mut child = am.command().arg("export").stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}

#[test]
fn quiet_leaves_out_remarks_but_not_errors() {
    let am = Am::new();
    let ran = am.run(["-q", "remember", "x"]).ok();
    assert_eq!(ran.stderr, "");
    assert!(am.run(["-q", "nonsense"]).code == 2);
    assert!(am.run(["-q", "forget", "nothing"]).stderr.starts_with("error: "));
}

#[test]
fn colour_is_for_terminals_unless_wanted() {
    let am = Am::new();
    am.run(["remember", "x"]).ok();
    let plain = am.run(["search", "x"]).ok().stdout;
    assert!(!plain.contains('\u{1b}'));
    assert!(am.run(["--color", "always", "search", "x"]).ok().stdout.contains("\u{1b}[2m"));
    let forced = am.with("CLICOLOR_FORCE", "1");
    assert!(forced.run(["search", "x"]).ok().stdout.contains("\u{1b}[2m"));
    let never = forced.with("NO_COLOR", "1");
    assert_eq!(never.run(["search", "x"]).ok().stdout, plain);
}

#[test]
fn the_hook_is_always_silent_and_never_fails() {
    let am = Am::new().with("AGENT_MEMORY_URL", "http://127.0.0.1:9");
    for arguments in [
        vec!["hook", "Stop"],
        vec!["hook"],
        vec!["hook", "--nonsense"],
        vec!["hook", "Nonsense", "--days"],
        vec!["--color=nonsense", "hook", "Stop"],
    ] {
        for input in [b"{\"session_id\":\"s\",\"cwd\":\"/x/y\"}".as_slice(), b"", b"\xff", b"[]"] {
            let ran = am.run_with_input(&arguments, input);
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{arguments:?}");
        }
    }
    let ran = am.run_with_input(["hook", "--agent", "antigravity", "Stop"], b"{}");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "{\"decision\":\"stop\"}", ""));
}

#[test]
fn the_hook_takes_the_global_options() {
    let am = Am::new().with("AGENT_MEMORY_URL", "http://127.0.0.1:9");
    let elsewhere = am.path("elsewhere");
    let payload = b"{\"session_id\":\"s\",\"cwd\":\"/x/y\"}";
    am.run_with_input(["--data-dir", &elsewhere, "--project", "named", "hook", "Stop"], payload).ok();
    let spool = am_hook::spool::Spool::of(std::path::Path::new(&elsewhere));
    let claim = spool.claim(None).unwrap().unwrap();
    assert_eq!(claim.deliveries()[0].delivery.project, "named");
}

/// Sets the mode of a file; returns whether it keeps us out, which it doesn't where the tests run as root.
#[cfg(unix)]
fn mode(path: &std::path::Path, mode: u32) -> bool {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    std::fs::metadata("/proc/self").map_or(true, |process| process.uid() != 0)
}

#[cfg(unix)]
#[test]
fn what_may_not_be_looked_at_is_not_taken_for_missing() {
    let am = Am::new().with("AGENT_MEMORY_URL", "http://127.0.0.1:9");
    am.remember("p", "s", "x");
    for (path, kept) in [(am.data(), 0o700), (am.data().join("memory.db"), 0o600)] {
        if !mode(&path, 0) {
            return;
        }
        for line in ["stats", "search x", "verify", "remember y", "backup copy.db"] {
            let ran = am.line(line);
            assert_eq!(ran.code, 77, "{line}: {ran:?}");
            assert!(
                ran.stderr.contains("can't look into ") && ran.stderr.contains("ermission denied"),
                "{ran:?}"
            );
        }
        let ran = am.line("doctor");
        assert_eq!(ran.code, 1);
        assert!(ran.stdout.contains("FAIL  memory: can't look into "), "{ran:?}");
        assert!(!ran.stdout.contains("none yet"), "{ran:?}");
        if path == am.data() {
            assert!(ran.stdout.contains("FAIL  data directory: can't look into "), "{ran:?}");
        }
        mode(&path, kept);
    }
}

#[cfg(unix)]
#[test]
fn a_read_only_memory_is_explained_to_those_who_read() {
    let am = Am::new();
    am.remember("p", "s", "x");
    mode(&am.data().join("memory.db"), 0o400);
    if !mode(&am.data(), 0o500) {
        return;
    }
    for line in ["stats", "search x", "verify"] {
        let ran = am.line(line);
        assert_eq!(ran.code, 77, "{line}: {ran:?}");
        assert!(!ran.stderr.contains("nothing was written"), "{line}: {ran:?}");
        assert!(ran.stderr.contains("hint: SQLite's write-ahead log needs write access"), "{line}: {ran:?}");
    }
    mode(&am.data(), 0o700);
}
