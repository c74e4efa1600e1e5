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
    // Magic numbers of statfs(2): NFS, SMB, CIFS, SMB2, 9p, AFS, Ceph, Coda.
    const NETWORK: [u32; 8] =
        [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997, 0x5346_414f, 0x00c3_6400, 0x7375_7245];
    let found = rustix::fs::statfs(directory)
        .map_err(|error| unavailable("looking at the data directory", &error.into()))?;
    if NETWORK.contains(&(found.f_type as u32)) {
        return Err(StoreError::Unavailable {
            detail: "the data directory lies on a network file system".to_owned(),
        });
    }
    Ok(())
}

/// Other systems give no portable answer; documented as a limit.
#[cfg(not(target_os = "linux"))]
pub(crate) fn refuse_network(_: &Path) -> Result<(), StoreError> {
    Ok(())
}
