//! What the hosts say, and the text each event becomes.
//!
//! Pure: the payload and everything else an observation depends on are arguments. Prompts, tool inputs and
//! tool outputs are never read (but for a file's base name when that was asked for).

use crate::{
    delivery::{self, Delivery},
    identifier,
    payload::{self, Object},
    text,
};

/// Most bytes of a payload that are used.
pub const LARGEST_PAYLOAD: usize = 1 << 20;

const TOOL_UNITS: usize = 80;
const FILE_UNITS: usize = 80;
const PATH_UNITS: usize = 256;
const DIRECTORY_UNITS: usize = 100;
const NAME_UNITS: usize = 200;
const FILE_KEYS: [&str; 5] = ["file_path", "filePath", "path", "filename", "file"];

/// A family of hosts that name their events and members alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Members in snake case (`tool_name`, `session_id`, `cwd`); seven events; never an answer.
    Contract,
    /// Members in camel case (`toolCall.name`, `conversationId`, `workspacePaths`); two events, each answered.
    Antigravity,
}

impl Dialect {
    /// Gives the dialect of a host by the name used on the command line.
    pub fn of_agent(name: &str) -> Option<Self> {
        (name == "antigravity").then_some(Self::Antigravity)
    }

    /// Gives the text the host expects on standard output, whatever the payload was.
    pub fn answer(self, event: &str) -> &'static str {
        match (self, event) {
            (Self::Contract, _) => "",
            (Self::Antigravity, "Stop") => r#"{"decision":"stop"}"#,
            (Self::Antigravity, _) => "{}",
        }
    }
}

/// What an observation depends on besides the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surroundings<'a> {
    /// `AGENT_MEMORY_PROJECT`.
    pub project: Option<&'a str>,
    /// Whether `AGENT_MEMORY_CAPTURE_PATHS` is `basename`.
    pub name_files: bool,
    /// The process's own working directory.
    pub directory: Option<&'a str>,
    /// Now, in milliseconds since 1970-01-01 UTC.
    pub now: i64,
}

/// Turns a host's event into what is to be sent. `None` when nothing is: an event we don't capture, a
/// payload that is not one JSON object or larger than [`LARGEST_PAYLOAD`], or a tool without a usable name.
pub fn observe(dialect: Dialect, event: &str, payload: &[u8], around: &Surroundings<'_>) -> Option<Delivery> {
    if payload.len() > LARGEST_PAYLOAD {
        return None;
    }
    let decoded = String::from_utf8_lossy(payload);
    // Some shells put a byte order mark in front of what they pipe.
    let payload = Object::parse(decoded.strip_prefix('\u{feff}').unwrap_or(&decoded))?;
    let (content, project, session_id, event_id) = match dialect {
        Dialect::Contract => (
            contract_content(event, &payload, around)?,
            contract_directory(&payload, around),
            payload.text("session_id"),
            payload.text("tool_use_id"),
        ),
        Dialect::Antigravity => (
            antigravity_content(event, &payload, around)?,
            first_workspace(&payload),
            payload.text("conversationId"),
            None,
        ),
    };
    Some(Delivery {
        content,
        project: project_name(around.project, project.as_deref()),
        session_id: session_id
            .map(|id| text::clean(&id, NAME_UNITS))
            .filter(|id| !id.is_empty())
            .unwrap_or_else(identifier::fresh),
        origin: format!("hook:{event}"),
        key: delivery::idempotency_key(event, event_id.as_deref()),
        event_time: around.now,
    })
}

fn contract_content(event: &str, payload: &Object<'_>, around: &Surroundings<'_>) -> Option<String> {
    let fixed = match event {
        "SessionStart" => "agent session started",
        "Stop" => "agent session stopped",
        "PreCompact" => "context compaction requested",
        "SessionEnd" => "agent session ended",
        "UserPromptSubmit" => "user prompt submitted",
        "PostToolUse" => {
            let bags = ["tool_input", "toolInput", "input"];
            return tool_used(payload.text("tool_name"), || file_name(payload, &bags), around.name_files);
        }
        "PostToolUseFailure" => {
            return tool_name(payload.text("tool_name")).map(|tool| format!("tool failed: {tool}"));
        }
        _ => return None,
    };
    Some(fixed.to_owned())
}

fn antigravity_content(event: &str, payload: &Object<'_>, around: &Surroundings<'_>) -> Option<String> {
    match event {
        "Stop" => Some("agent session stopped".to_owned()),
        "PostToolUse" => {
            let call = payload.object("toolCall")?;
            let named = || {
                file_name(&call, &["args", "input", "arguments"])
                    .or_else(|| file_name(payload, &["tool_input"]))
            };
            tool_used(call.text("name"), named, around.name_files)
        }
        _ => None,
    }
}

fn tool_used(
    name: Option<String>,
    file: impl FnOnce() -> Option<String>,
    name_files: bool,
) -> Option<String> {
    let tool = tool_name(name)?;
    let lower = tool.to_ascii_lowercase();
    if !["edit", "write", "patch", "apply", "replace"].iter().any(|word| lower.contains(word)) {
        return Some(format!("tool used: {tool}"));
    }
    Some(match name_files.then(file).flatten() {
        Some(file) => format!("file edited via {tool}: {file}"),
        None => format!("file edited via {tool}"),
    })
}

/// A tool's name that holds a slash might be a path: then nothing is sent at all.
fn tool_name(raw: Option<String>) -> Option<String> {
    let name = text::clean(&raw?, TOOL_UNITS);
    (!name.is_empty() && !name.contains(['/', '\\'])).then_some(name)
}

/// Finds the base name of the file a tool worked on: the first usable one, bag by bag, key by key.
fn file_name(payload: &Object<'_>, bags: &[&str]) -> Option<String> {
    bags.iter().filter_map(|bag| payload.object(bag)).find_map(|bag| {
        FILE_KEYS.iter().filter_map(|key| bag.text(key)).find_map(|raw| {
            let path = text::clean(&raw, PATH_UNITS);
            let name = text::clean(text::last_segment(&path), FILE_UNITS);
            (!matches!(name.as_str(), "" | "." | "..")).then_some(name)
        })
    })
}

fn contract_directory(payload: &Object<'_>, around: &Surroundings<'_>) -> Option<String> {
    payload
        .text("cwd")
        .filter(|directory| !directory.is_empty())
        .or_else(|| around.directory.map(str::to_owned))
}

/// Gives the first string among an Antigravity payload's workspaces.
pub(crate) fn first_workspace(payload: &Object<'_>) -> Option<String> {
    payload.array("workspacePaths")?.into_iter().find_map(payload::string)
}

/// Names the project: what the user set, else the directory's last segment, else `default`.
pub(crate) fn project_name(set: Option<&str>, directory: Option<&str>) -> String {
    set.map(|name| text::clean(name, NAME_UNITS))
        .filter(|name| !name.is_empty())
        .or_else(|| directory.map(|path| text::clean(text::last_segment(path), DIRECTORY_UNITS)))
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "default".to_owned())
}
