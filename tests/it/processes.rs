//! Many programs on one store at once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use am_embed::analysis::{Analysis, Profile};
use am_store::StoredMemory;

use crate::world::{Cli, Home, Mcp, Rest, Server, Surface, fact, program, variant, word};

/// How long they write and read.
const DURATION: Duration = Duration::from_secs(20);
/// Directories that sixteen programs open at once, one after the other.
const FRESH_DIRECTORIES: u32 = 5;
/// The least similarity of near-duplicates.
const THRESHOLD: f64 = 0.9;

/// What the programs have acknowledged.
#[derive(Debug, Default)]
struct Acknowledged {
    /// Texts that all programs save, each many times.
    equal: BTreeSet<String>,
    /// Members of families of near-duplicates.
    near: BTreeSet<String>,
    /// Texts that one program has saved once.
    unique: BTreeSet<String>,
    forgotten: BTreeSet<String>,
    /// Calls.
    saves: u64,
    /// Saves that found their text, or one like it.
    deduplicated: u64,
    merged: u64,
}

impl Acknowledged {
    fn add(&mut self, other: Self) {
        self.equal.extend(other.equal);
        self.near.extend(other.near);
        self.unique.extend(other.unique);
        self.forgotten.extend(other.forgotten);
        self.saves += other.saves;
        self.deduplicated += other.deduplicated;
        self.merged += other.merged;
    }
}

/// The programs, each with its own client.
type Programs<'a> = Vec<Mutex<Box<dyn Surface + 'a>>>;

/// Saves, forgets and searches with the program `own`, and asks others what they see.
fn work(programs: &Programs<'_>, own: usize, numbers: &AtomicU64, begin: Instant) -> Acknowledged {
    let mut acknowledged = Acknowledged::default();
    let call = |index: usize| programs.get(index % programs.len()).unwrap().lock().unwrap();
    let sees = |index: usize, query: &str, content: &str| {
        let rows = call(index).search(query).unwrap();
        rows.iter().any(|row| row.content.split('\n').any(|line| line == content))
    };
    let session = format!("session {own}");
    for turn in own.. {
        let elapsed = begin.elapsed();
        if elapsed >= DURATION {
            return acknowledged;
        }
        let moment = elapsed.as_millis() as u64;
        let witness = own + 1 + turn % (programs.len() - 1);
        let number = numbers.fetch_add(1, Ordering::Relaxed);
        // Equal texts and families change with the time, so that all programs work on the same ones.
        let (content, query) = match turn % 4 {
            0 | 2 => (fact('e', moment / 120), word('e', moment / 120)),
            1 => variant(moment / 200, number),
            _ => (fact('u', number), word('u', number)),
        };
        let saved = call(own).save(&content, &session).unwrap();
        acknowledged.saves += 1;
        acknowledged.deduplicated += u64::from(saved.deduped);
        acknowledged.merged += u64::from(saved.consolidated);
        assert!(sees(witness, &query, &content), "program {witness} misses what {own} has saved: {content}");
        match turn % 8 {
            0 | 2 | 4 | 6 => drop(acknowledged.equal.insert(content)),
            1 | 5 => drop(acknowledged.near.insert(content)),
            3 => {
                call(own).forget(&saved.id).unwrap();
                assert!(!sees(witness, &query, &content), "program {witness} sees what {own} has forgotten");
                acknowledged.forgotten.insert(content);
            }
            _ => drop(acknowledged.unique.insert(content)),
        }
    }
    acknowledged
}

/// Returns the pairs of memories that are near-duplicates of one another.
fn near_duplicates(memories: &[StoredMemory]) -> Vec<(&str, &str)> {
    let analysis = Analysis::new(Profile::Default);
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let sets: Vec<Vec<u32>> = memories
        .iter()
        .map(|stored| {
            let terms = analysis.similarity_terms(&stored.memory.content);
            let mut set: Vec<u32> = terms
                .into_iter()
                .map(|term| {
                    let next = numbers.len() as u32;
                    *numbers.entry(term).or_insert(next)
                })
                .collect();
            set.sort_unstable();
            set
        })
        .collect();
    let mut pairs = vec![];
    for (left, (one, memory)) in sets.iter().zip(memories).enumerate() {
        for (other, with) in sets.iter().zip(memories).skip(left + 1) {
            let (small, large) = (one.len().min(other.len()), one.len().max(other.len()));
            // Alike at most as much as their sizes are.
            if (small as f64) < THRESHOLD * large as f64 {
                continue;
            }
            let shared = one.iter().filter(|term| other.binary_search(term).is_ok()).count();
            if shared as f64 >= THRESHOLD * (small + large - shared) as f64 {
                pairs.push((memory.memory.content.as_str(), with.memory.content.as_str()));
            }
        }
    }
    pairs
}

/// Checks what is stored in the end.
fn check(memories: &[StoredMemory], acknowledged: &Acknowledged) {
    let mut lines: BTreeMap<&str, u32> = BTreeMap::new();
    for stored in memories {
        for line in stored.memory.content.split('\n') {
            *lines.entry(line).or_default() += 1;
        }
    }
    let twice: Vec<_> = lines.iter().filter(|(_, count)| **count > 1).collect();
    assert_eq!(twice, vec![], "texts that are there twice");
    for content in acknowledged.equal.iter().chain(&acknowledged.near).chain(&acknowledged.unique) {
        assert!(lines.contains_key(content.as_str()), "lost: {content}");
    }
    for content in &acknowledged.forgotten {
        assert!(!lines.contains_key(content.as_str()), "back: {content}");
    }
    assert_eq!(near_duplicates(memories), vec![], "near-duplicates that were not merged");
}

#[test]
fn five_programs_share_one_store() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let mut servers: Vec<Mcp> = (0..3).map(|_| Mcp::start(&home)).collect();
    let acknowledged = {
        let mut programs: Programs<'_> = vec![Mutex::new(Box::new(Rest { port: server.port }))];
        programs.extend(servers.iter_mut().map(|mcp| Mutex::new(Box::new(mcp) as Box<dyn Surface + '_>)));
        programs.push(Mutex::new(Box::new(Cli(&home))));
        let numbers = AtomicU64::new(1);
        let begin = Instant::now();
        thread::scope(|scope| {
            let (programs, numbers) = (&programs, &numbers);
            let workers: Vec<_> = (0..programs.len())
                .map(|own| scope.spawn(move || work(programs, own, numbers, begin)))
                .collect();
            let mut acknowledged = Acknowledged::default();
            for worker in workers {
                let done = worker.join().unwrap();
                assert!(
                    done.saves > 8 && !done.forgotten.is_empty(),
                    "a program that did nothing: {}",
                    done.saves
                );
                acknowledged.add(done);
            }
            acknowledged
        })
    };
    // All of it was put to the test.
    assert!(acknowledged.deduplicated > 0 && acknowledged.merged > 0, "{acknowledged:?}");
    assert!(server.process.is_alive());
    home.verify();
    servers.into_iter().for_each(Mcp::close);
    server.stop();
    check(&home.memories(), &acknowledged);
    home.verify_erasure();
    let Acknowledged { saves, deduplicated, merged, .. } = acknowledged;
    println!("{saves} saves, {deduplicated} known already, {merged} merged");
}

#[test]
fn sixteen_programs_open_a_fresh_directory_at_once() {
    for _ in 0..FRESH_DIRECTORIES {
        let home = Home::new();
        // Not within the race: it may be built first.
        program("am-server");
        thread::scope(|scope| {
            let home = &home;
            let openers: Vec<_> = (0..16_u64)
                .map(|number| {
                    scope.spawn(move || {
                        let content = fact('o', number);
                        match number % 4 {
                            0 => {
                                let server = Server::start(home);
                                Rest { port: server.port }.save(&content, "s").unwrap();
                                server.process.terminate();
                            }
                            1 => {
                                let mut mcp = Mcp::start(home);
                                mcp.save(&content, "s").unwrap();
                                mcp.close();
                            }
                            2 => drop(Cli(home).save(&content, "s").unwrap()),
                            _ => drop(home.am(&["bootstrap", "--json"]).json()),
                        }
                    })
                })
                .collect();
            for opener in openers {
                opener.join().unwrap();
            }
        });
        let contents: BTreeSet<String> =
            home.memories().into_iter().map(|stored| stored.memory.content).collect();
        let expected: BTreeSet<String> =
            (0..16).filter(|number| number % 4 != 3).map(|n| fact('o', n)).collect();
        assert_eq!(contents, expected);
        home.verify();
    }
}
