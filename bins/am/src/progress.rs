//! A bar for work that takes long: on standard error, and only on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// A bar. Dropped, it disappears.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Makes a bar that counts `unit`s; `unit` is `bytes` or a plural noun.
    pub(crate) fn new(output: Output, what: &'static str, unit: &'static str) -> Self {
        // Off a terminal this target draws nothing.
        let target = if output.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target).with_message(what);
        let template = if unit == "bytes" {
            "{msg} [{bar:30}] {bytes}/{total_bytes}".to_owned()
        } else {
            format!("{{msg}} [{{bar:30}}] {{pos}}/{{len}} {unit}")
        };
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        Self(bar)
    }

    pub(crate) fn set(&self, done: u64, total: u64) {
        self.0.set_length(total);
        self.0.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
