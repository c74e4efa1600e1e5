//! What the README shows works when pasted.
//!
//! The Rust in it is a documentation test of this package. Its shell blocks run here, in order, in one shell of a user
//! with an empty home. Two commands of cargo that take minutes have stand-ins there: `cargo run --release` starts the
//! program as it is built for the tests, unless the optimised one is up to date, and `cargo install` checks that the
//! package compiles by itself with the lock file as it is, and then puts the program that is built for the tests on the
//! path. With `README_EXACTLY=1` in the environment there are no stand-ins.

use std::path::Path;

use serde_json::Value;

use crate::skills::{captures, commands, directory};

/// A fenced block.
struct Block {
    /// Line of its fence.
    line: usize,
    language: String,
    text: String,
}

fn blocks() -> Vec<Block> {
    let readme = std::fs::read_to_string(directory("README.md")).unwrap();
    let mut blocks: Vec<Block> = vec![];
    let mut open = false;
    for (number, line) in (1..).zip(readme.lines()) {
        match line.strip_prefix("```") {
            Some("") if open => open = false,
            Some(language) => {
                assert!(!open && !language.is_empty(), "line {number}: a block without a language");
                blocks.push(Block { line: number, language: language.to_owned(), text: String::new() });
                open = true;
            }
            None if open => {
                let text = &mut blocks.last_mut().unwrap().text;
                text.push_str(line);
                text.push('\n');
            }
            None => assert!(!line.trim_ascii_start().starts_with("```"), "line {number}: an indented block"),
        }
    }
    assert!(!open, "the last block never ends");
    blocks
}

fn in_language(language: &str) -> Vec<Block> {
    blocks().into_iter().filter(|block| block.language == language).collect()
}

/// Returns whether a block is the command that runs these very tests.
fn runs_the_tests(block: &Block) -> bool {
    block.text.trim_ascii() == "cargo test --workspace --locked"
}

#[test]
fn a_newcomer_meets_the_demo_and_then_the_tests() {
    let shell = in_language("sh");
    assert_eq!(shell[0].text, "cargo run --release --bin am -- demo\n");
    assert!(runs_the_tests(&shell[1]), "line {}", shell[1].line);
    let all: String = shell.iter().map(|block| block.text.as_str()).collect();
    for program in ["am", "am-mcp", "am-hook", "am-server"] {
        assert!(all.contains(&format!("cargo install --path bins/{program} --locked\n")), "{program}");
    }
    for block in blocks() {
        let checked = ["sh", "json", "toml", "rust", "text"].contains(&block.language.as_str());
        assert!(checked, "line {}: no test looks at {}", block.line, block.language);
    }
    assert!(!in_language("rust").is_empty());
}

#[test]
fn settings_of_hosts_can_be_pasted() {
    let mut called = vec![];
    for Block { line, language, text } in blocks() {
        let settings: Value = match language.as_str() {
            "json" => serde_json::from_str(&text).unwrap_or_else(|error| panic!("line {line}: {error}")),
            "toml" => toml::from_str(&text).unwrap_or_else(|error| panic!("line {line}: {error}")),
            _ => continue,
        };
        commands(&settings, &mut called);
    }
    let (hooks, servers): (Vec<_>, Vec<_>) = called.iter().partition(|words| words[0] == "am-hook");
    for words in &hooks {
        let arguments: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        assert!(captures(&arguments), "{words:?}");
    }
    assert!(!hooks.is_empty());
    // Claude Code, Codex and OpenCode.
    assert_eq!(servers, [&["am-mcp"]; 3]);
}

#[test]
fn links_lead_somewhere() {
    let readme = std::fs::read_to_string(directory("README.md")).unwrap();
    for link in readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        let is_file = !link.starts_with("https://") && !link.starts_with('#');
        let path = link.split('#').next().unwrap_or_default();
        assert!(!is_file || Path::new(&directory(path)).exists(), "{link}");
    }
}

#[cfg(unix)]
mod shell {
    use std::fs::{self, File};
    use std::net::TcpListener;
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant, SystemTime};

    use super::{Block, in_language, runs_the_tests};
    use crate::skills::directory;
    use crate::world::{Home, program};

    /// Longest time for all blocks, and without stand-ins. A command that never ends, such as a server in the
    /// foreground, takes it up.
    const PATIENCE: Duration = Duration::from_secs(900);
    const MORE_PATIENCE: Duration = Duration::from_secs(3600);

    /// The port that the README names.
    const PORT: &str = "3111";

    const CARGO: &str = r#"#!/usr/bin/env bash
set -euo pipefail
if [[ -n "${README_EXACTLY-}" ]]; then
    # What it is made of is here, since these tests are; the network may not be.
    [[ "$1" != install ]] || set -- "$@" --root "$HOME/.cargo" --offline
    exec "$README_CARGO" "$@"
fi
case "$*" in
    "run --release --bin "*" -- "*)
        [[ -z "${README_RELEASE-}" ]] || exec "$README_CARGO" "$@"
        program="$4"
        shift 5
        exec "$README_PROGRAMS/$program" "$@"
        ;;
    "install --path "*" --locked")
        program="$(basename "$3")"
        "$README_CARGO" check --quiet --locked --manifest-path "$3/Cargo.toml" --bin "$program"
        ln -sf "$README_PROGRAMS/$program" "$HOME/.cargo/bin/$program"
        ;;
    *)
        echo "no stand-in for: cargo $*" >&2
        exit 2
        ;;
esac
"#;

    /// Stands for the command of a host: it is told a program of ours, which must be there.
    const HOST: &str = r#"#!/usr/bin/env bash
set -euo pipefail
while [[ "$1" != -- ]]; do shift; done
command -v "$2"
"#;

    #[test]
    fn its_shell_blocks_run_in_order() {
        let home = Home::new();
        let mut script = String::from("set -euo pipefail\n");
        for block in in_language("sh").iter().filter(|block| !runs_the_tests(block)) {
            // On a machine without it there is nothing to show.
            if block.text.contains("curl ") && !is_there("curl") {
                continue;
            }
            script.push_str(&block_of(block));
        }
        let log = home.path().join("log");
        let mut shell = Shell::start(&home, &script, &log);
        let success = shell.wait();
        drop(shell);
        let said = fs::read_to_string(&log).unwrap();
        assert!(success, "{said}");
        // What was installed is what ran, and what it keeps is in the user's own directory.
        for program in ["am", "am-mcp", "am-hook", "am-server"] {
            assert!(home.path().join(".cargo/bin").join(program).exists(), "{program}");
        }
        assert!(home.am(&["stats", "--json"]).json()["memories"].as_u64() > Some(0), "{said}");
    }

    fn block_of(block: &Block) -> String {
        format!("echo '== README.md, line {}'\n{}", block.line, block.text)
    }

    fn is_there(command: &str) -> bool {
        let mut found = Command::new("bash");
        found.args(["-c", "command -v \"$1\"", "bash", command]).stdout(Stdio::null());
        found.status().unwrap().success()
    }

    /// A shell and all that it starts.
    struct Shell(Child);

    impl Shell {
        fn start(home: &Home, script: &str, log: &Path) -> Self {
            let (mut command, port) = match own_network() {
                Some(command) => (command, None),
                None => (Command::new("bash"), Some(free_port())),
            };
            let script = match &port {
                Some(port) => script.replace(PORT, port),
                None => script.to_owned(),
            };
            let file = home.path().join("blocks.sh");
            fs::write(&file, script).unwrap();
            command.arg(&file).current_dir(directory("."));
            command.env_clear().envs(kept());
            command.env("HOME", home.path()).env("PATH", path(home));
            // Where it is by default on Linux, and elsewhere too for this test to look into.
            command.env("AGENT_MEMORY_DATA_DIR", home.data());
            command.envs(port.map(|port| ("AGENT_MEMORY_PORT", port)));
            command.env("README_CARGO", env!("CARGO"));
            command.env("README_PROGRAMS", program("am").parent().unwrap());
            if release_is_fresh() {
                command.env("README_RELEASE", "1");
            }
            let output = File::create(log).unwrap();
            let errors = output.try_clone().unwrap();
            command.stdin(Stdio::null()).stdout(output).stderr(errors).process_group(0);
            Self(command.spawn().unwrap())
        }

        /// Waits for the end of the blocks; says whether all of them succeeded.
        fn wait(&mut self) -> bool {
            let exactly = std::env::var_os("README_EXACTLY").is_some();
            let deadline = Instant::now() + if exactly { MORE_PATIENCE } else { PATIENCE };
            while Instant::now() < deadline {
                if let Some(status) = self.0.try_wait().unwrap() {
                    return status.success();
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            false
        }
    }

    impl Drop for Shell {
        /// Ends what was left in the background: all of it is in the group that the shell leads.
        fn drop(&mut self) {
            let group = format!("-{}", self.0.id());
            let mut kill = Command::new("kill");
            drop(kill.args(["-KILL", "--", &group]).stderr(Stdio::null()).status());
            drop(self.0.wait());
        }
    }

    /// Returns the variables that the user's shell has: those of this one, but for what would reach our programs, and
    /// what cargo tells a test of its package.
    fn kept() -> impl Iterator<Item = (String, std::ffi::OsString)> {
        const FOREIGN: [&str; 7] = [
            "AGENT_MEMORY_",
            "XDG_",
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_BIN_",
            "CARGO_CRATE_",
            "CARGO_PRIMARY_",
        ];
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        let kept = variables.filter(|(name, _)| !FOREIGN.iter().any(|foreign| name.starts_with(foreign)));
        // Where cargo and rustup live by default follows from the home, which is another one here.
        let homes =
            [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")].into_iter().filter_map(|(name, place)| {
                let home = PathBuf::from(std::env::var_os("HOME")?);
                std::env::var_os(name).is_none().then(|| (name.to_owned(), home.join(place).into_os_string()))
            });
        kept.chain(homes)
    }

    /// Puts stand-ins first, and what is installed next.
    fn path(home: &Home) -> std::ffi::OsString {
        let (stand_ins, installed) = (home.path().join("stand-ins"), home.path().join(".cargo/bin"));
        fs::create_dir_all(&installed).unwrap();
        fs::create_dir_all(&stand_ins).unwrap();
        for (name, text) in [("cargo", CARGO), ("claude", HOST), ("codex", HOST)] {
            let file = stand_ins.join(name);
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let directories = [stand_ins, installed].into_iter().chain(std::env::split_paths(&inherited));
        std::env::join_paths(directories).unwrap()
    }

    /// Returns a shell with a network of its own, where every port is free, if the machine lets us have one.
    fn own_network() -> Option<Command> {
        const UP: &str = "ip link set lo up && exec bash \"$@\"";
        let ways = [&["--net"][..], &["--user", "--map-root-user", "--net"]];
        let shell = |way: &[&str]| {
            let mut command = Command::new("unshare");
            command.args(way).args(["bash", "-c", UP, "bash"]);
            command
        };
        let way = ways.into_iter().find(|way| {
            let mut command = shell(way);
            command.args(["-c", ":"]).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        })?;
        Some(shell(way))
    }

    fn free_port() -> String {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
    }

    /// Returns whether the optimised `am` is newer than everything that it is made of.
    fn release_is_fresh() -> bool {
        let modified = |path: &Path| fs::metadata(path).and_then(|file| file.modified());
        let Ok(built) = modified(&program("am").with_file_name("../release/am")) else { return false };
        let mut newest = modified(&directory("Cargo.lock")).unwrap();
        for place in ["crates", "bins"] {
            newest = newest.max(newest_in(&directory(place)));
        }
        built > newest
    }

    fn newest_in(directory: &Path) -> SystemTime {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let times = entries.map(|path| {
            if path.is_dir() { newest_in(&path) } else { fs::metadata(&path).unwrap().modified().unwrap() }
        });
        times.max().unwrap_or(SystemTime::UNIX_EPOCH)
    }
}
