//! The signs that an answer is partial.

use am_model::{Signal, text};

/// Longest message in the note of a remote database's error, in UTF-16 code units.
pub const REMOTE_MESSAGE_MAX: usize = 160;
/// Longest message in the note of any other error.
pub const MESSAGE_MAX: usize = 200;

/// Returns the short text of a failure: `NAME: MESSAGE`, the message on one line and cut after `bound` UTF-16 code
/// units, U+2026 standing for the rest.
///
/// What is passed in reaches clients: it must hold no address, path or secret.
pub fn failure_note(code_or_name: &str, message: &str, bound: usize) -> String {
    let message = text::one_line(message);
    let kept = text::cut(&message, bound);
    let rest = if kept.len() < message.len() { "\u{2026}" } else { "" };
    format!("{code_or_name}: {kept}{rest}")
}

/// Returns the signal that a part of the answer is missing, such as `text`, `counts` or `memories(SESSION)`.
pub fn failed(part: &str, note: &str) -> Signal {
    Signal(format!("{part}: {note}"))
}

/// Returns the signal that TTL hid rows; `None` if it hid none.
pub fn hidden(rows: usize) -> Option<Signal> {
    (rows > 0).then(|| Signal(format!("ttl: hidden {rows} expired rows")))
}
