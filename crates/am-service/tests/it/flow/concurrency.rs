//! Many savers at once: every text is kept once, and near-duplicates meet in one row.

use std::collections::BTreeSet;

use am_embed::analysis::{Analysis, Profile};
use am_fusion::similarity::jaccard;

use super::KIND;
use crate::support::{Fixture, caller, request};

/// Thirty words and one more: each two of a family are alike to 30/32.
fn variant(family: usize, member: usize) -> String {
    let words: Vec<String> = (0..30).map(|n| format!("family{family}word{n}")).collect();
    format!("{} member{family}x{member:03}", words.join(" "))
}

async fn run(texts: Vec<String>) {
    let first = Fixture::new(KIND, Profile::Default).await;
    let fixtures = [first.beside().await, first.beside().await, first.beside().await, first];
    let mut tasks = tokio::task::JoinSet::new();
    for (n, text) in texts.iter().cloned().enumerate() {
        let service = fixtures[n % 4].service.clone();
        tasks.spawn(async move { service.remember(&caller(), request(&format!("s{n}"), &text)).await });
    }
    while let Some(saved) = tasks.join_next().await {
        saved.unwrap().unwrap();
    }

    let rows = fixtures[0].memories().await;
    let contents: Vec<&str> = rows.iter().map(|row| row.memory.content.as_str()).collect();
    for text in &texts {
        let holds = |content: &&&str| content.lines().any(|line| line == text);
        let holding = contents.iter().filter(holds).count();
        assert_eq!(holding, 1, "{text} is held {holding} times");
    }
    let analysis = Analysis::new(Profile::Default);
    let terms: Vec<BTreeSet<String>> = contents.iter().map(|text| analysis.similarity_terms(text)).collect();
    for (n, left) in terms.iter().enumerate() {
        for right in terms.iter().skip(n + 1) {
            assert!(jaccard(left, right) < 0.9);
        }
    }
    for row in &rows {
        let pieces: usize = row.parts.iter().map(|part| part.bytes + 1).sum();
        assert_eq!(pieces, row.memory.content.len() + 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn equal_and_similar_texts_of_many_tasks_lose_nothing() {
    let mut texts = vec![];
    for n in 0..120 {
        texts.push(match n % 4 {
            0 | 1 => format!("the same text number {}", n / 8),
            2 => variant(n % 3, n),
            _ => format!("a text of its own {n} {}", "x".repeat(n)),
        });
    }
    run(texts).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn one_family_of_many_tasks_meets() {
    run((0..64).map(|n| variant(0, n)).collect()).await;
}
