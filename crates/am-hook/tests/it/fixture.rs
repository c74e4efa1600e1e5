//! Spools of released line versions: what an older hook left behind must arrive.
//!
//! `tests/fixtures/vN/spool` is a spool as a build of line version N left it, and is never written again. For a new
//! version: keep the older ones with their tests, and add a directory with what the writer of that version makes.

use std::fs;
use std::path::{Path, PathBuf};

use am_hook::delivery::Delivery;
use am_hook::places::SPOOL_NAME;
use am_hook::spool::{Counters, Drained, Pending, Spool, SpooledDelivery, Verdict};
use tempfile::TempDir;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1/spool")
}

/// A data directory with a copy of the spool.
fn copy() -> (TempDir, Spool) {
    let directory = tempfile::tempdir().unwrap();
    let spool = directory.path().join(SPOOL_NAME);
    fs::create_dir(&spool).unwrap();
    for entry in fs::read_dir(fixture()).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, spool.join(path.file_name().unwrap())).unwrap();
    }
    let spool = Spool::of(directory.path());
    (directory, spool)
}

fn waiting(key: &str, content: &str, event: &str, at: i64, target: Option<&str>) -> SpooledDelivery {
    SpooledDelivery {
        delivery: Delivery {
            content: content.to_owned(),
            project: "größe/工具".to_owned(),
            session_id: "s \"1\"".to_owned(),
            origin: format!("hook:{event}"),
            key: key.to_owned(),
            event_time: at,
        },
        target: target.map(str::to_owned),
    }
}

/// What waits in the fixture, oldest first: the first one in a segment whose drainer died.
fn expected() -> [SpooledDelivery; 4] {
    let random = "delivery:0f8fad5b-d9cb-469f-a165-70867728950e";
    [
        waiting(random, "agent session started", "SessionStart", 1_900_000_000_000, None),
        waiting("host:PostToolUse:toolu_01", "tool used: Grep", "PostToolUse", 1_900_000_001_000, None),
        waiting(
            "host:PostToolUse:toolu_02",
            "file edited via Write: 工具 \\ 🚀",
            "PostToolUse",
            1_900_000_002_000,
            Some("https://memory.example/team"),
        ),
        waiting("delivery:1", "agent session ended", "SessionEnd", -1, None),
    ]
}

#[test]
fn a_spool_of_version_1_arrives() {
    let (_directory, spool) = copy();
    let bytes = segments(&fixture()).iter().map(|segment| fs::metadata(segment).unwrap().len()).sum();
    assert_eq!(spool.pending().unwrap(), Pending { deliveries: 5, bytes });
    let counted = Counters { spooled: 7, dropped: 2, foreign: 1, refused: 3, broken: 4 };
    assert_eq!(spool.counters().unwrap(), counted);
    let mut arrived = vec![];
    let drained = spool
        .drain(|waiting| {
            arrived.push(waiting.clone());
            Verdict::Delivered
        })
        .unwrap();
    assert_eq!(arrived, expected());
    assert_eq!(drained, Drained { delivered: 4, broken: 1, ..Drained::default() });
    assert_eq!(spool.pending().unwrap(), Pending::default());
    assert_eq!(spool.counters().unwrap(), Counters { broken: 5, ..counted });
}

/// The files of lines, oldest first.
fn segments(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl" || end == "claim"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn lines_are_written_as_in_version_1() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    for SpooledDelivery { delivery, target } in expected() {
        spool.append(&delivery, target.as_deref()).unwrap();
    }
    let written: String = segments(&directory.path().join(SPOOL_NAME))
        .iter()
        .map(|segment| fs::read_to_string(segment).unwrap())
        .collect();
    // But for the line that a dying process left open.
    let kept: Vec<String> = segments(&fixture())
        .iter()
        .flat_map(|segment| {
            fs::read_to_string(segment).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .filter(|line| line.ends_with('}'))
        .collect();
    assert_eq!(written.lines().collect::<Vec<_>>(), kept);
    assert!(written.ends_with('\n'));
}
