//! Fresh random identifiers (UUID v4) without a random-number crate.

use std::hash::{BuildHasher, RandomState};

/// Makes a fresh UUID v4 in its usual text form.
///
/// The 128 bits are a keyed hash under a key the standard library takes from the operating system: unique
/// enough for names of sessions and deliveries, not meant as a secret.
pub(crate) fn fresh() -> String {
    let key = RandomState::new();
    let bits = (u128::from(key.hash_one(1_u64)) << 64) | u128::from(key.hash_one(2_u64));
    let version_4 = (bits & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{version_4:032x}");
    let mut text = String::with_capacity(36);
    for (position, digit) in hex.chars().enumerate() {
        if matches!(position, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::fresh;
    use std::collections::HashSet;

    #[test]
    fn identifiers_are_version_4_and_differ() {
        let made: HashSet<String> = (0..1000).map(|_| fresh()).collect();
        assert_eq!(made.len(), 1000);
        for text in made {
            assert_eq!(text.len(), 36);
            assert_eq!(text.as_bytes()[14], b'4');
            assert!(matches!(text.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
        }
    }
}
