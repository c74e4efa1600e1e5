//! The file: who may read it, what is refused, what is kept.

use std::fs;

use am_embed::analysis::Profile;
use am_store::{Store, StoreError};
use am_store_sqlite::{FILE_NAME, SqliteStore};

use crate::support::{found, open, options, save};

/// Every file of a directory with its bytes.
fn bytes(directory: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("deep").join("data");
    let store = open(&directory);
    save(&store, "who may read this");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn a_store_of_a_newer_version_is_refused_and_left_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()));
    let file = directory.path().join(FILE_NAME);
    rusqlite::Connection::open(&file).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    let before = bytes(directory.path());
    let refused = SqliteStore::open(directory.path(), options(Profile::Default)).unwrap_err();
    assert_eq!(refused, StoreError::NewerSchema { found: 99, supported: 1 });
    assert!(bytes(directory.path()) == before, "the directory has changed");
}

#[test]
fn a_file_of_another_program_is_refused_and_left_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join(FILE_NAME);
    rusqlite::Connection::open(&file).unwrap().execute_batch("CREATE TABLE theirs(a)").unwrap();
    let before = bytes(directory.path());
    assert_eq!(
        SqliteStore::open(directory.path(), options(Profile::Default)).unwrap_err(),
        StoreError::Foreign
    );
    assert!(bytes(directory.path()) == before, "the directory has changed");
    fs::write(&file, "no database at all, but long enough to have a head".repeat(40)).unwrap();
    let before = bytes(directory.path());
    assert_eq!(
        SqliteStore::open(directory.path(), options(Profile::Default)).unwrap_err(),
        StoreError::Foreign
    );
    assert!(bytes(directory.path()) == before, "the directory has changed");
}

#[tokio::test]
async fn a_process_stops_when_a_newer_one_migrates_under_it() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    save(&store, "before the migration");
    rusqlite::Connection::open(directory.path().join(FILE_NAME))
        .unwrap()
        .execute_batch("PRAGMA user_version = 99; UPDATE meta SET value = value + 1 WHERE key = 'epoch'")
        .unwrap();
    let refused = StoreError::NewerSchema { found: 99, supported: 1 };
    assert_eq!(store.identity().await.unwrap_err(), refused);
    assert_eq!(store.search_blocking(&crate::support::query("migration", 5)).lexical.unwrap_err(), refused);
}

#[tokio::test]
async fn what_a_store_records_wins_over_what_is_asked() {
    let directory = tempfile::tempdir().unwrap();
    let made = SqliteStore::open(directory.path(), options(Profile::Contract)).unwrap();
    let again = open(directory.path());
    assert_eq!(again.identity().await.unwrap().profile, Profile::Contract);
    assert_eq!(again.identity().await.unwrap(), made.identity().await.unwrap());
}

#[test]
fn a_store_is_found_again() {
    let directory = tempfile::tempdir().unwrap();
    assert!(!SqliteStore::exists(directory.path()));
    save(&open(directory.path()), "kept over the end of a process");
    assert!(SqliteStore::exists(directory.path()));
    assert_eq!(found(&open(directory.path()), "kept"), ["kept over the end of a process"]);
}

#[test]
fn a_read_only_directory_is_an_error_that_says_so() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("a file");
    fs::write(&file, "").unwrap();
    let refused = SqliteStore::open(&file.join("below"), options(Profile::Default)).unwrap_err();
    let StoreError::Unavailable { detail } = refused else { panic!("{refused:?}") };
    assert!(detail.starts_with("making the data directory"), "{detail}");
    assert!(!detail.contains('/'), "{detail}");
}

#[cfg(unix)]
#[test]
fn a_file_that_was_removed_takes_no_more_writes() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    save(&store, "before the file was removed");
    fs::remove_dir_all(directory.path()).unwrap();
    let save = crate::support::note("after the file was removed", "s");
    let change = am_store::Change {
        audit: crate::support::audit(),
        analysis: None,
        action: am_store::Action::Save(Box::new(save)),
    };
    let refused = store.commit_blocking(change).unwrap_err();
    let removed = "the database file was removed while it was open".to_owned();
    assert_eq!(refused, StoreError::Unavailable { detail: removed });
    assert!(store.search_blocking(&crate::support::query("before", 5)).lexical.is_err());
}

#[cfg(unix)]
#[test]
fn a_file_that_was_replaced_is_followed() {
    let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(directory.path());
    save(&store, "in the first file");
    assert_eq!(found(&store, "file"), ["in the first file"]);
    drop(open(elsewhere.path()));
    let other = open(elsewhere.path());
    save(&other, "in the second file");
    drop(other);
    for name in [FILE_NAME.to_owned(), format!("{FILE_NAME}-wal"), format!("{FILE_NAME}-shm")] {
        drop(fs::remove_file(directory.path().join(name)));
    }
    fs::rename(elsewhere.path().join(FILE_NAME), directory.path().join(FILE_NAME)).unwrap();
    assert_eq!(found(&store, "file"), ["in the second file"]);
    save(&store, "saved where everybody looks");
    assert_eq!(found(&open(directory.path()), "everybody"), ["saved where everybody looks"]);
}
