//! The encodings of digests are formats on disk: pinned, and computed by another program.

use am_model::{
    Actor, Channel, Concept, Digest, Importance, Instant, LogEntry, Memory, MemoryId, MemoryKind, Origin,
    Project, SessionId, StoreId, Verb, WriterId,
};
use am_store::chain::{ChainCheck, FIRST, digest_of, keyed_digest};

fn writer() -> WriterId {
    WriterId(std::array::from_fn(|byte| byte as u8))
}

fn first() -> LogEntry {
    LogEntry {
        writer: writer(),
        sequence: 1,
        at: Instant::from_millis(1_900_000_000_000),
        actor: Actor("rest".to_owned()),
        channel: Channel::Rest,
        verb: Verb::Remember,
        targets: vec![MemoryId::from_stored("m-1")],
        reason: None,
        before: None,
        after: Some(Digest([2; 32])),
        previous: FIRST,
    }
}

fn second() -> LogEntry {
    LogEntry {
        sequence: 2,
        at: Instant::from_millis(-1),
        actor: Actor("größe".to_owned()),
        channel: Channel::Cli,
        verb: Verb::Delete,
        targets: vec![MemoryId::from_stored("m-1"), MemoryId::from_stored("m-2")],
        reason: Some("it was a secret".to_owned()),
        before: Some(Digest([2; 32])),
        after: None,
        previous: digest_of(&first()),
        ..first()
    }
}

fn memory() -> Memory {
    Memory {
        id: StoreId(7),
        memory_id: MemoryId::from_stored("m-1"),
        project: Project::from_stored("home"),
        session_id: SessionId::from_stored("s"),
        kind: MemoryKind::Note,
        content: "größe\0".to_owned(),
        origin: Origin::from_stored("rest"),
        importance: Importance::from_stored(0.775),
        created_at: Instant::from_millis(1_900_000_000_000),
        version: 3,
        concepts: ["b", "a", "b"].map(Concept::from_stored).to_vec(),
    }
}

#[test]
fn digests_are_what_other_programs_compute() {
    assert_eq!(
        digest_of(&first()).to_string(),
        "75b14898b5508e8ccc46df5744c21fd064997ccbbab39d6f80ddb147e8953c55"
    );
    assert_eq!(
        digest_of(&second()).to_string(),
        "b55b4864895555ae5cef212093fbad75f00e6add630ebbc7f35981accc472778"
    );
    let key = std::array::from_fn(|byte| byte as u8);
    assert_eq!(
        keyed_digest(&key, &memory()).to_string(),
        "4e1df43194dcf2a0332c7ee5261e062f1f97a6e19671f9fad8053ad3673e6dc4"
    );
}

#[test]
fn every_field_counts() {
    let changes: [fn(&mut LogEntry); 12] = [
        |row| row.writer.0[0] = 9,
        |row| row.sequence = 3,
        |row| row.at = Instant::from_millis(0),
        |row| row.actor.0.push('x'),
        |row| row.channel = Channel::Mcp,
        |row| row.verb = Verb::Forget,
        |row| row.targets = vec![MemoryId::from_stored("m-1m-2")],
        |row| row.targets.clear(),
        |row| row.reason = None,
        |row| row.before = None,
        |row| row.after = Some(Digest([0; 32])),
        |row| row.previous = FIRST,
    ];
    let mut digests = vec![digest_of(&second())];
    for change in changes {
        let mut row = second();
        change(&mut row);
        digests.push(digest_of(&row));
    }
    let changes: [fn(&mut Memory); 11] = [
        |memory| memory.memory_id = MemoryId::from_stored("m-2"),
        |memory| memory.project = Project::from_stored("homes"),
        |memory| memory.session_id = SessionId::from_stored(""),
        |memory| memory.kind = MemoryKind::Lesson,
        |memory| memory.content.push('\0'),
        |memory| memory.origin = Origin::from_stored("mcp"),
        |memory| memory.importance = Importance::from_stored(0.775_000_1),
        |memory| memory.created_at = Instant::from_millis(0),
        |memory| memory.version = 4,
        |memory| memory.concepts.truncate(2),
        |memory| memory.concepts = vec![Concept::from_stored("bab")],
    ];
    let key = [5; 32];
    digests.push(keyed_digest(&key, &memory()));
    digests.push(keyed_digest(&[6; 32], &memory()));
    for change in changes {
        let mut memory = memory();
        change(&mut memory);
        digests.push(keyed_digest(&key, &memory));
    }
    let distinct: std::collections::BTreeSet<Digest> = digests.iter().copied().collect();
    assert_eq!(distinct.len(), digests.len());

    let copied = Memory { id: StoreId(8), ..memory() };
    assert_eq!(
        keyed_digest(&key, &copied),
        keyed_digest(&key, &memory()),
        "a copy may have another store id"
    );
}

#[test]
fn a_check_tells_whole_chains_from_broken_ones() {
    let other = LogEntry { writer: WriterId([9; 16]), ..first() };
    let check = |rows: &[LogEntry]| {
        let mut check = ChainCheck::new();
        for row in rows {
            check.see(row);
        }
        (check.chains(), check.into_faults())
    };
    assert_eq!(check(&[]), (0, vec![]));
    assert_eq!(check(&[first(), other.clone(), second()]), (2, vec![]), "chains may mix");

    let edited = LogEntry { reason: None, ..second() };
    let third = LogEntry { sequence: 3, previous: digest_of(&second()), ..second() };
    let broken: [(&str, &[LogEntry]); 6] = [
        ("cut at the start", &[second()]),
        ("cut in the middle", &[first(), third.clone()]),
        ("edited", &[first(), edited, third.clone()]),
        ("given twice", &[first(), first()]),
        ("begun on another row", &[LogEntry { previous: digest_of(&other), ..first() }]),
        ("in wrong order", &[second(), first()]),
    ];
    for (what, rows) in broken {
        let (_, faults) = check(rows);
        assert!(!faults.is_empty(), "{what}");
        assert!(faults.iter().all(|fault| fault.area == "log"), "{what}");
    }
    assert_eq!(check(&[first(), second(), third]).1, []);
}
