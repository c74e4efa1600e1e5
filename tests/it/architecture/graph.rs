//! The dependency graph as cargo resolves it, normal dependencies only.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

use super::source::root;

/// The resolved graph of this platform.
pub(super) static GRAPH: LazyLock<Graph> = LazyLock::new(Graph::load);

/// A package of the workspace.
pub(super) struct Member {
    /// Its name.
    pub(super) name: String,
    /// Its directory, relative to the root, such as `crates/am-model`.
    pub(super) directory: String,
    /// The features of its manifest.
    pub(super) features: BTreeSet<String>,
    /// Its normal dependencies, and whether each is optional.
    pub(super) dependencies: BTreeMap<String, bool>,
}

/// The packages and what each links.
pub(super) struct Graph {
    /// The packages of the workspace.
    pub(super) members: Vec<Member>,
    /// Names of the packages that a package links by itself. Procedural macros are not linked.
    links: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    fn load() -> Self {
        let metadata = metadata();
        let packages: BTreeMap<&str, &Value> =
            list(&metadata["packages"]).map(|package| (text(&package["id"]), package)).collect();
        let members = list(&metadata["workspace_members"]).map(|id| member(packages[text(id)])).collect();
        let is_macro = |package: &Value| {
            list(&package["targets"]).any(|target| list(&target["kind"]).any(|kind| kind == "proc-macro"))
        };
        let mut links: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in list(&metadata["resolve"]["nodes"]) {
            let linked = list(&node["deps"])
                .filter(|dependency| list(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null()))
                .map(|dependency| packages[text(&dependency["pkg"])])
                .filter(|package| !is_macro(package))
                .map(|package| text(&package["name"]).to_owned());
            let name = text(&packages[text(&node["id"])]["name"]).to_owned();
            // Two versions of a package count as one: what one of them links is linked.
            links.entry(name).or_default().extend(linked);
        }
        Self { members, links }
    }

    /// Returns everything that a package links, itself left out.
    pub(super) fn linked(&self, name: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut left = vec![name];
        while let Some(name) = left.pop() {
            for linked in &self.links[name] {
                if found.insert(linked.as_str()) {
                    left.push(linked);
                }
            }
        }
        found
    }

    /// Returns the package of a name.
    pub(super) fn member(&self, name: &str) -> &Member {
        self.members.iter().find(|member| member.name == name).unwrap_or_else(|| panic!("no package {name}"))
    }
}

fn metadata() -> Value {
    let platform = Command::new(env!("CARGO")).arg("-vV").output().unwrap();
    let platform = String::from_utf8(platform.stdout).unwrap();
    let platform = platform.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", platform])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn member(package: &Value) -> Member {
    let manifest = std::path::Path::new(text(&package["manifest_path"]));
    let directory = manifest.parent().and_then(|directory| directory.strip_prefix(root()).ok()).unwrap();
    let normal = list(&package["dependencies"]).filter(|dependency| dependency["kind"].is_null());
    Member {
        name: text(&package["name"]).to_owned(),
        directory: directory.to_str().unwrap().replace('\\', "/"),
        features: package["features"].as_object().unwrap().keys().cloned().collect(),
        dependencies: normal
            .map(|dependency| (text(&dependency["name"]).to_owned(), dependency["optional"] == true))
            .collect(),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
