//! The near-duplicate probe is exact, and looks where it may only.

use am_model::{Instant, MemoryId, MemoryKind};

use super::Factory;
use crate::testkit::kit::{Kit, concepts, home, project, words};
use crate::{Action, Outcome, Save};

/// The public ids the probe names.
async fn candidates(kit: &Kit, save: Save) -> Vec<MemoryId> {
    let before = kit.everything().await;
    match kit.save(save).await {
        Outcome::NearDuplicates { candidates } => {
            assert_eq!(kit.everything().await, before, "nothing is written");
            candidates.into_iter().map(|memory| memory.memory_id).collect()
        }
        Outcome::Inserted { memory_id } => {
            kit.forget(&[memory_id]).await;
            Vec::new()
        }
        outcome => panic!("{outcome:?}"),
    }
}

pub(super) async fn near_duplicates_are_found_exactly_at_the_threshold(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    // (terms both have, terms of the row alone, terms of the text alone)
    let shapes = [
        (9, 1, 0),
        (9, 0, 1),
        (18, 1, 1),
        (1, 1, 0),
        (1, 0, 0),
        (2, 1, 0),
        (3, 1, 2),
        (27, 2, 1),
        (95, 3, 2),
    ];
    for (shape, (common, row, text)) in shapes.into_iter().enumerate() {
        let from = shape * 400;
        let common_words = words(from, common);
        let content = [common_words.clone(), words(from + 100, row)].concat().join(" ");
        let mut other_order: Vec<String> = [words(from + 200, text), common_words].concat();
        other_order.reverse();
        let incoming = format!("{}!", other_order.join(", "));
        let jaccard = common as f64 / (common + row + text) as f64;
        let analysis = kit.analysis();
        assert_eq!(
            analysis.analyse(&content).jaccard(&analysis.analyse(&incoming)),
            jaccard,
            "the shape is right"
        );

        let memory_id = kit.insert_note(&content).await;
        let just_above = jaccard.next_up();
        for threshold in [jaccard, jaccard.next_down(), jaccard / 2.0, 0.01] {
            let found = candidates(&kit, kit.probing(&incoming, threshold)).await;
            assert_eq!(found, std::slice::from_ref(&memory_id), "{shape} at {threshold}");
        }
        if just_above <= 1.0 {
            assert_eq!(candidates(&kit, kit.probing(&incoming, just_above)).await, [], "{shape} above");
        }
    }
}

pub(super) async fn near_duplicates_are_found_beyond_the_best_lexical_hits(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let text = words(0, 20);
    // Repeats make the near-duplicate so long that it scores low; short rows of half the words score higher.
    let target =
        kit.insert_note(&format!("{} {}", text.join(" "), vec![text[0].as_str(); 2_000].join(" "))).await;
    for number in 0..40 {
        let half: Vec<String> = text.iter().cycle().skip(number % 20).take(10).cloned().collect();
        kit.insert_note(&format!("{} {}", half.join(" "), words(1_000 + number, 1)[0])).await;
    }
    let incoming = [text, words(500, 1)].concat().join(" ");
    let position = kit.lexical(&incoming).await.iter().position(|id| *id == target).unwrap();
    assert!(position >= 20, "the case is a case: {position}");
    assert_eq!(candidates(&kit, kit.probing(&incoming, 0.9)).await, [target]);
}

pub(super) async fn near_duplicates_stay_in_their_project(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let content = words(0, 10).join(" ");
    kit.insert(kit.note_of(&project("Home"), &content)).await;
    let incoming = words(0, 9).join(" ");
    assert_eq!(candidates(&kit, kit.probing(&incoming, 0.5)).await, []);
    let here = kit.insert_note(&content).await;
    assert_eq!(candidates(&kit, kit.probing(&incoming, 0.5)).await, [here]);
}

pub(super) async fn rows_that_are_expired_derived_or_unranked_are_no_near_duplicates(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let old = kit.insert_note(&words(0, 9).join(" ")).await;
    let source = kit.insert_note("nothing alike").await;
    let mut derived = kit.note(&words(0, 8).join(" "));
    derived.memory.derived_from = vec![source];
    derived.memory.kind = MemoryKind::Summary;
    kit.insert(derived).await;
    let mut line = kit.note(&words(0, 7).join(" "));
    line.memory.kind = MemoryKind::Event;
    line.memory.text.terms = None;
    line.memory.text.vector = None;
    kit.insert(line).await;

    let made = kit.memory(&old).await.created_at;
    let probe = |expired_before: Option<Instant>| {
        let mut save = kit.probing(&words(0, 10).join(" "), 0.5);
        save.expired_before = expired_before;
        save
    };
    assert_eq!(candidates(&kit, probe(None)).await, std::slice::from_ref(&old));
    assert_eq!(candidates(&kit, probe(Some(made))).await, [old], "as old as the bound is live");
    assert_eq!(candidates(&kit, probe(Some(made.plus_millis(1)))).await, []);
    let mut without_terms = probe(None);
    without_terms.memory.text.terms = None;
    assert_eq!(candidates(&kit, without_terms).await, [], "what has no terms is not probed");
}

pub(super) async fn a_row_passed_over_stays_so_at_its_version_only(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut first = kit.note(&words(0, 10).join(" "));
    first.memory.concepts = concepts(&["b", "a", "b"]);
    let first = kit.insert(first).await;
    let second = kit.insert_note(&words(1, 10).join(" ")).await;
    let rows = kit.store.memories(&[first.clone(), second.clone()]).await.unwrap();
    let probe = |except: &[(&MemoryId, i64)]| {
        let mut save = kit.probing(&words(0, 11).join(" "), 0.8);
        save.except = except.iter().map(|(id, version)| ((*id).clone(), *version)).collect();
        save
    };

    let outcome = kit.save(probe(&[])).await;
    assert_eq!(outcome, Outcome::NearDuplicates { candidates: rows }, "whole rows, by store id");
    assert_eq!(candidates(&kit, probe(&[(&first, 1)])).await, std::slice::from_ref(&second));
    assert_eq!(
        candidates(&kit, probe(&[(&second, 1), (&first, 2), (&second, 7)])).await,
        std::slice::from_ref(&first)
    );
    assert_eq!(candidates(&kit, probe(&[(&first, 1), (&second, 1), (&MemoryId::random(), 1)])).await, []);
}

pub(super) async fn the_probe_sees_merges_and_removals(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let memory_id = kit.insert_note(&words(0, 10).join(" ")).await;
    let incoming = words(0, 9).join(" ");
    assert_eq!(candidates(&kit, kit.probing(&incoming, 0.9)).await, std::slice::from_ref(&memory_id));

    kit.grow(&memory_id, &words(20, 10).join(" ")).await;
    assert_eq!(candidates(&kit, kit.probing(&incoming, 0.9)).await, [], "the row has grown apart");
    let grown = [words(0, 10), words(20, 9)].concat().join(" ");
    assert_eq!(candidates(&kit, kit.probing(&grown, 0.9)).await, std::slice::from_ref(&memory_id));

    kit.forget_session(&crate::testkit::kit::session("t")).await;
    assert_eq!(
        candidates(&kit, kit.probing(&incoming, 0.9)).await,
        std::slice::from_ref(&memory_id),
        "and back"
    );
    kit.forget(&[memory_id]).await;
    assert_eq!(candidates(&kit, kit.probing(&incoming, 0.9)).await, []);
    let saved = kit.commit(Action::Save(Box::new(kit.probing(&incoming, 0.9)))).await;
    assert!(matches!(saved, Outcome::Inserted { .. }));
    assert_eq!(kit.store.counts(&home()).await.unwrap().memories, 1);
}
