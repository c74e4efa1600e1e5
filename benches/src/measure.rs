//! Clocks and medians.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns the processor time this thread has used.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Repeated measurements of one thing.
#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<Duration>);

impl Samples {
    /// Adds one.
    pub fn push(&mut self, sample: Duration) {
        self.0.push(sample);
    }

    /// Measures the processor time of `work`, and gives its value back.
    pub fn processor<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begin = thread_time();
        let value = work();
        self.push(thread_time().saturating_sub(begin));
        value
    }

    /// Measures the time on the wall of `work`, and gives its value back.
    pub fn wall<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let begin = std::time::Instant::now();
        let value = work();
        self.push(begin.elapsed());
        value
    }

    /// Returns the sample below which a share of all lie; 0 for none.
    pub fn quantile(&self, share: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
        sorted.get(at).copied().unwrap_or_default()
    }

    /// Returns the median in milliseconds.
    pub fn median_ms(&self) -> f64 {
        self.quantile(0.5).as_secs_f64() * 1e3
    }

    /// Writes median and 99th percentile in milliseconds.
    pub fn show(&self) -> String {
        format!("{:.3} / {:.3}", self.median_ms(), self.quantile(0.99).as_secs_f64() * 1e3)
    }
}

/// Returns the resident memory of this process in MiB, where the system tells.
pub fn resident_mib() -> Option<f64> {
    resident_mib_of(std::process::id())
}

/// Returns the resident memory of a process in MiB, where the system tells.
pub fn resident_mib_of(process: u32) -> Option<f64> {
    status_mib(process, "VmRSS:")
}

/// Returns the most that was ever resident of a process in MiB, where the system tells.
pub fn peak_mib_of(process: u32) -> Option<f64> {
    status_mib(process, "VmHWM:")
}

fn status_mib(process: u32, name: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    let kib: f64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}
