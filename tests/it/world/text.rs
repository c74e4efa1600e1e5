//! Texts: facts that are unlike one another, and families of near-duplicates.

/// Words of a family that all its members have.
const COMMON: u64 = 30;

/// Returns a word of its own for a kind and a number.
pub(crate) fn word(kind: char, number: u64) -> String {
    let mut word = String::from(kind);
    let mut rest = number;
    loop {
        let digit = char::from_digit((rest % 16) as u32, 16).unwrap_or('0');
        // Letters only, and endings that no stemmer takes off.
        let letter = match digit {
            '0'..='9' => char::from(b'b' + (digit as u8 - b'0')),
            other => char::from(b'm' + (other as u8 - b'a')),
        };
        word.push(letter);
        word.push('o');
        rest /= 16;
        if rest == 0 {
            break;
        }
    }
    word.push('k');
    word
}

/// Returns a fact that shares few words with any other.
pub(crate) fn fact(kind: char, number: u64) -> String {
    let own: Vec<String> = ('r'..='w').map(|place| format!("{place}{}", word(kind, number))).collect();
    format!("{} is what {} decided about {}", word(kind, number), own.join(" "), word('y', number % 7))
}

/// Returns a member of a family of near-duplicates, with the word that is its own.
///
/// Two members share 30 of 32 words; a row of two of them and a third share 30 of 33: all at least 0.9 alike. A row of
/// more is unlike a further one.
pub(crate) fn variant(family: u64, number: u64) -> (String, String) {
    let common: Vec<String> = (0..COMMON).map(|place| word('f', family * COMMON + place)).collect();
    let own = word('v', number);
    (format!("{} {own}", common.join(" ")), own)
}
