//! Lines of a file, one after the other, none larger in memory than it may be.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::failure::{Failure, Result};

/// Largest line that is looked at, in bytes. A memory of the largest size takes less, escaped and with its vector.
pub(crate) const LINE_MAX: usize = 16 << 20;

/// What came next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A line, without its end.
    Line,
    /// A line that is too large; it was passed over.
    TooLarge,
    /// Nothing more.
    End,
}

/// Reads lines, and counts them and their bytes.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    /// The line that [`Lines::next`] has read.
    pub(crate) line: Vec<u8>,
    /// Its number, from 1.
    pub(crate) number: u64,
    /// Bytes read so far.
    pub(crate) bytes: u64,
    maximum: usize,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self::bounded(reader, LINE_MAX)
    }

    fn bounded(reader: R, maximum: usize) -> Self {
        Self { reader: BufReader::new(reader), line: vec![], number: 0, bytes: 0, maximum }
    }

    /// Reads the next line.
    pub(crate) fn next(&mut self) -> io::Result<Next> {
        self.line.clear();
        let mut length = 0;
        loop {
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                if length == 0 {
                    return Ok(Next::End);
                }
                break;
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(chunk.len(), |end| end + 1);
            let text = end.map_or(chunk, |end| chunk.get(..end).unwrap_or_default());
            if self.line.len() + text.len() <= self.maximum {
                self.line.extend_from_slice(text);
            }
            length += text.len();
            self.reader.consume(taken);
            self.bytes += taken as u64;
            if end.is_some() {
                break;
            }
            // Even an empty rest of a file without a last line end is no line of its own.
            length = length.max(1);
        }
        self.number += 1;
        if length > self.maximum {
            self.line = vec![];
            return Ok(Next::TooLarge);
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Ok(Next::Line)
    }
}

/// Opens a file, or standard input for `-`. Gives its size too, 0 where that is unknown.
pub(crate) fn open(path: &Path) -> Result<(Box<dyn Read>, u64)> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(io::stdin()), 0));
    }
    let file = std::fs::File::open(path).map_err(|error| Failure::file("open", path, &error))?;
    let metadata = file.metadata().map_err(|error| Failure::file("read", path, &error))?;
    if metadata.is_dir() {
        let error = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(Failure::file("read", path, &error));
    }
    Ok((Box::new(file), metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::{Lines, Next};

    fn read(text: &str) -> Vec<(Next, String, u64)> {
        let mut lines = Lines::bounded(text.as_bytes(), 5);
        let mut all = vec![];
        loop {
            let next = lines.next().unwrap();
            if next == Next::End {
                return all;
            }
            all.push((next, String::from_utf8(lines.line.clone()).unwrap(), lines.number));
        }
    }

    #[test]
    fn lines_end_at_line_feeds_and_at_the_end() {
        let line = |text: &str, number| (Next::Line, text.to_owned(), number);
        assert_eq!(read(""), []);
        assert_eq!(read("\n"), [line("", 1)]);
        assert_eq!(read("a\n\nb"), [line("a", 1), line("", 2), line("b", 3)]);
        assert_eq!(read("a\r\nb\r\n"), [line("a", 1), line("b", 2)]);
        assert_eq!(read("12345\n"), [line("12345", 1)]);
    }

    #[test]
    fn what_is_too_large_is_passed_over() {
        let large = (Next::TooLarge, String::new(), 1);
        assert_eq!(read("123456"), std::slice::from_ref(&large));
        assert_eq!(
            read(&format!("{}\nab\n", "x".repeat(100_000))),
            [large, (Next::Line, "ab".to_owned(), 2)]
        );
    }
}
