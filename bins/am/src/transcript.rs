//! The rows that a line of an agent's transcript yields (contract §11).

use am_model::text;
use serde_json::{Map, Value};

/// Longest name of a tool, in UTF-16 code units.
const TOOL_MAX: usize = 80;
/// Longest origin that a line may bring, in UTF-16 code units.
const ORIGIN_MAX: usize = 100;

/// What to save of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The text, as it stands.
    pub(crate) content: String,
    /// `import:` and where it comes from.
    pub(crate) origin: String,
}

impl Row {
    fn new(content: impl Into<String>, source: &str) -> Self {
        Self { content: content.into(), origin: format!("import:{source}") }
    }
}

/// What a line yields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Yield {
    pub(crate) rows: Vec<Row>,
    /// Whether a prompt of the user was left out.
    pub(crate) skipped_prompt: bool,
}

/// Reads a line that was parsed. Texts of the user are left out unless `include_prompts`.
pub(crate) fn rows(line: &Value, include_prompts: bool) -> Yield {
    let Value::Object(line) = line else { return Yield::default() };
    match line.get("type").and_then(Value::as_str) {
        Some(kind @ ("user" | "assistant")) => message(line, kind, include_prompts),
        Some("tool_use" | "tool_result") => Yield { rows: tool_line(line), skipped_prompt: false },
        _ => Yield { rows: note(line).into_iter().collect(), skipped_prompt: false },
    }
}

/// Reads a message: the tools it names, then its text.
fn message(line: &Map<String, Value>, kind: &str, include_prompts: bool) -> Yield {
    let mut found = Yield::default();
    let content = content(line);
    let mut text = String::new();
    match content {
        Some(Value::String(whole)) => text.push_str(whole),
        Some(Value::Array(blocks)) => {
            found.rows.extend(blocks.iter().filter_map(tool).map(|tool| used(&tool)));
            let texts: Vec<&str> = blocks.iter().filter_map(block_text).collect();
            text = texts.join("\n");
        }
        _ => {}
    }
    if text::trim(&text).is_empty() {
        return found;
    }
    if kind == "user" && !include_prompts {
        found.skipped_prompt = true;
    } else {
        found.rows.push(Row::new(text, kind));
    }
    found
}

/// Reads a line about tools alone. An error belongs to the first one.
fn tool_line(line: &Map<String, Value>) -> Vec<Row> {
    let mut tools: Vec<String> = tool_name(line).into_iter().collect();
    if let Some(Value::Array(blocks)) = content(line) {
        tools.extend(blocks.iter().filter_map(tool));
    }
    let is_true = |key: &str| line.get(key) == Some(&Value::Bool(true));
    let mut rows: Vec<Row> = tools.iter().map(|tool| used(tool)).collect();
    if let (Some(row), Some(tool), true) =
        (rows.first_mut(), tools.first(), is_true("is_error") || is_true("error"))
    {
        *row = Row::new(format!("tool failed: {tool}"), "tool");
    }
    rows
}

/// Reads any other line: its `content`, under its own origin.
fn note(line: &Map<String, Value>) -> Option<Row> {
    let content = line.get("content")?.as_str().filter(|content| !text::trim(content).is_empty())?;
    let given = text::trim(line.get("origin").and_then(Value::as_str).unwrap_or_default());
    let given = text::trim(given.strip_prefix("import:").unwrap_or(given));
    let source = if given.is_empty() { "transcript" } else { text::cut(given, ORIGIN_MAX) };
    Some(Row::new(content, source))
}

fn content(line: &Map<String, Value>) -> Option<&Value> {
    line.get("message").and_then(|message| message.get("content")).or_else(|| line.get("content"))
}

fn block_text(block: &Value) -> Option<&str> {
    match block {
        Value::String(text) => Some(text),
        block => block.get("text").and_then(Value::as_str),
    }
}

fn tool(block: &Value) -> Option<String> {
    tool_name(block.as_object()?)
}

fn tool_name(of: &Map<String, Value>) -> Option<String> {
    ["name", "tool_name"].iter().find_map(|key| {
        let name = text::trim(of.get(*key)?.as_str()?);
        (!name.is_empty()).then(|| text::cut(name, TOOL_MAX).to_owned())
    })
}

fn used(tool: &str) -> Row {
    Row::new(format!("tool used: {tool}"), "tool")
}

#[cfg(test)]
mod tests {
    use super::rows;
    use serde_json::Value;

    #[test]
    fn every_golden_line_yields_its_rows() {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/transcript_lines.json");
        let golden: Value = serde_json::from_slice(&std::fs::read(golden).unwrap()).unwrap();
        let cases = golden["lines"].as_array().unwrap();
        assert_eq!(cases.len(), 32);
        for case in cases {
            for (expected, include_prompts) in [("rows", false), ("rowsWithPrompts", true)] {
                let found = rows(&case["line"], include_prompts).rows;
                let found: Vec<Value> = found
                    .iter()
                    .map(|row| serde_json::json!({ "content": row.content, "origin": row.origin }))
                    .collect();
                assert_eq!(&Value::from(found), &case[expected], "{} {expected}", case["line"]);
            }
        }
    }
}
