//! The skills and the settings samples that we ship: what hosts accept, and nothing that does not exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use am_hook::dialect::{Dialect, Surroundings, observe};
use am_mcp::{Options, ServiceSource, Sourced};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// The skill that names all others.
const INDEX: &str = "memory";

/// The skills, and the routes and tools that each tells of.
const SKILLS: [(&str, &[&str], &[&str]); 8] = [
    ("recall", &["/memory/smart-search", "/memory/search"], &["memory_smart_search", "memory_search"]),
    ("remember", &["/memory/remember"], &["memory_save"]),
    ("recap", &["/memory/recap"], &["memory_recap"]),
    ("handoff", &["/memory/handoff"], &["memory_handoff"]),
    ("forget", &["/memory/forget", "/memory/delete"], &["memory_forget", "memory_delete"]),
    ("lesson", &["/memory/lesson"], &["memory_lesson"]),
    (
        "commit-context",
        &["/memory/remember", "/memory/smart-search"],
        &["memory_save", "memory_smart_search"],
    ),
    (
        "session-history",
        &["/memory/sessions", "/memory/sessions/:sessionId/memories"],
        &["memory_sessions", "memory_session_memories"],
    ),
];

/// The fields that the skill format knows.
const FIELDS: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

pub(crate) fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(name)
}

/// A skill, as hosts read it.
struct Skill {
    folder: String,
    fields: BTreeMap<String, String>,
    body: String,
}

fn skills() -> Vec<Skill> {
    let folders = std::fs::read_dir(directory("skills")).unwrap();
    let mut skills: Vec<Skill> = folders.map(|folder| skill(&folder.unwrap().path())).collect();
    skills.sort_by(|one, other| one.folder.cmp(&other.folder));
    skills
}

fn skill(folder: &Path) -> Skill {
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["SKILL.md"], "{}", folder.display());
    let text = std::fs::read_to_string(folder.join("SKILL.md")).unwrap();
    let (front, body) = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .unwrap_or_else(|| panic!("{} has no front matter", folder.display()));
    let fields = front.lines().map(|line| {
        let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("no field: {line}"));
        // Plain scalars of YAML, on one line: what every reader understands.
        assert!(!value.contains(": ") && !value.contains(" #"), "a value that YAML reads otherwise: {line}");
        assert!(value.starts_with(char::is_alphanumeric), "a value that YAML reads otherwise: {line}");
        (name.to_owned(), value.to_owned())
    });
    Skill {
        folder: folder.file_name().unwrap().to_str().unwrap().to_owned(),
        fields: fields.collect(),
        body: body.to_owned(),
    }
}

/// Returns the words of a text from a start on, with what may follow in them.
fn words(text: &str, start: &str, inside: impl Fn(char) -> bool + Copy) -> BTreeSet<String> {
    text.match_indices(start)
        .map(|(at, _)| {
            let word = &text[at..];
            word[..word.find(|c| !inside(c)).unwrap_or(word.len())].trim_end_matches('.').to_owned()
        })
        .collect()
}

fn tools_named(text: &str) -> BTreeSet<String> {
    words(text, "memory_", |c| c.is_ascii_alphanumeric() || c == '_')
}

fn routes_named(text: &str) -> BTreeSet<String> {
    words(text, "/memory/", |c| c.is_ascii_alphanumeric() || "/-:".contains(c))
}

/// Returns whether we answer a route, with `:name` or a sample value for what varies.
fn is_route(path: &str) -> bool {
    am_api::ROUTES.iter().any(|route| {
        let (template, named): (Vec<&str>, Vec<&str>) =
            (route.template.split('/').collect(), path.split('/').collect());
        template.len() == named.len()
            && template
                .iter()
                .zip(&named)
                .all(|(part, name)| if part.starts_with('{') { !name.is_empty() } else { part == name })
    })
}

#[test]
fn there_are_eight_skills_and_an_index() {
    let found: Vec<String> = skills().into_iter().map(|skill| skill.folder).collect();
    let mut expected: Vec<&str> = SKILLS.iter().map(|(name, ..)| *name).chain([INDEX]).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn their_front_matter_is_what_hosts_accept() {
    for Skill { folder, fields, body } in skills() {
        assert_eq!(fields.get("name"), Some(&folder));
        assert!(folder.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{folder}");
        let description = &fields["description"];
        assert!((80..=1024).contains(&description.chars().count()), "{folder}: {description}");
        assert!(!description.contains(['<', '>']), "{folder}: {description}");
        let foreign: Vec<_> = fields.keys().filter(|name| !FIELDS.contains(&name.as_str())).collect();
        assert!(foreign.is_empty(), "{folder}: {foreign:?}");
        assert!(body.trim_ascii().starts_with("# "), "{folder}");
        // Every line is paid for whenever an agent reads it.
        assert!(body.lines().count() < 100, "{folder} is long");
    }
}

#[test]
fn they_tell_of_their_routes_and_tools() {
    let skills = skills();
    for (name, routes, tools) in SKILLS {
        let body = &skills.iter().find(|skill| skill.folder == name).unwrap().body;
        for word in routes.iter().chain(tools) {
            assert!(body.contains(word), "{name} says nothing of {word}");
        }
    }
    let index = &skills.iter().find(|skill| skill.folder == INDEX).unwrap().body;
    for (name, ..) in SKILLS {
        assert!(index.contains(&format!("](../{name}/SKILL.md)")), "the index has no {name}");
    }
}

#[test]
fn they_name_no_route_or_tool_that_is_not_there() {
    let tools = tools();
    assert_eq!(tools.len(), 11);
    for Skill { folder, body, .. } in skills() {
        for tool in tools_named(&body) {
            assert!(tools.contains(&tool), "{folder}: {tool}");
        }
        for route in routes_named(&body) {
            assert!(is_route(&route), "{folder}: {route}");
        }
    }
    assert!(
        is_route("/memory/sessions/:sessionId/memories")
            && !is_route("/memory/save")
            && !is_route("/memory/")
    );
    assert!(tools_named("x memory_save, memory_x.").iter().eq(["memory_save", "memory_x"]));
    assert!(routes_named("`$URL/memory/a-b?x` or /memory/c.").iter().eq(["/memory/a-b", "/memory/c"]));
}

#[test]
fn the_links_and_samples_in_them_are_sound() {
    for Skill { folder, body, .. } in skills() {
        for link in body.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(directory("skills").join(&folder).join(link).exists(), "{folder}: {link}");
        }
        let blocks: Vec<&str> = body.split("```").skip(1).step_by(2).collect();
        assert_eq!(body.matches("```").count(), 2 * blocks.len(), "{folder}: a block never ends");
        for block in blocks {
            if let Some(sample) = block.strip_prefix("json\n") {
                serde_json::from_str::<Value>(sample)
                    .unwrap_or_else(|error| panic!("{folder}: {error}: {sample}"));
            }
            for sent in block.split("-d '").skip(1).filter_map(|rest| rest.split('\'').next()) {
                serde_json::from_str::<Value>(sent)
                    .unwrap_or_else(|error| panic!("{folder}: {error}: {sent}"));
            }
        }
    }
}

#[test]
fn they_hold_no_secret() {
    let is_key = |c: char| c.is_ascii_alphanumeric();
    for Skill { folder, body, fields } in skills() {
        let text = format!("{body}\n{fields:?}");
        for (start, length) in [("ghp_", 8), ("sk-", 8), ("AKIA", 16)] {
            let longest =
                text.split(start).skip(1).map(|rest| rest.chars().take_while(|c| is_key(*c)).count()).max();
            assert!(longest.unwrap_or(0) < length, "{folder}: {start}");
        }
        for value in text.split("AGENT_MEMORY_SECRET=").skip(1) {
            assert!(value.starts_with(char::is_whitespace) || value.is_empty(), "{folder} sets a secret");
        }
    }
}

/// Asks the MCP surface what its tools are.
fn tools() -> BTreeSet<String> {
    /// A memory that no one asks.
    struct Unasked;
    impl ServiceSource for Unasked {
        fn service(&self) -> Sourced<'_> {
            Box::pin(std::future::ready(Err(am_service::ServiceError::Stopped)))
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(server);
        let options = Options { secret: None, notes: Arc::new(|note| panic!("{note}")) };
        let serving = am_mcp::serve(reader, writer, Arc::new(Unasked), options, std::future::pending());
        let client_info = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client_info});
        let asking = async {
            for request in [
                json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
                json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
            ] {
                client.write_all(format!("{request}\n").as_bytes()).await.unwrap();
            }
            client.shutdown().await.unwrap();
            let mut answers = String::new();
            client.read_to_string(&mut answers).await.unwrap();
            answers
        };
        let (_, answers) = tokio::join!(serving, asking);
        let mut answers = answers.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let list = answers.find(|answer| answer["id"] == 2).unwrap();
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    })
}

/// Returns the words of every command in a sample: of `command` with its `args`, or of a `command` that is a list.
pub(crate) fn commands(value: &Value, found: &mut Vec<Vec<String>>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| commands(value, found)),
        Value::Object(fields) => {
            let texts = |value: &Value| -> Vec<String> {
                value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
            };
            if let Some(command) = fields.get("command") {
                let mut words = match command {
                    Value::String(line) => line.split(' ').map(str::to_owned).collect(),
                    list => texts(list),
                };
                words.extend(fields.get("args").map(texts).unwrap_or_default());
                found.push(words);
            }
            fields.values().for_each(|value| commands(value, found));
        }
        _ => {}
    }
}

#[test]
fn the_samples_of_hosts_call_programs_and_events_that_there_are() {
    let mut called = BTreeMap::new();
    for file in std::fs::read_dir(directory("hooks")).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let sample: Value = match file.extension().and_then(|extension| extension.to_str()) {
            Some("json") => serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")),
            Some("toml") => toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")),
            _ => continue,
        };
        let mut found = vec![];
        commands(&sample, &mut found);
        assert!(!found.is_empty(), "{name} calls nothing");
        for words in found {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match *words {
                ["am-mcp"] => {}
                ["am-hook", ref arguments @ ..] => {
                    assert!(captures(arguments), "{name}: {words:?}");
                    *called.entry(name.clone()).or_insert(0) += 1;
                }
                _ => panic!("{name} calls {words:?}"),
            }
        }
    }
    let expected = [("antigravity.hooks.json", 2), ("claude-code.settings.json", 7), ("codex.hooks.json", 6)];
    assert_eq!(called, expected.map(|(name, events)| (name.to_owned(), events)).into());
}

/// Returns whether the hook makes something of an event that is named like this.
pub(crate) fn captures(arguments: &[&str]) -> bool {
    let (dialect, event) = match *arguments {
        [event] => (Dialect::Contract, event),
        ["--agent", agent, event] => match Dialect::of_agent(agent) {
            Some(dialect) => (dialect, event),
            None => return false,
        },
        _ => return false,
    };
    let payload = json!({"tool_name": "Read", "toolCall": {"name": "Read"}}).to_string();
    let around = Surroundings { project: Some("p"), name_files: false, directory: None, now: 0 };
    observe(dialect, event, payload.as_bytes(), &around).is_some()
}

/// The hook and the name of the event that the host uses are one: what a host calls, it names.
#[test]
fn events_are_wired_to_themselves() {
    for name in ["claude-code.settings.json", "codex.hooks.json"] {
        let text = std::fs::read_to_string(directory("hooks").join(name)).unwrap();
        let sample: Value = serde_json::from_str(&text).unwrap();
        for (event, hooks) in sample["hooks"].as_object().unwrap() {
            let mut found = vec![];
            commands(hooks, &mut found);
            assert_eq!(found, [["am-hook", event]], "{name}");
            // Seconds in these hosts; more than the hook ever takes.
            for hook in hooks.as_array().unwrap().iter().flat_map(|group| group["hooks"].as_array().unwrap())
            {
                assert!((2..=60).contains(&hook["timeout"].as_u64().unwrap()), "{name} {event}");
            }
        }
    }
}
