//! What is on disk, byte for byte, and disks that are small.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

/// Returns every file under a directory with its bytes.
pub(crate) fn bytes_of(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                files.insert(entry.path(), fs::read(entry.path()).unwrap());
            }
        }
    }
    files
}

/// Returns the files under a directory whose bytes hold `needle`, whatever the case of its ASCII letters.
pub(crate) fn holding(directory: &Path, needle: &[u8]) -> Vec<PathBuf> {
    let needle = needle.to_ascii_lowercase();
    let (first, rest) = needle.split_first().unwrap();
    let holds = |bytes: &[u8]| {
        let bytes = bytes.to_ascii_lowercase();
        let mut from = bytes.as_slice();
        while let Some(at) = from.iter().position(|byte| byte == first) {
            from = from.split_at(at + 1).1;
            if from.starts_with(rest) {
                return true;
            }
        }
        false
    };
    bytes_of(directory).into_iter().filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path).collect()
}

/// A file system of a few MiB. Gone when dropped, after the programs on it.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct SmallDisk {
    place: PathBuf,
}

#[cfg(target_os = "linux")]
impl SmallDisk {
    /// Mounts one, where the machine lets us.
    pub(crate) fn mount(place: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(place).unwrap();
        let options = format!("size={size},mode=0700");
        Self::run("mount", &["-t", "tmpfs", "-o", &options, "tmpfs"], place)
            .then(|| Self { place: place.to_owned() })
    }

    /// Gives it another size.
    pub(crate) fn resize(&self, size: &str) {
        assert!(Self::run("mount", &["-o", &format!("remount,size={size}")], &self.place));
    }

    fn run(program: &str, arguments: &[&str], place: &Path) -> bool {
        let status = Command::new(program)
            .args(arguments)
            .arg(place)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        Self::run("umount", &["--lazy"], &self.place);
    }
}

/// Returns the command under a limit for the size of each file it writes, as quotas set one: a write beyond fails.
#[cfg(target_os = "linux")]
pub(crate) fn limited(program: &Path, half_kibibytes: u32) -> Command {
    let mut command = Command::new("sh");
    // The signal would kill where a failing write is wanted; a program inherits that it is ignored.
    let script = format!("trap '' XFSZ; ulimit -f {half_kibibytes}; exec \"$0\" \"$@\"");
    command.args(["-c", &script]).arg(program);
    command
}
