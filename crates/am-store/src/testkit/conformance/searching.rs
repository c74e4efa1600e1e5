//! The arms: scores, order, filters, cuts.

use am_embed::analysis::{AnalysedText, Profile, TermHash};
use am_fusion::bm25;
use am_model::{MemoryId, MemoryKind, StoreId};

use super::Factory;
use crate::testkit::kit::{
    Kit, MANY, concepts, hashes, home, ids, live, project, session, vector_query, words,
};
use crate::testkit::random::Random;
use crate::{LiveMemory, Scope, SearchQuery, StoreError, VectorQuery};

/// The contents of rows with their scores, best first, ties by place, as the formula gives them.
fn by_formula(rows: &[AnalysedText], query: &[TermHash]) -> Vec<(usize, f64)> {
    let average = rows.iter().map(|row| f64::from(row.length)).sum::<f64>() / rows.len() as f64;
    let frequency = |row: &AnalysedText, term: &TermHash| {
        let entry = row.entries.iter().find(|entry| entry.term == *term);
        entry.map_or(0, |entry| entry.frequency)
    };
    let mut scores: Vec<(usize, f64)> = rows
        .iter()
        .enumerate()
        .map(|(place, row)| {
            let score = query.iter().map(|term| {
                let containing = rows.iter().filter(|row| frequency(row, term) > 0).count();
                let idf = bm25::idf(rows.len() as u64, containing as u64);
                bm25::term_score(idf, f64::from(frequency(row, term)), f64::from(row.length), average)
            });
            (place, score.sum())
        })
        .filter(|(_, score)| *score > 0.0)
        .collect();
    scores.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    scores
}

/// Compares the lexical arm of the home project with the formula over what the project holds.
async fn assert_formula(kit: &Kit, queries: &[&str]) {
    let rows = kit.store.memories_page(&Scope::Project(home()), StoreId(0), MANY).await.unwrap();
    let analysed: Vec<AnalysedText> =
        rows.iter().map(|stored| kit.analysis().analyse(&stored.memory.content)).collect();
    for text in queries {
        let expected = by_formula(&analysed, &kit.analysis().query(text));
        let reply = kit.search(SearchQuery { vector: None, ..kit.query(text) }).await;
        let names: Vec<&MemoryId> =
            expected.iter().map(|(place, _)| &rows[*place].memory.memory_id).collect();
        assert_eq!(ids(&reply, &reply.lexical).iter().collect::<Vec<_>>(), names, "{text:?}");
        for (hit, (_, score)) in reply.lexical.unwrap().iter().zip(&expected) {
            assert!((hit.score - score).abs() <= 1e-9 * score, "{text:?}: {} is not {score}", hit.score);
            assert_eq!(hit.distance, None);
        }
    }
}

const QUERIES: [&str; 7] = [
    "cache",
    "lru cache",
    "the cache is warmed by the balancer at boot and serves hot tables",
    "PARSER lexer.rs",
    "Größe 索引 \u{1f680}",
    "repeated",
    "unknown cache unknown",
];

async fn corpus(kit: &Kit) -> Vec<MemoryId> {
    let repeated = "repeated ".repeat(300);
    let texts = [
        "cache eviction policy uses lru",
        "the cache stores rendered pages and the cache is warmed at boot before traffic arrives from the balancer",
        "eviction",
        "lru lru lru cache",
        "hot tables",
        "Parser rewritten: src/parse/lexer.rs now tracks spans",
        "parser PARSER Parser",
        "Größe der Straße in Zürich",
        "检索引擎 索引 LRU",
        "emoji \u{1f680} launch notes",
        "?!",
        repeated.as_str(),
        "repeated once",
    ];
    let mut saved = Vec::new();
    for text in texts {
        saved.push(kit.insert_note(text).await);
    }
    saved
}

pub(super) async fn bm25_scores_follow_the_formula(factory: &dyn Factory) {
    for profile in [Profile::Default, Profile::Contract] {
        let kit = Kit::of(factory, profile).await;
        // Another project's texts don't count.
        for number in 0..20 {
            kit.insert(kit.note_of(&project("other"), &format!("cache lru {number} parser eviction"))).await;
        }
        corpus(&kit).await;
        assert_formula(&kit, &QUERIES).await;
        // What is listed only is no document.
        if profile == Profile::Default {
            let mut line = kit.note("cache line that is not ranked");
            line.memory.kind = MemoryKind::Event;
            line.memory.text.terms = None;
            let line = kit.insert(line).await;
            let reply = kit.search(kit.query("cache")).await;
            assert!(!ids(&reply, &reply.lexical).contains(&line));
            kit.forget(&[line]).await;
        }
        assert_formula(&kit, &QUERIES).await;
    }
}

pub(super) async fn bm25_statistics_follow_removals_and_merges(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let saved = corpus(&kit).await;
    assert_formula(&kit, &QUERIES).await;
    kit.forget(&saved[1..3]).await;
    assert_formula(&kit, &QUERIES).await;
    kit.grow(&saved[4], "served from the cache, the parser cache").await;
    assert_formula(&kit, &QUERIES).await;
    kit.grow(&saved[0], "lru").await;
    kit.grow(&saved[4], "again").await;
    assert_formula(&kit, &QUERIES).await;
    kit.forget_session(&session("t")).await;
    assert_formula(&kit, &QUERIES).await;
    for number in 0..40 {
        let text = format!("cache entry {number} {}", words(number, 3).join(" "));
        let memory_id = kit.insert_note(&text).await;
        if number % 3 == 0 {
            kit.grow(&memory_id, &words(number + 60, 5).join(" ")).await;
        }
        if number % 2 == 0 {
            kit.forget(&[memory_id]).await;
        }
    }
    assert_formula(&kit, &QUERIES).await;
    // Expired rows are documents all the same.
    let bound = kit.memory(&saved[6]).await.created_at;
    let reply =
        kit.search(SearchQuery { vector: None, live: live(Some(bound)), ..kit.query("parser") }).await;
    let all = kit.search(SearchQuery { vector: None, ..kit.query("parser") }).await;
    let score = |hit: &crate::ArmHit| hit.score;
    let expected: Vec<f64> =
        all.lexical.unwrap().iter().filter(|hit| all.rows[hit.row].created_at >= bound).map(score).collect();
    assert_eq!(reply.lexical.unwrap().iter().map(score).collect::<Vec<_>>(), expected);
    kit.verify().await;
}

pub(super) async fn equal_scores_come_by_store_id(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut saved = Vec::new();
    for word in words(0, 60) {
        saved.push(kit.insert_note(&format!("same {word}")).await);
    }
    let found = kit.lexical("same").await;
    assert_eq!(found, saved);
    for limit in [1, 7, 59] {
        let reply = kit.search(SearchQuery { per_arm: limit, ..kit.query("same") }).await;
        assert_eq!(ids(&reply, &reply.lexical), saved[..limit]);
    }
    // A merge that brings the same score keeps the row's place.
    kit.grow(&saved[10], "x").await;
    kit.forget_session(&session("t")).await;
    assert_eq!(kit.lexical("same").await, saved);

    let far = kit.nearest("unrelated").await;
    assert_eq!(far.len(), saved.len(), "every row with a vector is a hit");
    let reply = kit.search(SearchQuery { terms: None, ..kit.query("unrelated") }).await;
    let hits = reply.vector.as_ref().unwrap();
    for pair in hits.windows(2) {
        let (left, right) = (&reply.rows[pair[0].row], &reply.rows[pair[1].row]);
        assert!(
            pair[0].score > pair[1].score || (pair[0].score == pair[1].score && left.id < right.id),
            "best first, ties by store id"
        );
    }
}

pub(super) async fn the_vector_arm_is_exact(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut random = Random::new(7);
    let dimension = vector_query("x").vector.len();
    let mut unit = |sparse: bool| {
        let mut vector: Vec<f32> = (0..dimension)
            .map(|_| if sparse && !random.once_in(40) { 0.0 } else { random.below(2_001) as f32 - 1_000.0 })
            .collect();
        vector[0] += 1.0;
        let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        for number in &mut vector {
            *number /= norm;
        }
        vector
    };
    let mut saved: Vec<(MemoryId, Vec<f32>)> = Vec::new();
    for number in 0..120 {
        let mut save = kit.note(&format!("row {number}"));
        // Twins and close relatives make the order hard.
        let vector = match (number % 4, saved.last()) {
            (1, Some((_, last))) => last.clone(),
            (2, Some((_, last))) => {
                let mut near = last.clone();
                near[number % dimension] += 1e-6;
                near
            }
            _ => unit(number % 3 == 0),
        };
        save.memory.text.vector = (number % 10 != 9).then(|| vector.clone());
        let memory_id = kit.insert(save).await;
        if number % 10 != 9 {
            saved.push((memory_id, vector));
        }
    }
    let queries: Vec<Vec<f32>> = (0..12)
        .map(|number| if number % 3 == 0 { saved[number * 7].1.clone() } else { unit(number % 2 == 0) })
        .collect();
    for vector in queries {
        let cosine = |row: &[f32]| -> f32 { vector.iter().zip(row).map(|(left, right)| left * right).sum() };
        let mut expected: Vec<(f32, &MemoryId)> =
            saved.iter().map(|(memory_id, row)| (cosine(row), memory_id)).collect();
        expected.sort_by(|left, right| right.0.total_cmp(&left.0));
        for limit in [1, 5, 50, MANY] {
            let embedder = vector_query("x").embedder;
            let query = SearchQuery {
                terms: None,
                vector: Some(VectorQuery { embedder, vector: vector.clone() }),
                per_arm: limit,
                ..kit.query("x")
            };
            let reply = kit.search(query).await;
            let wanted = &expected[..limit.min(expected.len())];
            let names: Vec<_> = wanted.iter().map(|(_, memory_id)| (*memory_id).clone()).collect();
            assert_eq!(ids(&reply, &reply.vector), names);
            for (hit, (cosine, _)) in reply.vector.unwrap().iter().zip(wanted) {
                assert!((hit.score - f64::from(*cosine)).abs() < 1e-6);
                let distance = hit.distance.unwrap();
                assert!((0.0..=1.0).contains(&distance), "{distance}");
                assert!((distance - f64::from((1.0 - cosine) / 2.0).max(0.0)).abs() < 1e-6);
            }
        }
    }
}

pub(super) async fn an_unusable_vector_fails_its_arm_only(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut save = kit.note("the one row");
    save.memory.concepts = concepts(&["one"]);
    let memory_id = kit.insert(save).await;
    let stored = kit.store.identity().await.unwrap().embedder;
    let right = kit.query("row").vector.unwrap();
    assert_eq!(right.embedder, stored, "the factory makes stores for the hash embedder");

    let foreign = VectorQuery { embedder: "hash/other/384".to_owned(), vector: right.vector.clone() };
    let mismatch = StoreError::EmbedderMismatch { stored: stored.clone(), given: foreign.embedder.clone() };
    let short = VectorQuery { embedder: stored.clone(), vector: right.vector[1..].to_vec() };
    let long = VectorQuery { embedder: stored, vector: [right.vector.clone(), vec![0.0]].concat() };
    for (vector, is_mismatch) in [(foreign.clone(), true), (short, false), (long, false)] {
        let query = SearchQuery { vector: Some(vector), concepts: concepts(&["one"]), ..kit.query("row") };
        let reply = kit.search(query).await;
        match &reply.vector {
            Err(error) if is_mismatch => assert_eq!(*error, mismatch),
            Err(error) => assert!(matches!(error, StoreError::Invalid { .. }), "{error:?}"),
            Ok(_) => panic!("the arm must fail"),
        }
        assert_eq!(ids(&reply, &reply.lexical), std::slice::from_ref(&memory_id));
        assert_eq!(ids(&reply, &reply.concept), std::slice::from_ref(&memory_id));
    }
    // Whatever the project holds.
    let unknown = LiveMemory { project: project("unknown"), expired_before: None };
    let reply = kit.search(SearchQuery { live: unknown, vector: Some(foreign), ..kit.query("row") }).await;
    assert_eq!(reply.vector.unwrap_err(), mismatch);
}

pub(super) async fn expired_rows_are_filtered_before_the_cut_and_counted(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut saved = Vec::new();
    for number in 0..12 {
        let mut save = kit.note(&format!("span {number}"));
        save.memory.concepts = concepts(&["span"]);
        saved.push(kit.insert(save).await);
    }
    // The first six are expired.
    let bound = kit.memory(&saved[6]).await.created_at;
    let query = |per_arm: usize| SearchQuery {
        live: live(Some(bound)),
        per_arm,
        concepts: concepts(&["span"]),
        ..kit.query("span")
    };

    let reply = kit.search(query(4)).await;
    assert_eq!(ids(&reply, &reply.lexical), saved[6..10], "the cut comes after the filter");
    assert_eq!(ids(&reply, &reply.concept), saved[6..10]);
    assert_eq!(reply.vector.as_ref().unwrap().len(), 4);
    assert!(reply.rows.iter().all(|row| row.created_at >= bound));
    assert_eq!(reply.hidden, 6, "each counts once, whatever arms passed it");

    let reply = kit.search(SearchQuery { vector: None, concepts: vec![], ..query(MANY) }).await;
    assert_eq!((ids(&reply, &reply.lexical).as_slice(), reply.hidden), (&saved[6..], 6));
    let none = SearchQuery { live: live(Some(bound.plus_millis(1_000_000))), ..query(3) };
    let reply = kit.search(none).await;
    assert_eq!((reply.rows.len(), reply.hidden), (0, 12));
    let all = kit.search(SearchQuery { live: live(None), ..query(MANY) }).await;
    assert_eq!((all.rows.len(), all.hidden), (12, 0));

    // What ranks below the last hit was not passed.
    let best = kit.insert_note("needle needle needle").await;
    let reply = kit.search(SearchQuery { vector: None, concepts: vec![], per_arm: 1, ..query(1) }).await;
    assert_eq!(reply.hidden, 6);
    let needle = SearchQuery { terms: Some(kit.analysis().query("needle span")), vector: None, ..query(1) };
    let reply = kit.search(SearchQuery { concepts: vec![], ..needle }).await;
    assert_eq!((ids(&reply, &reply.lexical), reply.hidden), (vec![best], 0));
}

pub(super) async fn an_arm_that_is_left_out_is_empty(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut save = kit.note("all arms find this");
    save.memory.concepts = concepts(&["arms"]);
    let memory_id = kit.insert(save).await;
    let full = SearchQuery { concepts: concepts(&["arms"]), ..kit.query("arms") };

    let reply = kit.search(full.clone()).await;
    assert_eq!(reply.rows.len(), 1, "a row that all arms find is there once");
    assert!(reply.rows[0].concepts.is_empty(), "without concepts");
    assert_eq!(reply.rows[0].memory_id, memory_id);
    let reply = kit.search(SearchQuery { terms: None, ..full.clone() }).await;
    assert!(reply.lexical.unwrap().is_empty());
    let reply = kit.search(SearchQuery { vector: None, ..full.clone() }).await;
    assert!(reply.vector.unwrap().is_empty());
    let reply = kit.search(SearchQuery { concepts: vec![], ..full.clone() }).await;
    assert!(reply.concept.unwrap().is_empty());
    let nothing = SearchQuery { terms: Some(vec![]), vector: None, concepts: vec![], ..full.clone() };
    let reply = kit.search(nothing).await;
    assert!(reply.rows.is_empty() && reply.lexical.unwrap().is_empty());
    let unknown = LiveMemory { project: project("unknown"), expired_before: None };
    let reply = kit.search(SearchQuery { live: unknown, ..full.clone() }).await;
    assert!(reply.rows.is_empty() && reply.hidden == 0);
    assert!(reply.lexical.unwrap().is_empty() && reply.vector.unwrap().is_empty());
    assert!(reply.concept.unwrap().is_empty());

    let many: Vec<TermHash> = (0..20_000).map(|number| TermHash::of(&format!("t{number}"))).collect();
    let reply = kit.search(SearchQuery { terms: Some([many, hashes(&["arms"])].concat()), ..full }).await;
    assert_eq!(ids(&reply, &reply.lexical), [memory_id], "a query may be long");
}

pub(super) async fn limits_hold_for_every_read(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    for number in 0..3 {
        let mut save = kit.note(&format!("limit {number}"));
        save.memory.concepts = concepts(&["limit"]);
        save.memory.session_id = session(&format!("s{number}"));
        kit.insert(save).await;
        kit.insert(kit.note(&format!("limit again {number}"))).await;
    }
    for (limit, sessions, memories) in [(0, 0, 0), (1, 1, 1), (2, 2, 2), (MANY, 4, 3), (usize::MAX, 4, 3)] {
        assert_eq!(kit.store.sessions(&home(), limit).await.unwrap().len(), sessions);
        let listed = kit.store.session_memories(&live(None), &session("s"), limit).await.unwrap();
        assert_eq!(listed.len(), memories);
        let query = SearchQuery { per_arm: limit, concepts: concepts(&["limit"]), ..kit.query("limit") };
        let reply = kit.search(query).await;
        assert_eq!(reply.lexical.as_ref().unwrap().len(), limit.min(6));
        assert_eq!(reply.vector.as_ref().unwrap().len(), limit.min(6));
        assert_eq!(reply.concept.as_ref().unwrap().len(), limit.min(3));
        let all = Scope::AllProjects;
        assert_eq!(kit.store.sessions_page(&all, StoreId(0), limit).await.unwrap().len(), sessions);
        assert_eq!(kit.store.memories_page(&all, StoreId(0), limit).await.unwrap().len(), limit.min(6));
        assert_eq!(kit.store.observations_page(&all, StoreId(0), limit).await.unwrap().len(), 0);
        assert_eq!(kit.store.log_page(StoreId(0), limit).await.unwrap().len(), limit.min(6));
    }
    let reply =
        kit.search(SearchQuery { per_arm: 0, live: live(Some(kit.tick())), ..kit.query("limit") }).await;
    assert_eq!((reply.rows.len(), reply.hidden), (0, 0), "an arm without places passes nothing");
}

pub(super) async fn fixed_lines_take_no_place_in_the_default_profile(factory: &dyn Factory) {
    for profile in [Profile::Default, Profile::Contract] {
        let kit = Kit::of(factory, profile).await;
        let mut line = kit.note("tool used: Grep");
        line.memory.kind = MemoryKind::Event;
        line.memory.concepts = concepts(&["grep"]);
        if profile == Profile::Default {
            line.memory.text.terms = None;
            line.memory.text.vector = None;
        }
        let line = kit.insert(line).await;
        let mut note = kit.note("grep finds it");
        note.memory.concepts = concepts(&["grep"]);
        let note = kit.insert(note).await;

        let ranked = match profile {
            Profile::Default => vec![note.clone()],
            Profile::Contract => vec![line.clone(), note.clone()],
        };
        assert_eq!(kit.linked(&["grep"]).await, ranked);
        assert_eq!(kit.lexical("grep").await.len(), ranked.len());
        assert_eq!(kit.nearest("grep").await.len(), ranked.len());
        assert_eq!(kit.listed("s").await, [note, line], "both are listed");
    }
}
