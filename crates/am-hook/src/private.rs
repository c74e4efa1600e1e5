//! Private files and directories: readable by their owner only.

use std::{
    fs::{self, OpenOptions},
    io,
    path::Path,
};

/// Creates a directory (and its parents) that only the owner may enter, unless it is there already.
pub(crate) fn create_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Gives options that create a file for its owner alone.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// What others than a directory's owner may do in it.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// Tells whether nobody but its owner could have put `file` into its directory.
#[cfg(unix)]
pub(crate) fn is_our_own(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let Some(directory) = file.parent() else { return false };
    let (Ok(file), Ok(directory)) = (fs::metadata(file), fs::metadata(directory)) else { return false };
    // A directory closed to others which we can enter is ours.
    directory.mode() & OTHERS == 0 && file.uid() == directory.uid()
}
