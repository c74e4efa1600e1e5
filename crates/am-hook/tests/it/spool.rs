//! The spool: bounded, whole after any death, safe among many.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use am_hook::{
    delivery::Delivery,
    places,
    spool::{CAPACITY_BYTES, Counters, Drained, Pending, Spool, Verdict},
};

fn delivery(number: usize, content: &str) -> Delivery {
    Delivery {
        content: content.to_owned(),
        project: "p".to_owned(),
        session_id: "s".to_owned(),
        origin: "hook:Stop".to_owned(),
        key: format!("delivery:{number}"),
        event_time: 1_700_000_000_000 + number as i64,
    }
}

fn fill(spool: &Spool, count: usize) {
    for number in 0..count {
        spool.append(&delivery(number, "text"), None).unwrap();
    }
}

fn drain_keys(spool: &Spool) -> Vec<String> {
    let mut keys = Vec::new();
    spool
        .drain(|waiting| {
            keys.push(waiting.delivery.key.clone());
            Verdict::Delivered
        })
        .unwrap();
    keys
}

fn segments(directory: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory.join(places::SPOOL_NAME))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl" || end == "claim" || end == "tmp"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn deliveries_come_back_whole_and_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    let texts = ["plain", "\"quotes\"\n\\and\u{0}controls", "工具 🚀", ""];
    for (number, text) in texts.iter().enumerate() {
        spool.append(&delivery(number, text), (number == 1).then_some("https://h/x")).unwrap();
    }
    assert_eq!(spool.pending().unwrap().deliveries, 4);
    let mut seen = Vec::new();
    let drained = spool
        .drain(|waiting| {
            seen.push(waiting.clone());
            Verdict::Delivered
        })
        .unwrap();
    assert_eq!(drained, Drained { delivered: 4, ..Drained::default() });
    for (number, text) in texts.iter().enumerate() {
        assert_eq!(seen[number].delivery, delivery(number, text));
        assert_eq!(seen[number].target.as_deref(), (number == 1).then_some("https://h/x"));
    }
    assert_eq!(spool.pending().unwrap(), Pending::default());
    assert!(segments(directory.path()).is_empty());
}

#[test]
fn looking_at_no_spool_creates_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(&directory.path().join("absent"));
    assert!(drain_keys(&spool).is_empty());
    assert_eq!(spool.pending().unwrap(), Pending::default());
    assert_eq!(spool.counters().unwrap(), Counters::default());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn verdicts_decide_what_waits_on() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    fill(&spool, 6);
    let drained = spool
        .drain(|waiting| match waiting.delivery.event_time % 3 {
            0 => Verdict::Delivered,
            1 => Verdict::Refused,
            _ => Verdict::Keep,
        })
        .unwrap();
    assert_eq!(drained, Drained { delivered: 2, refused: 2, kept: 2, broken: 0 });
    assert_eq!(spool.counters().unwrap(), Counters { spooled: 6, refused: 2, ..Counters::default() });
    // What is kept and what comes later wait together.
    spool.append(&delivery(9, "later"), None).unwrap();
    assert_eq!(drain_keys(&spool).len(), 3);
}

#[test]
fn beyond_its_capacity_the_oldest_goes_and_is_counted() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    let text = "x".repeat(20_000);
    let count = 600;
    for number in 0..count {
        spool.append(&delivery(number, &text), None).unwrap();
    }
    let pending = spool.pending().unwrap();
    assert!(pending.bytes <= CAPACITY_BYTES);
    assert!(pending.bytes > CAPACITY_BYTES - CAPACITY_BYTES / 16, "no more goes than must");
    let on_disk: u64 = segments(directory.path()).iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert_eq!(on_disk, pending.bytes);
    let counters = spool.counters().unwrap();
    assert_eq!(counters.spooled, count as u64);
    assert_eq!(counters.dropped + pending.deliveries, count as u64);
    let keys = drain_keys(&spool);
    let expected: Vec<String> =
        (counters.dropped..count as u64).map(|number| format!("delivery:{number}")).collect();
    assert_eq!(keys, expected);
}

#[test]
fn a_claimed_segment_is_not_dropped_for_room() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    fill(&spool, 3);
    let claim = spool.claim(None).unwrap().unwrap();
    let text = "x".repeat(20_000);
    for number in 10..600 {
        spool.append(&delivery(number, &text), None).unwrap();
    }
    assert!(spool.counters().unwrap().dropped > 0);
    assert_eq!(claim.deliveries().len(), 3);
    assert_eq!(claim.settle(&[Verdict::Delivered; 3]).unwrap().delivered, 3);
}

#[test]
fn a_drainer_that_dies_leaves_everything_to_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    fill(&spool, 3);
    let claim = spool.claim(None).unwrap().unwrap();
    assert_eq!(claim.deliveries().len(), 3);
    assert!(spool.claim(None).unwrap().is_none(), "nobody else delivers the same");
    spool.append(&delivery(3, "meanwhile"), None).unwrap();
    // What a killed process leaves: its claim on disk, its lock gone.
    drop(claim);
    assert_eq!(drain_keys(&spool).len(), 4);
}

#[test]
fn a_drain_that_panics_leaves_everything_to_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    fill(&spool, 3);
    let crashed = std::panic::catch_unwind(|| spool.drain(|_| panic!("on purpose")));
    assert!(crashed.is_err());
    assert_eq!(drain_keys(&spool).len(), 3);
}

#[test]
fn a_settlement_cut_short_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    fill(&spool, 2);
    let waiting = segments(directory.path()).remove(0);
    // Killed after writing what is kept, before it took the claim's place.
    fs::write(waiting.with_extension("tmp"), "{\"v\":1,\"ke").unwrap();
    fs::rename(&waiting, waiting.with_extension("claim")).unwrap();
    assert_eq!(drain_keys(&spool).len(), 2);
    assert_eq!(spool.pending().unwrap(), Pending::default());
}

#[test]
fn broken_lines_block_nothing_and_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    fill(&spool, 1);
    let segment = segments(directory.path()).remove(0);
    let whole = fs::read_to_string(&segment).unwrap();
    let mut content = Vec::new();
    for line in [
        "{broken".as_bytes(),
        b"\xff\xfe\x00",
        b"[]",
        b"{}",
        b"",
        br#"{"v":1,"key":"k","at":1,"project":"p","body":{"content":"c"},"target":null}"#,
        br#"{"v":1,"key":"a b","at":1,"project":"p","body":{"content":"c","project":"p","sessionId":"s","origin":"o"},"target":null}"#,
        br#"{"v":1,"key":"k","at":1,"project":"p","body":{"content":"c","project":"p","sessionId":"s","origin":"o"},"target":7}"#,
        whole.trim_end().as_bytes(),
        br#"{"v":2,"new":"shape"}"#,
        // Torn by a process that died while writing.
        br#"{"v":1,"key":"k","at"#,
    ] {
        content.extend_from_slice(line);
        content.push(b'\n');
    }
    content.pop();
    fs::write(&segment, content).unwrap();
    spool.append(&delivery(7, "after the torn line"), None).unwrap();

    let drained = spool.drain(|_| Verdict::Delivered).unwrap();
    assert_eq!(drained, Drained { delivered: 2, kept: 1, refused: 0, broken: 8 });
    assert_eq!(spool.counters().unwrap().broken, 8);
    // The line of a later version waits for a later version.
    let left = fs::read_to_string(segments(directory.path()).remove(0)).unwrap();
    assert_eq!(left, "{\"v\":2,\"new\":\"shape\"}\n");
}

#[test]
fn a_lock_that_is_never_released_does_not_lose_the_event() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    fill(&spool, 1);
    let lock = fs::File::open(directory.path().join(places::SPOOL_NAME).join("lock")).unwrap();
    lock.lock().unwrap();
    spool.append(&delivery(1, "apart"), None).unwrap();
    lock.unlock().unwrap();
    assert_eq!(drain_keys(&spool).len(), 2);
}

#[test]
fn many_appenders_and_drainers_lose_nothing_and_deliver_nothing_twice() {
    const APPENDERS: usize = 4;
    const EACH: usize = 150;
    let directory = tempfile::tempdir().unwrap();
    let delivered = Mutex::new(Vec::new());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let appenders: Vec<_> = (0..APPENDERS)
            .map(|appender| {
                let spool = Spool::of(directory.path());
                scope.spawn(move || {
                    for number in 0..EACH {
                        spool.append(&delivery(appender * EACH + number, &"y".repeat(2000)), None).unwrap();
                    }
                })
            })
            .collect();
        for drainer in 0..3 {
            let (delivered, done) = (&delivered, &done);
            let spool = Spool::of(directory.path());
            scope.spawn(move || {
                let mut turn = drainer;
                while !done.load(Ordering::Acquire) {
                    turn += 1;
                    // Now and then one dies with its claim.
                    if turn % 7 == 0 {
                        drop(spool.claim(None).unwrap());
                        continue;
                    }
                    spool
                        .drain(|waiting| {
                            turn += 1;
                            if turn % 5 == 0 {
                                return Verdict::Keep;
                            }
                            delivered.lock().unwrap().push(waiting.delivery.key.clone());
                            Verdict::Delivered
                        })
                        .unwrap();
                }
            });
        }
        for appender in appenders {
            appender.join().unwrap();
        }
        done.store(true, Ordering::Release);
    });
    let spool = Spool::of(directory.path());
    let mut keys = delivered.into_inner().unwrap();
    keys.extend(drain_keys(&spool));
    let distinct: BTreeSet<&String> = keys.iter().collect();
    assert_eq!(distinct.len(), APPENDERS * EACH);
    assert_eq!(keys.len(), APPENDERS * EACH);
    // An append that found the lock taken for too long goes uncounted, but is never lost.
    let spooled = spool.counters().unwrap().spooled;
    assert!(spooled <= (APPENDERS * EACH) as u64);
    assert_eq!(spool.counters().unwrap(), Counters { spooled, ..Counters::default() });
}

const SPOOL_OF_CHILD: &str = "AM_HOOK_TEST_DATA_DIRECTORY";

#[test]
fn a_killed_drainer_leaves_everything_to_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    fill(&spool, 3);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["spool::claim_and_wait_to_be_killed", "--exact", "--ignored", "--nocapture"])
        .env(SPOOL_OF_CHILD, directory.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("claimed 3")));
    assert!(spool.claim(None).unwrap().is_none(), "the other process has it");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(drain_keys(&spool).len(), 3);
}

#[test]
#[ignore = "the other process of the test above"]
fn claim_and_wait_to_be_killed() {
    let Some(directory) = std::env::var_os(SPOOL_OF_CHILD) else { return };
    let claim = Spool::of(Path::new(&directory)).claim(None).unwrap().unwrap();
    println!("claimed {}", claim.deliveries().len());
    thread::sleep(Duration::from_secs(600));
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_blocks_nothing_and_is_never_followed() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    fill(&spool, 1);
    let within = directory.path().join(places::SPOOL_NAME);
    let outside = directory.path().join("outside");
    fs::copy(segments(directory.path()).remove(0), &outside).unwrap();
    for name in ["0000000000000098-00000098.jsonl", "0000000000000097-00000097.claim", "zz.jsonl", "zz.tmp"] {
        fs::create_dir(within.join(name)).unwrap();
    }
    std::os::unix::fs::symlink(&outside, within.join("0000000000000096-00000096.jsonl")).unwrap();
    std::os::unix::fs::symlink("nowhere", within.join("0000000000000095-00000095.claim")).unwrap();
    std::os::unix::fs::symlink(&outside, within.join("zzz.jsonl")).unwrap();
    let pipe = Command::new("mkfifo").arg(within.join("0000000000000094-00000094.jsonl")).status();
    assert!(pipe.unwrap().success());
    // Their names while claimed, and while they wait, are taken by some of these.
    fs::copy(&outside, within.join("0000000000000097-00000097.jsonl")).unwrap();
    fs::copy(&outside, within.join("0000000000000098-00000098.claim")).unwrap();

    spool.append(&delivery(1, "later"), None).unwrap();
    assert_eq!(spool.pending().unwrap().deliveries, 4);
    assert_eq!(spool.drain(|_| Verdict::Keep).unwrap().kept, 4);
    assert_eq!(drain_keys(&spool), ["delivery:0", "delivery:0", "delivery:0", "delivery:1"]);
    spool.append(&delivery(2, "later still"), None).unwrap();
    assert_eq!(drain_keys(&spool), ["delivery:2"]);
    assert_eq!(fs::read_to_string(&outside).unwrap().lines().count(), 1);
}
