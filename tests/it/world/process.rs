//! Processes that can't outlive their test.

use std::io::Read;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// Longest wait for anything: past it, it does not happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something holds.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "it does not come about: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// What a stream says, taken in as it comes: no writer ever waits for the test.
#[derive(Debug)]
pub(crate) struct Heard {
    text: Arc<Mutex<Vec<u8>>>,
    listener: Option<JoinHandle<()>>,
}

impl Heard {
    pub(crate) fn of(mut stream: impl Read + Send + 'static) -> Self {
        let text = Arc::new(Mutex::new(vec![]));
        let heard = Arc::clone(&text);
        let listener = thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count) = stream.read(&mut buffer) {
                if count == 0 {
                    return;
                }
                heard.lock().unwrap().extend(buffer.iter().take(count));
            }
        });
        Self { text, listener: Some(listener) }
    }

    /// Returns what was said so far.
    pub(crate) fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.text.lock().unwrap()).into_owned()
    }

    /// Returns everything, once the stream has ended.
    pub(crate) fn whole(&mut self) -> String {
        if let Some(listener) = self.listener.take() {
            listener.join().unwrap();
        }
        self.so_far()
    }
}

/// Ends a process as a crash would. It is one of ours that nobody has waited for: the number is still its own.
pub(crate) fn kill(process: Pid) {
    rustix::process::kill_process(process, Signal::KILL).unwrap();
}

/// A process. Killed when dropped.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) child: Child,
    errors: Heard,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let errors = Heard::of(child.stderr.take().unwrap());
        Self { child, errors }
    }

    pub(crate) fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) {
        rustix::process::kill_process(self.id(), Signal::TERM).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "it does not end: {:?}", self.child);
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Returns what it said on its error stream so far.
    pub(crate) fn errors(&self) -> String {
        self.errors.so_far()
    }

    /// Returns everything it said on its error stream, once it has ended.
    pub(crate) fn last_errors(&mut self) -> String {
        self.errors.whole()
    }

    /// Returns the processes it has started that are still there.
    #[cfg(target_os = "linux")]
    pub(crate) fn children(&self) -> Vec<String> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        tasks
            .filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("children")).ok())
            .flat_map(|children| children.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>())
            .collect()
    }

    /// Returns the processor time it has used, in clock ticks of usually 10 ms.
    #[cfg(target_os = "linux")]
    pub(crate) fn processor_ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let (_, after_name) = stat.rsplit_once(") ").unwrap();
        // Fields 14 and 15 of the line; the name was the second.
        after_name.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Ours, by its own handle; it may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
