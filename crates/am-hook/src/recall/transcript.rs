//! The user's last words in a host's transcript (a file of JSON lines).

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::Path,
};

use crate::{
    payload::{self, Object},
    text,
};

/// Most bytes read, from the end.
const TAIL: u64 = 256 * 1024;

/// Longest and shortest query, in UTF-16 units.
const LONGEST: usize = 500;
const SHORTEST: usize = 3;

/// Reads the user's last words from a transcript file; `None` when there are none.
pub(super) fn last_words(path: &Path) -> Option<String> {
    // Anything but a regular file might never end.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let length = file.seek(SeekFrom::End(0)).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    in_lines(&String::from_utf8_lossy(&tail))
}

/// Finds the last line that is the user's and says something.
fn in_lines(lines: &str) -> Option<String> {
    lines.lines().rev().find_map(|line| {
        let line = Object::parse(line)?;
        if !is_users(&line) {
            return None;
        }
        let words = line
            .object("message")
            .and_then(|message| words(&message, "content"))
            .or_else(|| words(&line, "content"))
            .or_else(|| words(&line, "text"))
            .or_else(|| words(&line, "parts"))?;
        let words = text::clean(&words, LONGEST);
        (words.encode_utf16().count() >= SHORTEST).then_some(words)
    })
}

fn is_users(line: &Object<'_>) -> bool {
    let named = ["role", "type", "author", "sender"].into_iter().find_map(|key| line.text(key));
    named.is_none_or(|name| {
        let name = name.to_lowercase();
        name.contains("user") || name == "human"
    })
}

/// Reads a member that is a text, or a list of texts and of objects with a `text`.
fn words(object: &Object<'_>, name: &str) -> Option<String> {
    if let Some(words) = object.text(name) {
        return Some(words);
    }
    let parts: Vec<String> = object
        .array(name)?
        .into_iter()
        .filter_map(|part| payload::string(part).or_else(|| Object::parse(part.get())?.text("text")))
        .collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::in_lines;

    #[test]
    fn the_last_line_of_the_user_counts() {
        for (lines, expected) in [
            (
                "{\"role\":\"user\",\"content\":\"first\"}\n{\"role\":\"user\",\"content\":\"second\"}",
                Some("second"),
            ),
            (
                "{\"type\":\"USER_INPUT\",\"text\":\" hello\\n there \"}\n{\"role\":\"model\",\"text\":\"x y z\"}",
                Some("hello there"),
            ),
            ("{\"sender\":\"human\",\"parts\":[{\"text\":\"ab\"},\"cd\",5]}\n{broken", Some("ab cd")),
            ("{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"deep\"}]}}", Some("deep")),
            ("{\"content\":\"fine\"}\n{\"role\":\"user\",\"content\":\"ok\"}", Some("fine")),
            ("{\"role\":\"assistant\",\"content\":\"nobody asked\"}", None),
            ("", None),
        ] {
            assert_eq!(in_lines(lines).as_deref(), expected, "{lines}");
        }
    }
}
