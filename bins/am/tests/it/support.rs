//! A user: a home, a data directory, and the program.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use am_hook::delivery::Delivery;
use am_hook::spool::Spool;
use serde_json::Value;
use tempfile::TempDir;

/// A run that ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Returns what was written as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts that it succeeded.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// Shows everything that a user sees, for snapshots.
    pub(crate) fn shown(&self) -> String {
        let mut shown = format!("exit code: {}\n", self.code);
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                // Writing to a string can't fail.
                let _ = write!(shown, "----- {name}\n{text}");
            }
        }
        shown
    }
}

/// A user with an empty home.
pub(crate) struct Am {
    home: TempDir,
    variables: Vec<(String, String)>,
}

impl Am {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap(), variables: vec![] }
    }

    pub(crate) fn with(mut self, variable: &str, value: &str) -> Self {
        self.variables.push((variable.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.home.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_am"));
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("AGENT_MEMORY_DATA_DIR", self.data())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ran {
        finish(self.command().args(arguments).spawn().unwrap())
    }

    pub(crate) fn run_with_input<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: &[u8],
    ) -> Ran {
        let mut child = self.command().args(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // The program may stop reading early.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let ran = finish(child);
        writer.join().unwrap();
        ran
    }

    /// Runs a command line whose words have no spaces.
    pub(crate) fn line(&self, line: &str) -> Ran {
        self.run(line.split(' '))
    }

    /// Saves a text, and returns its id.
    pub(crate) fn remember(&self, project: &str, session: &str, text: &str) -> String {
        let ran = self.run(["remember", "--project", project, "--session", session, "--", text]).ok();
        ran.stdout.trim_ascii().to_owned()
    }

    /// Leaves an event in the spool, as a hook does that finds no server.
    pub(crate) fn capture(&self, project: &str, session: &str, key: &str, content: &str) {
        let delivery = Delivery {
            content: content.to_owned(),
            project: project.to_owned(),
            session_id: session.to_owned(),
            origin: "hook:Stop".to_owned(),
            key: key.to_owned(),
            event_time: 1_900_000_000_000,
        };
        Spool::of(&self.data()).append(&delivery, None).unwrap();
    }

    /// Returns the contents of what a project's search finds.
    pub(crate) fn found(&self, project: &str, query: &str) -> Vec<String> {
        let ran = self.run(["search", "--json", "--mode", "keyword", "--project", project, "--", query]);
        assert!(ran.code <= 1, "{ran:?}");
        contents(&ran.json()["results"])
    }

    /// Returns whether a text stands anywhere in the data directory.
    pub(crate) fn holds_bytes(&self, text: &str) -> bool {
        fn holds(directory: &Path, bytes: &[u8]) -> bool {
            std::fs::read_dir(directory).unwrap().any(|entry| {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    return holds(&path, bytes);
                }
                // Sockets can't be read, and hold nothing.
                std::fs::read(&path)
                    .is_ok_and(|content| content.windows(bytes.len()).any(|window| window == bytes))
            })
        }
        holds(&self.data(), text.as_bytes())
    }
}

pub(crate) fn contents(rows: &Value) -> Vec<String> {
    rows.as_array().unwrap().iter().map(|row| row["content"].as_str().unwrap().to_owned()).collect()
}

fn finish(child: std::process::Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Compares what a user sees with the snapshot of a name, whatever the machine and the time.
pub(crate) fn assert_shown(name: &str, am: &Am, shown: &str) {
    let home = format!("{}|{}", escape(&am.home().canonicalize().unwrap()), escape(am.home()));
    let filters = [
        (home.as_str(), "[HOME]"),
        (r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", "[UUID]"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "[TIME]"),
        (r"\d+(\.\d)? ([KMG]iB|B)\b", "[SIZE]"),
        (r#"("diskBytes":|"bytes":)\d+"#, "$1[SIZE]"),
        (r#"("score":|"distance":)[\d.e-]+"#, "$1[NUMBER]"),
        (r"\(\d+\.\ds\)", "([SECONDS])"),
        (r"os error \d+", "os error [NUMBER]"),
    ];
    insta::with_settings!({ filters => filters, prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, shown);
    });
}

fn escape(path: &Path) -> String {
    path.to_str().unwrap().replace('.', r"\.")
}
