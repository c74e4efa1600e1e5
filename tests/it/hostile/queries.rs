//! Queries: each is only data, finds what a user would expect, and the same through every door.

use super::door::{DOORS, Door, House, How};

/// What is kept, and queries that must find it.
const EXPECTED: [(&str, &[&str]); 14] = [
    (
        "Upgrade to v2.4.1-rc.3 fixed PROJ-1234 and #5678 in src/parse/lexer.rs:88",
        &[
            "2.4.1",
            "v2.4.1",
            "v2.4.1-rc.3",
            "PROJ-1234",
            "proj-1234",
            "1234",
            "#5678",
            "5678",
            "src/parse/lexer.rs",
            "src/parse/lexer.rs:88",
            "lexer.rs",
            "lexer",
            "Why did the lexer need an upgrade in March?",
        ],
    ),
    (
        "The pool of tokio::sync::Semaphore permits ran dry",
        &["tokio::sync::Semaphore", "Semaphore", "semaphore permits"],
    ),
    (
        "Set max_connections=50 in /etc/app/config.toml",
        &["max_connections", "config.toml", "/etc/app/config.toml", "50"],
    ),
    (
        "ECONNRESET: read failed with errno 104",
        &["ECONNRESET", "errno 104", "econnreset 104", "\"errno 104\""],
    ),
    ("The C++ build broke on N+1 queries", &["C++", "N+1", "n+1 queries", "c++ build"]),
    (
        "Contact ops@example.org about https://example.org:8443/status?x=1",
        &["ops@example.org", "example.org", "8443"],
    ),
    ("数据库连接池在午夜耗尽", &["数据库", "连接池", "午夜", "池", "数据库 午夜"]),
    ("検索エンジンの索引を再構築する", &["検索", "索引", "エンジン", "再構築"]),
    ("데이터베이스 연결이 끊겼다", &["데이터베이스", "연결이"]),
    ("сервер обновлён ночью без простоя", &["сервер", "СЕРВЕР", "простоя ночью", "обновлён"]),
    ("قاعدة البيانات ممتلئة", &["قاعدة", "البيانات"]),
    ("ฐานข้อมูลเต็มตอนเที่ยงคืน", &["ฐานข้อมูล", "เที่ยงคืน"]),
    (
        "Ship it \u{1f680} after \u{1f468}\u{200d}\u{1f4bb} review",
        &["\u{1f680}", "\u{1f468}\u{200d}\u{1f4bb}"],
    ),
    ("Das Caf\u{e9} schlie\u{df}t um 18:30", &["cafe\u{301}", "CAF\u{c9}", "18:30", "schlie\u{df}t"]),
];

/// Queries that other search engines take for something else than words.
const ODD: [&str; 46] = [
    "\"",
    "'",
    "`",
    "\\",
    "*",
    "^",
    "-",
    "--",
    "+",
    "~",
    "!",
    "?",
    ".",
    ":",
    "/",
    "|",
    "&",
    "%",
    "_",
    "(",
    ")",
    "((((",
    "[x",
    "{}",
    "AND",
    "OR",
    "NOT",
    "a AND",
    "OR b",
    "NOT NOT c",
    "NEAR(a b)",
    "NEAR/5",
    "content:x",
    "x:y:z",
    "\"open",
    "a* b*",
    "-a -b",
    "'; DROP TABLE memory;--",
    "../../etc/passwd",
    "$(id) `id`",
    "\u{feff}x",
    "\u{202e}abc",
    "\u{200d}",
    "\u{0301}",
    "\u{10ffff}",
    "\u{fffd}",
];

#[test]
fn what_is_kept_is_found_by_what_a_user_types() {
    let mut house = House::open();
    for (number, (text, _)) in EXPECTED.into_iter().enumerate() {
        house.save(DOORS[number % DOORS.len()], "p", "s", text).unwrap();
    }
    for (text, queries) in EXPECTED {
        for query in queries {
            for how in [How::Keyword, How::Hybrid] {
                let found = house.search(Door::Rest, how, "p", query);
                assert!(found.iter().any(|(_, content)| content == text), "{query:?} by {how:?}: {found:?}");
                for door in [Door::Mcp, Door::Cli] {
                    assert_eq!(
                        house.search(door, how, "p", query),
                        found,
                        "{query:?} by {how:?} through {door:?}"
                    );
                }
            }
        }
    }
    house.close();
}

#[test]
fn every_query_is_only_data() {
    let mut house = House::open();
    for (text, _) in EXPECTED {
        house.save(Door::Rest, "p", "s", text).unwrap();
    }
    let before = house.home.am(&["export"]).stdout;
    for query in ODD {
        for how in [How::Keyword, How::Hybrid] {
            let found = house.search(Door::Rest, how, "p", query);
            for door in [Door::Mcp, Door::Cli] {
                assert_eq!(
                    house.search(door, how, "p", query),
                    found,
                    "{query:?} by {how:?} through {door:?}"
                );
            }
        }
    }
    assert_eq!(house.home.am(&["export"]).stdout, before, "a query has changed something");
    house.close();
}

#[test]
fn a_query_of_the_largest_size_is_answered() {
    let mut house = House::open();
    house.save(Door::Rest, "p", "s", "the needle in all of this hay").unwrap();
    for filling in
        ["a ", "word ", "\u{6c34}", "\u{301}", "\"", "(", "x", "\u{1f469}\u{200d}", "\u{202e}", "1.2.3/4:5 "]
    {
        let start = "needle ";
        let query =
            start.to_owned() + &filling.repeat((10_000 - start.len()) / filling.encode_utf16().count());
        for how in [How::Keyword, How::Hybrid] {
            let found = house.search(Door::Rest, how, "p", &query);
            // What is joined to it makes another word of it.
            assert!(!found.is_empty() || filling == "\u{301}", "{filling:?}");
            for door in [Door::Mcp, Door::Cli] {
                assert_eq!(house.search(door, how, "p", &query), found, "{filling:?} through {door:?}");
            }
        }
    }
    house.close();
}
