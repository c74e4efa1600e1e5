//! A search's reply as the text a model reads.

use crate::{
    payload::{self, Object},
    text,
};

const LONGEST_BLOCK: usize = 4000;
const LONGEST_QUERY: usize = 160;
const LONGEST_CONTENT: usize = 240;
const LONGEST_SIGNAL: usize = 120;
const MOST_SIGNALS: usize = 3;
const HINT: &str = "Recall deeper: memory_smart_search (hybrid RRF); keyword-only: memory_search; persist durable \
                    facts: memory_save; remove one: memory_forget.";

/// One hit of a search, as far as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The memory's public id; empty when unknown.
    pub memory_id: String,
    /// The text, as stored.
    pub content: String,
    /// The fused score.
    pub score: f64,
    /// Where the hit came from; `?` when unknown.
    pub source: String,
    /// When it was made, ISO 8601; empty when unknown.
    pub created_at: String,
    /// Importance, 0 to 1.
    pub importance: Option<f64>,
}

/// Reads a search's reply: the rows that have content, and the first three signals. `None` when the reply is
/// no search result.
pub fn parse(reply: &str) -> Option<(Vec<Row>, Vec<String>)> {
    let reply = Object::parse(reply)?;
    let rows =
        reply.array("results")?.into_iter().filter_map(|row| read_row(&Object::parse(row.get())?)).collect();
    let signals = reply.array("signals").unwrap_or_default();
    let signals = signals
        .into_iter()
        .filter_map(payload::string)
        .filter(|signal| !text::is_blank(signal))
        .take(MOST_SIGNALS)
        .collect();
    Some((rows, signals))
}

fn read_row(row: &Object<'_>) -> Option<Row> {
    Some(Row {
        content: row.text("content").filter(|content| !text::is_blank(content))?,
        memory_id: row.text("memoryId").unwrap_or_default(),
        score: row.number("score").unwrap_or(0.0),
        source: row.text("source").filter(|source| !source.is_empty()).unwrap_or_else(|| "?".to_owned()),
        created_at: row.text("createdAt").unwrap_or_default(),
        importance: row.number("importance").filter(|importance| (0.0..=1.0).contains(importance)),
    })
}

/// Makes every text of the rows and signals one line without anything hidden in it, so that none can pose as a row;
/// what has nothing left to show goes.
pub(super) fn tidy(rows: Vec<Row>, signals: Vec<String>) -> (Vec<Row>, Vec<String>) {
    let rows = rows.into_iter().map(|row| Row {
        memory_id: text::visible_line(&row.memory_id),
        content: text::visible_line(&row.content),
        source: text::visible_line(&row.source),
        ..row
    });
    let signals = signals.iter().map(|signal| text::visible_line(signal));
    (
        rows.filter(|row| !row.content.is_empty()).collect(),
        signals.filter(|signal| !signal.is_empty()).collect(),
    )
}

/// Writes the first `limit` rows as a text of at most 4000 UTF-16 units; `None` when there are no rows.
/// `now` is in milliseconds since 1970-01-01 UTC.
pub fn block(
    project: &str,
    query: &str,
    limit: usize,
    rows: &[Row],
    signals: &[String],
    now: i64,
) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let shown = rows.len().min(limit);
    let mut lines = vec![format!(
        "Auto-recalled from agent-memory (project \"{project}\", hybrid RRF, {shown} of {} hits) for: \"{}\"",
        rows.len(),
        clip(query, LONGEST_QUERY)
    )];
    lines.extend(rows.iter().take(shown).enumerate().map(|(position, row)| line(position + 1, row, now)));
    if !signals.is_empty() {
        let shown: Vec<String> =
            signals.iter().take(MOST_SIGNALS).map(|signal| clip(signal, LONGEST_SIGNAL)).collect();
        lines.push(format!("Signals (recall is partial): {}", shown.join("; ")));
    }
    lines.push(HINT.to_owned());
    Some(clip(&lines.join("\n"), LONGEST_BLOCK))
}

fn line(number: usize, row: &Row, now: i64) -> String {
    let mut facts = vec![row.source.clone(), format!("score {}", fixed(row.score, 4))];
    facts.extend(row.importance.map(|importance| format!("imp {}", fixed(importance, 2))));
    facts.extend(instant(&row.created_at).map(|created| age(now - created)));
    let id = row.memory_id.get(..text::cut(&row.memory_id, 8)).unwrap_or_default();
    let id = if id.is_empty() { String::new() } else { format!(" (id={id})") };
    format!("{number}. [{}] {}{id}", facts.join(" · "), clip(&row.content, LONGEST_CONTENT))
}

/// Cuts to at most `limit` UTF-16 units, the last three of which say that something is missing.
fn clip(whole: &str, limit: usize) -> String {
    if text::cut(whole, limit) == whole.len() {
        return whole.to_owned();
    }
    format!("{}...", whole.get(..text::cut(whole, limit - 3)).unwrap_or_default())
}

/// Writes a number with `digits` decimals, halves rounded up as ECMAScript's `toFixed` does.
fn fixed(number: f64, digits: usize) -> String {
    let scale = 10_f64.powi(digits as i32);
    let scaled = number * scale;
    let is_half = scaled.fract() == 0.5 && scaled / scale == number;
    format!("{:.digits$}", if is_half { scaled.ceil() / scale } else { number })
}

/// Writes an age given in milliseconds; the future is now.
fn age(milliseconds: i64) -> String {
    let rounded = |amount: i64, unit: i64| (amount + unit / 2) / unit;
    let seconds = rounded(milliseconds.max(0), 1000);
    let minutes = rounded(seconds, 60);
    let hours = rounded(minutes, 60);
    match (seconds, minutes, hours) {
        (..60, _, _) => format!("{seconds}s ago"),
        (_, ..60, _) => format!("{minutes}m ago"),
        (_, _, ..48) => format!("{hours}h ago"),
        _ => format!("{}d ago", rounded(hours, 24)),
    }
}

/// Reads `YYYY-MM-DDTHH:MM:SS.mmmZ` as milliseconds since 1970-01-01 UTC.
fn instant(text: &str) -> Option<i64> {
    let is_shaped = text.len() == 24
        && text.bytes().zip(b"0000-00-00T00:00:00.000Z".iter()).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            mark => byte == *mark,
        });
    if !is_shaped {
        return None;
    }
    let part = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (part(0..4)?, part(5..7)?, part(8..10)?);
    let time = ((part(11..13)? * 60 + part(14..16)?) * 60 + part(17..19)?) * 1000 + part(20..23)?;
    if !(1..=12).contains(&month) {
        return None;
    }
    // Days of a calendar whose years begin in March, so that leap days come last.
    let (shifted_year, shifted_month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = shifted_year.div_euclid(4) - shifted_year.div_euclid(100) + shifted_year.div_euclid(400);
    let days = shifted_year * 365 + leap_days + (153 * shifted_month + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400_000 + time)
}

#[cfg(test)]
mod tests {
    use super::{fixed, instant};

    #[test]
    fn halves_round_up() {
        assert_eq!(fixed(0.625, 2), "0.63");
        assert_eq!(fixed(0.5, 2), "0.50");
        assert_eq!(fixed(1.005, 2), "1.00");
    }

    #[test]
    fn instants_count_from_1970() {
        assert_eq!(instant("1970-01-01T00:00:00.000Z"), Some(0));
        assert_eq!(instant("2024-02-29T12:34:56.789Z"), Some(1_709_210_096_789));
        assert_eq!(instant("2100-03-01T00:00:00.000Z"), Some(4_107_542_400_000));
        assert_eq!(instant("yesterday"), None);
    }
}
