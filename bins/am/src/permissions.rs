//! Who else may read our files. The only module of this package that differs between systems.

use std::path::Path;

/// Returns the permission bits of a file or directory where others than its owner have any.
#[cfg(unix)]
pub(crate) fn open_to_others(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = path.metadata().ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Elsewhere the directory inherits the permissions of the user's profile.
#[cfg(not(unix))]
pub(crate) fn open_to_others(_: &Path) -> Option<u32> {
    None
}
