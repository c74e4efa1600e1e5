//! What the operating system must give: a private directory on a local disk.

use std::fs;
use std::path::Path;

use am_store::StoreError;

fn unavailable(attempted: &str, error: &std::io::Error) -> StoreError {
    match error.kind() {
        std::io::ErrorKind::StorageFull => StoreError::Full,
        kind => StoreError::Unavailable { detail: format!("{attempted}: {kind}") },
    }
}

/// Makes the data directory, for its owner only, where it is missing.
pub(crate) fn make_directory(directory: &Path) -> Result<(), StoreError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory).map_err(|error| unavailable("making the data directory", &error))
}

/// Makes the database file, for its owner only, where it is missing.
///
/// Never opens an existing file: closing it would drop the engine's locks of this process.
pub(crate) fn make_file(file: &Path) -> Result<(), StoreError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(file) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(unavailable("making the database file", &error)),
    }
}

/// Refuses file systems over a network: the write-ahead log needs memory that all processes share.
#[cfg(target_os = "linux")]
pub(crate) fn refuse_network(directory: &Path) -> Result<(), StoreError> {
    let found = rustix::fs::statfs(directory)
        .map_err(|error| unavailable("looking at the data directory", &error.into()))?;
    if is_network(found.f_type as u32) {
        return Err(StoreError::Unavailable {
            detail: "the data directory lies on a network file system".to_owned(),
        });
    }
    Ok(())
}

/// Tells network file systems by the magic numbers of statfs(2): NFS, SMB, CIFS, SMB2, 9p, AFS, Ceph, Coda.
#[cfg(target_os = "linux")]
fn is_network(magic: u32) -> bool {
    const NETWORK: [u32; 8] =
        [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997, 0x5346_414f, 0x00c3_6400, 0x7375_7245];
    NETWORK.contains(&magic)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::is_network;

    #[test]
    fn network_file_systems_are_told_from_local_ones() {
        for (name, magic, is) in [
            ("nfs", 0x6969, true),
            ("smb2", 0xfe53_4d42, true),
            ("9p", 0x0102_1997, true),
            ("ext4", 0xef53, false),
            ("tmpfs", 0x0102_1994, false),
            ("btrfs", 0x9123_683e, false),
            ("xfs", 0x5846_5342, false),
            ("overlay", 0x794c_7630, false),
        ] {
            assert_eq!(is_network(magic), is, "{name}");
        }
    }
}

/// Other systems give no portable answer; documented as a limit.
#[cfg(not(target_os = "linux"))]
pub(crate) fn refuse_network(_: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// What tells one file from another that takes its name; `None` where the system does not say.
pub(crate) type FileIdentity = Option<(u64, u64)>;

/// Looks which file has the name now.
///
/// # Errors
/// There is none, or it can't be looked at.
pub(crate) fn identity(file: &Path) -> Result<FileIdentity, StoreError> {
    match fs::metadata(file) {
        Ok(found) => Ok(identity_of(&found)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(StoreError::Unavailable {
            detail: "the database file was removed while it was open".to_owned(),
        }),
        Err(error) => Err(unavailable("looking at the database file", &error)),
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems do not say")]
fn identity_of(found: &fs::Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt as _;
    Some((found.dev(), found.ino()))
}

/// Elsewhere a file that is open can't be taken away.
#[cfg(not(unix))]
fn identity_of(_: &fs::Metadata) -> FileIdentity {
    None
}
