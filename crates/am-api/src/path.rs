//! Paths and query strings, read as URLs define them.

use std::borrow::Cow;

/// Resolves `.` and `..` segments, also written as `%2e`, and takes `\` for `/`, as the URL standard does.
///
/// Nothing else is decoded.
pub(crate) fn normalise(path: &str) -> Cow<'_, str> {
    if !path.contains('\\') && !path.split('/').any(|segment| dots(segment) > 0) {
        return Cow::Borrowed(path);
    }
    let mut kept: Vec<&str> = vec![];
    let mut segments = path.split(['/', '\\']).skip(1).peekable();
    while let Some(segment) = segments.next() {
        let dots = dots(segment);
        if dots == 2 {
            kept.pop();
        }
        if dots == 0 {
            kept.push(segment);
        } else if segments.peek().is_none() {
            kept.push("");
        }
    }
    Cow::Owned(format!("/{}", kept.join("/")))
}

/// Returns 1 for a segment that stays, 2 for one that goes up, 0 for a name.
fn dots(segment: &str) -> usize {
    let mut rest = segment;
    for dots in 0..3 {
        if rest.is_empty() {
            return dots;
        }
        let encoded = rest.get(..3).filter(|start| start.eq_ignore_ascii_case("%2e")).and(rest.get(3..));
        match rest.strip_prefix('.').or(encoded) {
            Some(after) => rest = after,
            None => return 0,
        }
    }
    0
}

/// Writes a path so that it stays on one line and is ASCII: what isn't is percent-encoded.
pub(crate) fn printable(path: &str) -> Cow<'_, str> {
    if path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Cow::Borrowed(path);
    }
    let mut printed = String::with_capacity(path.len() + 16);
    for byte in path.bytes() {
        if byte.is_ascii_graphic() {
            printed.push(char::from(byte));
        } else {
            printed.push('%');
            printed.extend(
                [byte >> 4, byte & 15].iter().filter_map(|digit| char::from_digit(u32::from(*digit), 16)),
            );
        }
    }
    Cow::Owned(printed)
}

/// Decodes the escapes of a path segment; `None` for a broken escape or bytes that are no UTF-8.
pub(crate) fn decode_segment(segment: &str) -> Option<String> {
    let (bytes, whole) = decode(segment.bytes());
    if whole { String::from_utf8(bytes).ok() } else { None }
}

/// Reads the pairs of a query string: `+` is a space, broken escapes stay, invalid UTF-8 is replaced.
pub(crate) fn query_pairs(query: &str) -> impl Iterator<Item = (String, String)> {
    let text = |part: &str| {
        let (bytes, _) = decode(part.bytes().map(|byte| if byte == b'+' { b' ' } else { byte }));
        String::from_utf8_lossy(&bytes).into_owned()
    };
    query.split('&').filter(|pair| !pair.is_empty()).map(move |pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (text(name), text(value))
    })
}

/// Replaces escapes by their bytes; tells whether every `%` was an escape.
fn decode(mut bytes: impl Iterator<Item = u8> + Clone) -> (Vec<u8>, bool) {
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    let mut decoded = vec![];
    let mut whole = true;
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut ahead = bytes.clone();
            if let (Some(high), Some(low)) = (digit(ahead.next()), digit(ahead.next())) {
                decoded.push((high * 16 + low) as u8);
                bytes = ahead;
                continue;
            }
            whole = false;
        }
        decoded.push(byte);
    }
    (decoded, whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_segments_are_resolved_as_urls_do() {
        for (path, expected) in [
            ("/memory/livez", "/memory/livez"),
            ("/memory/x/../livez", "/memory/livez"),
            ("/memory/./livez", "/memory/livez"),
            ("/memory/%2E/x/.%2e/livez", "/memory/livez"),
            ("/../../memory/livez", "/memory/livez"),
            ("/memory\\livez", "/memory/livez"),
            ("/memory/livez/.", "/memory/livez/"),
            ("/memory/livez/..", "/memory/"),
            ("/memory/...", "/memory/..."),
            ("/memory/..x/%2", "/memory/..x/%2"),
            ("//memory/livez", "//memory/livez"),
            ("/", "/"),
        ] {
            assert_eq!(normalise(path), expected, "{path}");
        }
    }

    #[test]
    fn a_path_segment_decodes_whole_or_not_at_all() {
        for (segment, expected) in [
            ("a%2Fb", Some("a/b")),
            ("%e4%b8%ad", Some("\u{4e2d}")),
            ("a+b", Some("a+b")),
            ("", Some("")),
            ("%", None),
            ("%4", None),
            ("%zz", None),
            ("%E0%A4%A", None),
            ("%ff", None),
        ] {
            assert_eq!(decode_segment(segment).as_deref(), expected, "{segment}");
        }
    }

    #[test]
    fn a_query_string_is_read_leniently() {
        let pairs: Vec<(String, String)> = query_pairs("a=1+2&b&&c=%zz%41&%61==&d=%ff").collect();
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(pairs, [("a", "1 2"), ("b", ""), ("c", "%zzA"), ("a", "="), ("d", "\u{fffd}")]);
    }

    #[test]
    fn a_printed_path_is_one_line_of_ascii() {
        assert_eq!(printable("/a\u{2028}\u{7f}b"), "/a%e2%80%a8%7fb");
    }
}
