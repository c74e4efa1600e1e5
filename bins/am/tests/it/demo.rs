//! The README's first command.

use crate::support::{Am, assert_shown};

#[test]
fn it_shows_every_search_and_what_to_do_next() {
    let am = Am::new();
    let ran = am.run(["demo"]);
    assert_shown("demo", &am, &ran.shown());
    assert!(ran.stdout.ends_with("demo OK\n"));
}

#[test]
fn it_saves_nothing_twice() {
    let am = Am::new();
    assert_eq!(am.run(["demo", "--json"]).ok().json()["new"], 7);
    let again = am.run(["demo", "--json"]).ok().json();
    assert_eq!(again["new"], 0);
    assert_eq!(again["ok"], true);
    for (search, mode) in again["searches"].as_array().unwrap().iter().zip(["bm25", "vector", "hybrid"]) {
        assert_eq!(search["mode"], mode);
        assert!(!search["results"].as_array().unwrap().is_empty(), "{search}");
    }
    let stats = am.run(["stats", "--json"]).ok().json();
    assert_eq!((&stats["memories"], &stats["sessions"]), (&7.into(), &3.into()));
}

#[test]
fn what_it_says_to_do_next_works() {
    let am = Am::new();
    let shown = am.run(["demo"]).ok().stdout;
    let forget = shown.lines().find(|line| line.contains("am forget")).unwrap();
    let words: Vec<&str> = forget.split_whitespace().skip(1).take(5).collect();
    am.run(words).ok();
    assert_eq!(am.run(["stats", "--json"]).ok().json()["memories"], 4);
}
