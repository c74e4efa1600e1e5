//! What was acknowledged survives the sudden end of every program that was writing.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::Duration;

use am_store::Store as _;

use crate::world::{Home, Mcp, Rest, Server, Surface, fact, kill, variant, wait};

/// Rounds of writing and killing.
const ROUNDS: u64 = 50;
/// Rounds on one store, so that checking it stays quick.
const ROUNDS_OF_A_STORE: u64 = 10;
/// Every so many rounds `am verify` is what opens the store first.
const ROUNDS_PER_PROGRAM_CHECK: u64 = 5;

/// What the programs have acknowledged.
#[derive(Debug, Default)]
struct Acknowledged {
    /// Text by id. What was about to be forgotten when its program died is in neither list.
    saved: BTreeMap<String, String>,
    forgotten: BTreeMap<String, String>,
    /// Near-duplicates: each is a row or a line of one.
    merged: BTreeSet<String>,
}

impl Acknowledged {
    fn add(&mut self, other: Self) {
        self.saved.extend(other.saved);
        self.forgotten.extend(other.forgotten);
        self.merged.extend(other.merged);
    }
}

/// Saves and forgets until the program is gone. `writer` makes the texts this writer's own.
fn write_until_gone(surface: &mut dyn Surface, round: u64, writer: u64) -> Acknowledged {
    let mut acknowledged = Acknowledged::default();
    let mut own: Vec<String> = vec![];
    for number in 0.. {
        let unique = (round * 4 + writer) * 10_000 + number;
        let session = format!("writer {writer}");
        if number % 5 == 4 {
            let (content, _) = variant(round * 1000 + number / 10, unique);
            if surface.save(&content, &session).is_none() {
                break;
            }
            acknowledged.merged.insert(content);
            continue;
        }
        let content = fact('d', unique);
        let Some(saved) = surface.save(&content, &session) else { break };
        assert!(!saved.deduped && !saved.consolidated, "{content}: {saved:?}");
        acknowledged.saved.insert(saved.id.clone(), content);
        own.push(saved.id);
        if number % 4 == 3 {
            let Some((id, content)) = own.pop().and_then(|id| acknowledged.saved.remove_entry(&id)) else {
                continue;
            };
            if surface.forget(&id).is_none() {
                break;
            }
            acknowledged.forgotten.insert(id, content);
        }
    }
    acknowledged
}

/// Checks a store that nobody has open against everything that was acknowledged.
fn check(home: &Home, acknowledged: &Acknowledged) {
    let report = wait(home.store().verify()).unwrap();
    assert_eq!((report.faults, report.erasure_pending), (vec![], false));
    let memories = home.memories();
    let by_id: BTreeMap<&str, &str> = memories
        .iter()
        .map(|stored| (stored.memory.memory_id.as_str(), stored.memory.content.as_str()))
        .collect();
    for (id, content) in &acknowledged.saved {
        assert_eq!(by_id.get(id.as_str()), Some(&content.as_str()), "lost");
    }
    let lines: BTreeSet<&str> = by_id.values().flat_map(|content| content.split('\n')).collect();
    for content in &acknowledged.merged {
        assert!(lines.contains(content.as_str()), "lost: {content}");
    }
    for (id, content) in &acknowledged.forgotten {
        assert!(
            !by_id.contains_key(id.as_str()) && !lines.contains(content.as_str()),
            "back: {id} {content}"
        );
    }
}

/// One round: three programs write, each is killed at a moment of its own.
fn round(home: &Home, round: u64) -> Acknowledged {
    let server = Server::start(home);
    let (mut first, mut second) = (Mcp::start(home), Mcp::start(home));
    let mut victims = [server.process.id(), first.process.id(), second.process.id()];
    victims.rotate_left((round % 3) as usize);
    // Deaths spread over the phases of a commit; the others go on meanwhile.
    let pause = |salt: u64| Duration::from_millis(20 + (round * 37 + salt * 61) % 130);
    thread::scope(|scope| {
        let port = server.port;
        let writers = [
            scope.spawn(move || write_until_gone(&mut Rest { port }, round, 0)),
            scope.spawn(move || write_until_gone(&mut Rest { port }, round, 1)),
            scope.spawn(|| write_until_gone(&mut first, round, 2)),
            scope.spawn(|| write_until_gone(&mut second, round, 3)),
        ];
        thread::sleep(Duration::from_millis(150));
        for (salt, victim) in (0..).zip(victims) {
            thread::sleep(pause(salt));
            kill(victim);
        }
        let mut acknowledged = Acknowledged::default();
        for writer in writers {
            acknowledged.add(writer.join().unwrap());
        }
        acknowledged
    })
}

#[test]
fn fifty_rounds_of_sudden_death_lose_nothing_and_bring_nothing_back() {
    let mut home = Home::new();
    let mut acknowledged = Acknowledged::default();
    let mut counts = [0; 3];
    for number in 0..ROUNDS {
        if number % ROUNDS_OF_A_STORE == 0 {
            (home, acknowledged) = (Home::new(), Acknowledged::default());
        }
        let new = round(&home, number);
        for (count, new) in counts.iter_mut().zip([new.saved.len(), new.forgotten.len(), new.merged.len()]) {
            *count += new;
        }
        acknowledged.add(new);
        if number % ROUNDS_PER_PROGRAM_CHECK == 0 {
            assert_eq!(home.verify()["erasurePending"], false);
        }
        check(&home, &acknowledged);
    }
    // Rounds in which nothing was written would show nothing.
    assert!(counts.iter().all(|count| *count > ROUNDS as usize), "{counts:?}");
    println!("acknowledged: {counts:?} saved, forgotten, merged");
}
