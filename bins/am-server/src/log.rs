//! What the server prints: replies and governed deletes on standard output, failures on standard error.

use std::io::{self, Write as _};
use std::sync::Arc;

use am_api::{Answered, Deleted, Failed, Metrics, Observer};

use crate::error::warn;

/// Prints, and counts where metrics are wanted.
pub(crate) struct Log {
    pub(crate) metrics: Option<Arc<Metrics>>,
}

impl Observer for Log {
    fn answered(&self, request: &Answered<'_>) {
        let Answered { method, path, status, elapsed, .. } = request;
        say(&format!("{method} {path} {status} {}ms", elapsed.as_millis()));
        if let Some(metrics) = &self.metrics {
            metrics.answered(request);
        }
    }

    fn failed(&self, failure: &Failed<'_>) {
        let Failed { method, path, status, note } = failure;
        warn(&format!("{method} {path} -> {status}: {}", plain(note)));
    }

    fn deleted(&self, deletion: &Deleted<'_>) {
        let Deleted { receipt, reason } = deletion;
        say(&format!(
            "[agentmemory] delete governance memoryId={} reason={} at={}",
            plain(receipt.memory_id.as_str()),
            plain(reason),
            receipt.deleted_at
        ));
    }
}

/// Writes a line on standard output. If no one reads it, that can't be helped.
pub(crate) fn say(line: &str) {
    drop(writeln!(io::stdout().lock(), "{line}"));
}

/// Takes what a terminal or a reader of lines would act on out of a text.
fn plain(text: &str) -> String {
    let acts = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars().map(|c| if acts(c) { '\u{fffd}' } else { c }).collect()
}
