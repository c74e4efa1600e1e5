//! Standard output and standard error.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use am_model::text;
use serde::Serialize;

use crate::failure::{Failure, Result};

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How a command shows itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// Whether data is written as JSON.
    pub(crate) json: bool,
    /// Whether remarks are left out.
    pub(crate) quiet: bool,
    colored: bool,
}

impl Output {
    /// Makes the output of a command. `is_set` tells whether a variable has a value.
    pub(crate) fn new(json: bool, quiet: bool, color: Color, is_set: impl Fn(&str) -> bool) -> Self {
        let colored = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => !is_set("NO_COLOR") && (is_set("CLICOLOR_FORCE") || io::stdout().is_terminal()),
        };
        Self { json, quiet, colored }
    }

    /// Writes a remark to standard error, unless the user wants none.
    pub(crate) fn note(self, note: impl Display) {
        if !self.quiet {
            error_line(note);
        }
    }

    /// Writes what the user may do next to standard error, unless the user wants no remarks.
    pub(crate) fn hint(self, hint: impl Display) {
        self.note(format_args!("hint: {hint}"));
    }

    /// Makes a heading of a text.
    pub(crate) fn strong(self, text: &str) -> String {
        self.styled("1", text)
    }

    /// Makes a text step back.
    pub(crate) fn faint(self, text: &str) -> String {
        self.styled("2", text)
    }

    fn styled(self, code: &str, text: &str) -> String {
        if self.colored { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Writes a line of data.
pub(crate) fn write_line(line: impl Display) -> Result<()> {
    Ok(writeln!(io::stdout().lock(), "{line}")?)
}

/// Writes data as JSON, on one line.
pub(crate) fn write_json(value: &impl Serialize) -> Result<()> {
    let line = serde_json::to_string(value)
        .map_err(|error| Failure::new(crate::exit::Exit::Failed, error.to_string()))?;
    write_line(line)
}

/// Writes a warning to standard error.
pub(crate) fn warn(warning: impl Display) {
    error_line(format_args!("warning: {warning}"));
}

/// Writes a line to standard error. Where that is gone, nobody can be told.
pub(crate) fn error_line(line: impl Display) {
    drop(writeln!(io::stderr().lock(), "{line}"));
}

/// Returns stored text on one line that moves no terminal: control characters become U+FFFD.
pub(crate) fn one_line(stored: &str) -> String {
    harmless(&text::one_line(stored))
}

/// Returns stored text with its lines and tabs that moves no terminal otherwise.
pub(crate) fn harmless(stored: &str) -> String {
    // U+0085 is a line end that one_line keeps.
    let moves = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\u{85}');
    stored.chars().map(|c| if moves(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Writes a count with its noun, such as `1 memory` or `2 memories`.
pub(crate) fn counted(count: u64, singular: &str, plural: &str) -> String {
    format!("{count} {}", if count == 1 { singular } else { plural })
}

/// Writes a number of bytes, such as `1.5 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1024.0;
    let mut unit = UNITS[0];
    for larger in &UNITS[1..] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    format!("{value:.1} {unit}")
}
