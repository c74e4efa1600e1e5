//! The key under which two saves count as the same text.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::{Project, text};

/// Returns `content` as the dedup key sees it: Unicode lower case, white-space runs as one space, trimmed.
pub fn normalise(content: &str) -> String {
    text::collapse_white_space(&content.to_lowercase())
}

/// SHA-256 of project, line feed and normalised content: equal for texts that are saved once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DedupKey(pub [u8; 32]);

impl DedupKey {
    /// Derives the key of `content` in `project`.
    pub fn of(project: &Project, content: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(project.as_str().as_bytes());
        hash.update(b"\n");
        hash.update(normalise(content).as_bytes());
        Self(hash.finalize().into())
    }

    /// Reads a key from its 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut key = [0_u8; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        for (byte, digits) in key.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Self(key))
    }
}

impl fmt::Display for DedupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for DedupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DedupKey({self})")
    }
}
