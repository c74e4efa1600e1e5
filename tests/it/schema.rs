//! A store that a newer version has written: every program refuses it, says so, and leaves it as it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::json;

use crate::world::{Home, Mcp, Running, bytes_of, eventually};

/// Makes a store with a memory and says that a newer version has written it.
fn newer(home: &Home) -> Connection {
    assert_eq!(home.am(&["remember", "from before the upgrade"]).code, Some(0));
    let connection = Connection::open(home.data().join("memory.db")).unwrap();
    connection.execute_batch("PRAGMA user_version = 99").unwrap();
    connection
}

/// Returns the files of the memory, without what readers need to coordinate.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = bytes_of(directory);
    files.retain(|path, _| !path.to_string_lossy().ends_with("-shm"));
    files
}

fn refuses(home: &Home) {
    let before = contents(&home.data());

    let mut server = Running::start(home.command("am-server").args(["--port", "0"]));
    assert_eq!(server.wait().code(), Some(1));
    let said = server.last_errors();
    assert!(said.contains("schema version 99") && said.contains("hint: "), "{said}");

    let backup = home.path().join("copy");
    let commands: [&[&str]; 10] = [
        &["remember", "anything"],
        &["search", "upgrade"],
        &["recap"],
        &["sessions"],
        &["forget", "4fd2b3c4-0000-4000-8000-000000000000"],
        &["purge", "--all", "--days", "1"],
        &["backup", backup.to_str().unwrap()],
        &["export"],
        &["index", "rebuild"],
        &["verify"],
    ];
    for arguments in commands {
        let ran = home.am(arguments);
        assert_eq!(ran.code, Some(1), "{arguments:?}: {ran:?}");
        assert_eq!(ran.stdout, "", "{arguments:?}");
        assert!(
            ran.stderr.contains("schema version 99") && ran.stderr.contains("upgrade"),
            "{arguments:?}: {ran:?}"
        );
    }
    assert!(!backup.exists());

    let mut mcp = Mcp::start(home);
    let (failed, _) = mcp.try_call("memory_save", &json!({"content": "anything"})).unwrap();
    assert!(failed);
    let found = mcp.call("memory_search", &json!({"query": "upgrade"}));
    assert!(
        found["results"] == json!([]) && found["signals"].to_string().contains("schema version 99"),
        "{found}"
    );
    eventually("it says why", || mcp.process.errors().contains("schema version 99"));
    mcp.input = None;
    assert_eq!(mcp.process.wait().code(), Some(0));

    let after = contents(&home.data());
    assert!(before.keys().eq(after.keys()), "{:?} became {:?}", before.keys(), after.keys());
    assert!(before == after, "bytes have changed");
}

#[test]
fn a_newer_store_is_refused_and_untouched() {
    let home = Home::new();
    drop(newer(&home));
    refuses(&home);
    assert_eq!(bytes_of(&home.data()).len(), 1, "nothing is left behind beside the store");
}

#[test]
fn a_newer_store_in_use_is_refused_and_untouched() {
    let home = Home::new();
    // What the newer program has written is in its log still.
    let in_use = newer(&home);
    assert!(home.data().join("memory.db-wal").metadata().unwrap().len() > 0);
    refuses(&home);
    let version: i64 = in_use.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 99);
}
