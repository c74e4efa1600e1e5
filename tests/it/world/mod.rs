//! A user's world: a home of its own, the real programs, and clients that speak to them as hosts do.

mod disk;
mod hook;
mod mcp;
mod process;
mod programs;
mod rest;
mod surface;
mod text;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use am_store::{Scope, Store as _, StoredMemory};
use am_store_sqlite::{OpenOptions, SqliteStore};
use serde_json::Value;
use tempfile::TempDir;

#[cfg(target_os = "linux")]
pub(crate) use self::disk::{SmallDisk, limited};
pub(crate) use self::disk::{bytes_of, holding};
pub(crate) use self::hook::{ForeignServer, Hook};
pub(crate) use self::mcp::Mcp;
pub(crate) use self::process::{Running, eventually, kill};
pub(crate) use self::programs::program;
pub(crate) use self::rest::Server;
pub(crate) use self::surface::{Cli, PROJECT, Rest, Surface};
pub(crate) use self::text::{fact, variant, word};

/// Variables that programs keep from the machine: what the system needs to run them at all.
const KEPT: [&str; 4] = ["PATH", "TMPDIR", "SystemRoot", "LLVM_PROFILE_FILE"];

/// A run that ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Returns what was written as JSON, of a run that succeeded.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A user's home, with the data directory `data` in it.
#[derive(Debug)]
pub(crate) struct Home {
    directory: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Prepares a program in this world.
    pub(crate) fn command(&self, name: &str) -> Command {
        self.furnish(Command::new(program(name)))
    }

    /// Gives a command the environment of this world.
    pub(crate) fn furnish(&self, mut command: Command) -> Command {
        command.env_clear();
        command.envs(KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.env("HOME", self.path()).env("USERPROFILE", self.path());
        command.env("AGENT_MEMORY_DATA_DIR", self.data());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `am` to its end.
    pub(crate) fn am(&self, arguments: &[&str]) -> Ran {
        let output = self.command("am").args(arguments).output().unwrap();
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs `am verify`, which must find nothing wrong, and returns its report.
    pub(crate) fn verify(&self) -> Value {
        let report = self.am(&["verify", "--json"]).json();
        assert_eq!(report["ok"], true, "{report}");
        report
    }

    /// Runs `am verify` until erasure is complete: programs that read in this moment may stand in the way.
    pub(crate) fn verify_erasure(&self) {
        eventually("erasure is complete", || self.verify()["erasurePending"] == false);
    }

    /// Opens the store as a program of the user's own would.
    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.data(), OpenOptions::default()).unwrap()
    }

    /// Reads every memory of the store.
    pub(crate) fn memories(&self) -> Vec<StoredMemory> {
        const PAGE: usize = 500;
        let store = self.store();
        wait(async {
            let mut memories: Vec<StoredMemory> = vec![];
            loop {
                let after = memories.last().map_or(am_model::StoreId(0), |last| last.memory.id);
                let page = store.memories_page(&Scope::AllProjects, after, PAGE).await.unwrap();
                let last = page.len() < PAGE;
                memories.extend(page);
                if last {
                    return memories;
                }
            }
        })
    }

    /// Counts the events kept as evidence.
    pub(crate) fn events(&self) -> u64 {
        let store = self.store();
        wait(store.statistics()).unwrap().observations
    }
}

/// Waits for the library on this thread.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
