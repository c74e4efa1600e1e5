//! What every command says of itself.

use crate::support::{Am, assert_shown};

const COMMANDS: [&str; 28] = [
    "demo",
    "bootstrap",
    "serve",
    "mcp",
    "hook",
    "remember",
    "search",
    "recap",
    "handoff",
    "sessions",
    "summarize",
    "forget",
    "delete",
    "purge",
    "backup",
    "restore",
    "export",
    "import",
    "import transcript",
    "check",
    "eval",
    "index",
    "index rebuild",
    "verify",
    "stats",
    "doctor",
    "config show",
    "completions",
];

#[test]
fn the_program_lists_its_commands_and_exit_codes() {
    let am = Am::new();
    let help = am.run(["--help"]).ok();
    assert_shown("help", &am, &help.shown());
    for command in COMMANDS {
        let name = command.split(' ').next().unwrap();
        assert!(help.stdout.contains(&format!("\n  {name} ")), "{name}");
    }
    // Without a command it shows the same, as a mistake.
    let ran = am.run::<&str>([]);
    assert_eq!((ran.code, ran.stderr), (2, help.stdout));
}

#[test]
fn every_command_explains_itself() {
    let am = Am::new();
    for command in COMMANDS {
        let ran = am.line(&format!("{command} --help")).ok();
        assert_shown(&format!("help {command}").replace(' ', "-"), &am, &ran.shown());
        assert!(!ran.stdout.contains("FIXME"));
        assert!(!am.data().exists(), "{command} --help must not make anything");
    }
}

#[test]
fn every_flag_that_a_setting_names_is_there() {
    let help = Am::new().line("serve --help").ok().stdout;
    for flag in am_runtime::config::Key::ALL.into_iter().filter_map(am_runtime::config::Key::flag) {
        assert!(
            help.lines().any(|line| line.trim_start().starts_with(&format!("{flag} <"))),
            "{flag}: {help}"
        );
    }
}

#[test]
fn it_tells_its_version() {
    let ran = Am::new().run(["--version"]).ok();
    assert_eq!(ran.stdout, format!("am {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_are_written_for_every_shell() {
    let am = Am::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = am.run(["completions", shell]).ok();
        assert!(ran.stdout.contains("doctor") && ran.stderr.is_empty(), "{shell}");
    }
    assert_eq!(am.run(["completions", "tcsh"]).code, 2);
}
