//! The programs under test, built once by the cargo that runs the tests.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// Returns the path of a program of the workspace.
pub(crate) fn program(name: &str) -> PathBuf {
    static PROGRAMS: OnceLock<HashMap<String, PathBuf>> = OnceLock::new();
    let programs = PROGRAMS.get_or_init(build);
    programs.get(name).unwrap_or_else(|| panic!("no program {name} among {programs:?}")).clone()
}

/// Builds the programs: quick where `cargo test --workspace` has done it, and right where only these tests were asked
/// for.
fn build() -> HashMap<String, PathBuf> {
    let test = std::env::current_exe().unwrap();
    let mut directories = test.ancestors().skip(2);
    let profile = directories.next().and_then(Path::file_name).unwrap().to_str().unwrap();
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(workspace).args(["build", "--workspace", "--bins", "--locked"]);
    // With this very test among the targets, dependencies get the same features as in `cargo test --workspace`: nothing
    // is built twice.
    cargo.args(["--test", "end_to_end", "--message-format", "json-render-diagnostics"]);
    match profile {
        "debug" => {}
        "release" => drop(cargo.arg("--release")),
        other => drop(cargo.args(["--profile", other])),
    }
    // What cargo tells a test of its package, build scripts would take for theirs.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let of_a_package = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];
        if of_a_package.iter().any(|prefix| name.starts_with(prefix)) {
            cargo.env_remove(&*name);
        }
    }
    let output = cargo.stdin(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).unwrap();
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|message| {
            let executable = message["executable"].as_str()?;
            let is_program = message["target"]["kind"][0] == "bin";
            let name = message["target"]["name"].as_str()?;
            is_program.then(|| (name.to_owned(), PathBuf::from(executable)))
        })
        .collect()
}
