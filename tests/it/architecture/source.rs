//! Rust sources, taken apart as far as the rules need: code without comments, and the texts in it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Every Rust file of the crates and programs.
pub(super) static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(|| {
    let mut files = vec![];
    for directory in ["crates", "bins"] {
        collect(&root().join(directory), &mut files);
    }
    files.sort();
    files.iter().map(|file| Source::read(file)).collect()
});

/// Returns the directory of the workspace.
pub(super) fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> =
        LazyLock::new(|| Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned());
    &ROOT
}

/// A file.
pub(super) struct Source {
    /// Relative to the root, such as `crates/am-model/src/lib.rs`.
    pub(super) path: String,
    /// Everything.
    pub(super) text: String,
    /// What is compiled into the crate: without comments, contents of literals and test modules.
    pub(super) code: String,
    /// The contents of its text literals, as written, without those of test modules.
    pub(super) literals: Vec<String>,
}

impl Source {
    fn read(file: &Path) -> Self {
        let path = file.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        let text = std::fs::read_to_string(file).unwrap().replace("\r\n", "\n");
        // Test modules stand at the end of a file.
        let compiled = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let (code, literals) = take_apart(compiled);
        Self { path, text, code, literals }
    }

    /// Returns the name of the crate's directory: `am-model` of `crates/am-model/src/lib.rs`.
    pub(super) fn package(&self) -> &str {
        self.path.split('/').nth(1).unwrap()
    }

    /// Returns whether it belongs to a library crate, and not to its tests.
    pub(super) fn is_library(&self) -> bool {
        self.path.starts_with("crates/") && self.is_shipped()
    }

    /// Returns whether it is compiled into what users run.
    pub(super) fn is_shipped(&self) -> bool {
        self.path.split('/').nth(2) == Some("src")
    }

    /// Returns whether its code has a word, or words joined by `::`, as such.
    pub(super) fn says(&self, phrase: &str) -> bool {
        says(&self.code, phrase)
    }
}

/// Returns whether `phrase` stands in `text` as whole words.
pub(super) fn says(text: &str, phrase: &str) -> bool {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(phrase).any(|(at, _)| {
        !text[..at].ends_with(is_inside)
            && (!phrase.ends_with(is_inside) || !text[at + phrase.len()..].starts_with(is_inside))
    })
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Splits Rust source into code (literals emptied) and the contents of its literals.
fn take_apart(text: &str) -> (String, Vec<String>) {
    let (mut code, mut literals) = (String::new(), vec![]);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some((length, content)) = literal(rest, &code) {
            code.push_str("\"\"");
            literals.push(content.to_owned());
            length
        } else if let Some(length) = character(rest) {
            code.push_str("' '");
            length
        } else {
            code.push(c);
            c.len_utf8()
        };
        rest = &rest[taken..];
    }
    (code, literals)
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    loop {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            let Some(c) = text[at..].chars().next() else { return at };
            at += c.len_utf8();
        }
    }
}

/// Reads a text literal: its length and its content.
fn literal<'t>(text: &'t str, before: &str) -> Option<(usize, &'t str)> {
    if let Some(inside) = text.strip_prefix('"') {
        let mut escaped = false;
        let end = inside.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        })?;
        return Some((end + 2, &inside[..end]));
    }
    if before.ends_with(|c: char| c.is_alphanumeric() && c != 'b' && c != 'c' || c == '_') {
        return None;
    }
    let signs = text.strip_prefix('r')?;
    let inside = signs.trim_start_matches('#');
    let hashes = signs.len() - inside.len();
    let inside = inside.strip_prefix('"')?;
    let end = inside.find(&format!("\"{}", "#".repeat(hashes)))?;
    Some((1 + hashes + 1 + end + 1 + hashes, &inside[..end]))
}

/// Returns the length of a character literal; a lifetime is none.
fn character(text: &str) -> Option<usize> {
    let mut inside = text.strip_prefix('\'')?.chars();
    let first = inside.next()?;
    if first == '\\' {
        // The escaped character may be a quote itself.
        let escaped = inside.next()?.len_utf8();
        return text[2 + escaped..].find('\'').map(|end| 2 + escaped + end + 1);
    }
    (inside.next()? == '\'').then(|| first.len_utf8() + 2)
}

#[test]
fn sources_are_taken_apart() {
    let text = r##"let a = "x // \" y"; // "no" /* no */
/* "no" /* nested */ */ let b: &'static str = r#"raw "quoted" // text"#; let c = ['"', '\'', '\u{1f600}', 'é'];"##;
    let (code, literals) = take_apart(text);
    assert_eq!(literals, [r#"x // \" y"#, r#"raw "quoted" // text"#]);
    assert!(
        code.contains("let a = \"\"; \n let b: &'static str = \"\"; let c = [' ', ' ', ' ', ' '];"),
        "{code}"
    );
    assert!(
        says("a::fs::b", "fs")
            && says("x.fs", "fs")
            && !says("fsync offs", "fs")
            && says("f(std::fs)", "std::fs")
    );
}
