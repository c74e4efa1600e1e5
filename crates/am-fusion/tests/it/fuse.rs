//! Rank fusion, and the search replies built from it.

use std::collections::{BTreeMap, HashSet};

use am_fusion::fuse::{ArmHit, Candidate, Fused, reciprocal_rank_fusion};
use am_fusion::lifecycle::{DecayLambda, Ttl, remove_expired};
use am_fusion::recall::RecallLedger;
use am_fusion::signal::{MESSAGE_MAX, failed, failure_note, hidden};
use am_model::{Instant, MemoryId, Source, StoreId};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{golden, list};

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap()
}

/// Makes every number a double, so that `0` and `0.0` compare equal.
fn doubles(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64().unwrap()),
        Value::Array(items) => items.iter().map(doubles).collect(),
        Value::Object(fields) => fields.iter().map(|(key, field)| (key.clone(), doubles(field))).collect(),
        other => other.clone(),
    }
}

/// The parts of a search that are neither an arm nor the ranking.
struct Search {
    rows: Vec<Value>,
    signals: Vec<String>,
    now: Instant,
    ttl: Option<Ttl>,
}

impl Search {
    fn new(golden: &Value, case: &Value) -> Self {
        let now = Instant::parse(text(golden, "now")).unwrap();
        let ttl = Ttl::parse(case["env"]["AGENT_MEMORY_TTL_DAYS"].as_str());
        Self { rows: Vec::new(), signals: Vec::new(), now, ttl }
    }

    /// Takes what an arm gave back: its rows, or a signal.
    fn arm(&mut self, source: Source, answer: &Value) -> Vec<ArmHit> {
        if let Value::String(failure) = answer {
            let note = failure_note("Error", failure, MESSAGE_MAX);
            self.signals.push(failed(source.as_str(), &note).to_string());
            return Vec::new();
        }
        let mut hits = Vec::new();
        for row in answer.as_array().unwrap() {
            let (score, distance) = (row["score"].as_f64().unwrap(), row["distance"].as_f64());
            hits.push(ArmHit { row: self.rows.len(), score, distance });
            self.rows.push(row.clone());
        }
        hits
    }

    /// Hides expired rows and writes the reply.
    fn reply(mut self, mode: &str, mut hits: Vec<Fused>) -> Value {
        let created = |hit: &Fused| Instant::parse(text(&self.rows[hit.row], "createdAt"));
        let removed = remove_expired(&mut hits, created, self.now, self.ttl);
        self.signals.extend(hidden(removed).map(|signal| signal.to_string()));
        let results: Vec<Value> = hits
            .iter()
            .map(|hit| {
                let mut row = self.rows[hit.row].clone();
                row["score"] = json!(hit.score);
                row["source"] = json!(hit.source.as_str());
                match hit.distance {
                    Some(distance) => row["distance"] = json!(distance),
                    None => drop(row.as_object_mut().unwrap().remove("distance")),
                }
                if mode == "hybrid" {
                    row["signals"] = json!(self.signals);
                }
                row
            })
            .collect();
        json!({"mode": mode, "results": results, "signals": self.signals})
    }
}

#[test]
fn golden_hybrid_searches() {
    let golden = golden("fusion.json");
    for case in list(&golden, "hybrid", 21) {
        let mut search = Search::new(&golden, &case);
        let [vector, keyword] = [Source::Vector, Source::Text]
            .map(|source| search.arm(source, &case["sources"][source.as_str()]));
        let concepts = case["concepts"].as_array().unwrap();
        let graph = if concepts.is_empty() {
            Vec::new()
        } else {
            search.arm(Source::Graph, &case["sources"]["graph"])
        };
        let mut ledger = RecallLedger::default();
        for (id, recalls) in case["recalls"].as_object().unwrap() {
            let id = MemoryId::from_stored(id.as_str());
            (0..recalls.as_u64().unwrap()).for_each(|_| ledger.record([&id]));
        }
        // Store ids of the file are texts; only which are equal matters.
        let mut ids: BTreeMap<&str, i64> = BTreeMap::new();
        let candidates: Vec<Candidate<'_>> = search
            .rows
            .iter()
            .map(|row| {
                let fresh = ids.len() as i64;
                Candidate {
                    memory_id: text(row, "memoryId"),
                    id: StoreId(*ids.entry(text(row, "id")).or_insert(fresh)),
                    importance: row["importance"].as_f64().unwrap(),
                    created_at: Instant::parse(text(row, "createdAt")),
                    recalls: ledger.count(&MemoryId::from_stored(text(row, "memoryId"))),
                }
            })
            .collect();
        let decay = DecayLambda::parse(case["env"]["AGENT_MEMORY_DECAY_LAMBDA"].as_str());
        let mut fused = reciprocal_rank_fusion(&vector, &keyword, &graph, &candidates, search.now, decay);
        fused.truncate(case["limit"].as_u64().unwrap() as usize);
        assert_eq!(doubles(&search.reply("hybrid", fused)), doubles(&case["output"]), "{}", case["name"]);
    }
}

#[test]
fn golden_keyword_searches() {
    let golden = golden("fusion.json");
    for case in list(&golden, "bm25", 4) {
        let mut search = Search::new(&golden, &case);
        let hits = search.arm(Source::Text, &case["text"]);
        let hits = hits
            .iter()
            .map(|hit| Fused { row: hit.row, score: hit.score, distance: None, source: Source::Text })
            .collect();
        assert_eq!(doubles(&search.reply("bm25", hits)), doubles(&case["output"]), "{}", case["name"]);
    }
}

#[test]
fn a_hit_without_a_candidate_is_not_ranked() {
    let hit = ArmHit { row: 3, score: 1.0, distance: None };
    assert_eq!(reciprocal_rank_fusion(&[hit], &[], &[], &[], Instant::default(), None), []);
}

/// One row as the property tests draw it; few values each, so that ties are common.
#[derive(Clone, Debug)]
struct Drawn {
    importance: f64,
    created_at: Option<Instant>,
    recalls: u64,
}

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let row =
        (0_u8..3, proptest::option::of(0_i64..3), 0_u64..2).prop_map(|(importance, created, recalls)| {
            Drawn {
                importance: f64::from(importance) / 2.0,
                created_at: created.map(|days| Instant::from_millis(days * 86_400_000)),
                recalls,
            }
        });
    proptest::collection::vec(row, 1..12)
}

fn arm(rows: &[usize], count: usize) -> Vec<ArmHit> {
    let mut seen = HashSet::new();
    let row = rows.iter().map(|row| row % count).filter(|row| seen.insert(*row));
    row.map(|row| ArmHit { row, score: 0.0, distance: Some(row as f64) }).collect()
}

proptest! {
    #[test]
    fn the_order_is_total_and_the_same_wherever_rows_lie(
        drawn in drawn(),
        arms in proptest::array::uniform3(proptest::collection::vec(any::<usize>(), 0..12)),
        shift: usize,
        lambda in proptest::option::of("0\\.[1-9]"),
    ) {
        let count = drawn.len();
        let names: Vec<String> = (0..count).map(|row| format!("memory-{row}")).collect();
        let candidates: Vec<Candidate<'_>> = names
            .iter()
            .zip(&drawn)
            .map(|(name, row)| Candidate {
                memory_id: name,
                id: StoreId(0),
                importance: row.importance,
                created_at: row.created_at,
                recalls: row.recalls,
            })
            .collect();
        let arms = arms.map(|rows| arm(&rows, count));
        let decay = DecayLambda::parse(lambda.as_deref());
        let now = Instant::from_millis(86_400_000 * 5);
        let fuse = |arms: &[Vec<ArmHit>; 3], candidates: &[Candidate<'_>]| {
            reciprocal_rank_fusion(&arms[0], &arms[1], &arms[2], candidates, now, decay)
        };
        let fused = fuse(&arms, &candidates);

        // Each found row once, scores falling, and each score the sum of its shares.
        let rows: HashSet<usize> = fused.iter().map(|hit| hit.row).collect();
        let found: HashSet<usize> = arms.iter().flatten().map(|hit| hit.row).collect();
        prop_assert_eq!(rows.len(), fused.len());
        prop_assert_eq!(&rows, &found);
        prop_assert!(fused.is_sorted_by(|left, right| left.score >= right.score));
        for hit in &fused {
            let ranks = arms.iter().filter_map(|arm| arm.iter().position(|other| other.row == hit.row));
            prop_assert_eq!(ranks.map(|rank| 1.0 / (61.0 + rank as f64)).fold(0.0, |a, b| a + b), hit.score);
            prop_assert_eq!(hit.distance.is_some(), hit.source == Source::Vector);
        }

        // The same again, and with the rows stored elsewhere: the same memories in the same order.
        prop_assert_eq!(&fuse(&arms, &candidates), &fused);
        let shift = shift % count;
        let mut moved = candidates.clone();
        moved.rotate_left(shift);
        let place = |row: usize| (row + count - shift) % count;
        let moved_arms =
            arms.map(|arm| arm.into_iter().map(|hit| ArmHit { row: place(hit.row), ..hit }).collect());
        let again: Vec<&str> = fuse(&moved_arms, &moved).iter().map(|hit| moved[hit.row].memory_id).collect();
        let before: Vec<&str> = fused.iter().map(|hit| candidates[hit.row].memory_id).collect();
        prop_assert_eq!(again, before);
    }
}
