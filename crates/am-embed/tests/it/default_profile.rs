//! What a user of any language finds, in tables.

use am_embed::analysis::{Analysis, Profile};

fn default() -> Analysis {
    Analysis::new(Profile::Default)
}

fn terms(text: &str) -> String {
    default().search_terms(text).join(" ")
}

#[test]
fn identity_and_names_are_stable() {
    for (profile, name, id) in
        [(Profile::Contract, "contract", "contract-1"), (Profile::Default, "default", "default-1")]
    {
        assert_eq!(profile.as_str(), name);
        assert_eq!(Profile::parse(name), Some(profile));
        assert_eq!(Analysis::new(profile).id(), id);
        assert_eq!(Analysis::new(profile).profile(), profile);
    }
    assert_eq!(Profile::parse("Default"), None);
    assert_eq!(Profile::parse(""), None);
}

#[test]
fn words_of_every_script() {
    let table = [
        ("", ""),
        ("The LEDGER rejects", "the ledger rejects"),
        ("a b 7", "a b 7"),
        // Latin with marks, composed or not; no folding of accents.
        ("Größe der STRASSE, Straße", "größe der strasse straße"),
        ("cafe\u{301} CAF\u{c9}", "café café"),
        ("ＡＢＣ１２３ ｆｕｌｌ", "abc123 full"),
        ("ﬁle x² ™", "file x2 tm"),
        ("co\u{ad}operate \u{feff}bom", "cooperate bom"),
        // Capitals of other scripts.
        ("Сервер ПЕРЕЗАПУЩЕН", "сервер перезапущен"),
        ("ΟΔΟΣ οδός ΣΟΦΟΣ σοφος", "οδοσ οδόσ σοφοσ σοφοσ"),
        ("İstanbul Iğdır", "i\u{307}stanbul iğdır"),
        // Scripts with spaces and marks inside words.
        ("배포 파이프라인이 실패했습니다", "배포 파이프라인이 실패했습니다"),
        ("تم تحديث مفتاح", "تم تحديث مفتاح"),
        ("हिन्दी में", "हिन्दी में"),
        ("בדיקה של צה״ל", "בדיקה של צה״ל צה ל"),
        ("می\u{200c}خواهم", "میخواهم می خواهم"),
        // Scripts without spaces: characters and pairs of neighbours, across UAX #29 words.
        ("检", "检"),
        ("缓存命中", "缓 缓存 存 存命 命 命中 中"),
        ("缓存，命中", "缓 缓存 存 命 命中 中"),
        ("RPC超时1500ms", "rpc 超 超时 时 1500ms"),
        ("検索は", "検 検索 索 索は は"),
        ("バグ", "バ バグ グ"),
        ("ｶﾞｲﾄﾞ", "ガイド ガ ガイ イ イド ド"),
        ("エラー率", "エラー エ エラ ラ ラー ー ー率 率"),
        ("人々", "人 人々 々"),
        ("ที่นี่", "ที่ ที่นี่ นี่"),
        ("ລາວ", "ລ ລາ າ າວ ວ"),
        ("ខ្មែ", "ខ្ ខ្មែ មែ"),
        ("カ_abc", "カ_abc カ abc"),
        ("a\u{e31}", "a\u{e31}"),
        // Emoji.
        ("🚀 shipped", "🚀 shipped"),
        ("done🎉🚀", "done 🎉 🚀"),
        ("❤\u{fe0f} ❤", "❤ ❤"),
        ("👍🏽", "👍🏽 👍"),
        ("👩\u{200d}💻", "👩\u{200d}💻 👩 💻"),
        (".\u{200d}🚀", "🚀"),
        ("🇩🇪🇫🇷", "🇩🇪 🇫🇷"),
        ("1\u{fe0f}\u{20e3}", "1\u{20e3}"),
    ];
    for (text, expected) in table {
        assert_eq!(terms(text), expected, "{text:?}");
    }
}

#[test]
fn identifiers_are_found_whole_and_by_their_parts() {
    let table = [
        ("snake_case", "snake_case snake case"),
        ("_private __init__", "_private private __init__ init"),
        ("kebab-case", "kebab case"),
        ("auth.rs:42", "auth.rs auth rs 42"),
        ("src/parse/lexer.rs", "src parse lexer.rs lexer rs"),
        ("std::fs::read", "std fs read"),
        ("v2.4.1", "v2.4.1 v2 4 1"),
        ("3.14 1,000", "3.14 3 14 1,000 1 000"),
        ("N+1", "n 1"),
        ("level:warn", "level:warn level warn"),
        ("don't DON\u{2019}T", "don't don t don't don t"),
        ("end. Next", "end next"),
        ("2031-04-17T09:30:00Z", "2031 04 17t09 30 00z"),
        ("größe_max", "größe_max größe max"),
        ("ops@example.test", "ops example.test example test"),
    ];
    for (text, expected) in table {
        assert_eq!(terms(text), expected, "{text:?}");
    }
}

#[test]
fn text_without_a_word_has_no_term() {
    for text in [
        "",
        "  \t\r\n",
        "?!… — « » ()[]{}",
        "___ -- ::",
        "\u{200b}\u{feff}\u{ad}",
        "\u{301}\u{301}",
        "\u{200d}",
        "\u{fc5e}",
    ] {
        let analysed = default().analyse(text);
        assert!(analysed.entries.is_empty(), "{text:?}");
        assert_eq!(analysed.length, 0, "{text:?}");
        assert!(default().similarity_terms(text).is_empty(), "{text:?}");
        assert!(default().concepts(text).is_empty(), "{text:?}");
        assert!(default().query(text).is_empty(), "{text:?}");
        assert_eq!(analysed.jaccard(&analysed), 0.0, "{text:?}");
        assert_eq!(analysed.jaccard(&default().analyse("words")), 0.0, "{text:?}");
    }
}

#[test]
fn different_claims_are_never_the_same_text() {
    let pairs = [
        ("use tabs", "do not use tabs"),
        ("缓存命中率下降", "缓存命中率上升"),
        ("我们使用红色的按钮", "我们不使用红色的按钮"),
        ("Сервер запущен", "Сервер остановлен"),
        ("🚀", "🔥"),
        ("👍🏽", "👍🏿"),
        ("🇩🇪", "🇫🇷"),
        ("배포 성공", "배포 실패"),
        ("ต้นไม้", "ไม้ต้น"),
        ("wait 30 s", "wait 60 s"),
    ];
    for (left, right) in pairs {
        let (a, b) = (default().analyse(left), default().analyse(right));
        assert_eq!(a.jaccard(&a), 1.0, "{left}");
        assert!(a.jaccard(&b) < 0.9, "{left} / {right}: {}", a.jaccard(&b));
    }
}

#[test]
fn spellings_of_one_text_are_the_same_text() {
    let pairs = [
        ("Café", "CAFE\u{301}"),
        ("can’t", "can't"),
        ("ＡＰＩ", "api"),
        ("ﾊﾞｸﾞ", "バグ"),
        ("ΟΔΟΣ", "οδος"),
        ("J\u{30c}", "\u{1f0}"),
        ("❤\u{fe0f}", "❤"),
        ("soft\u{ad}ware", "software"),
    ];
    for (left, right) in pairs {
        assert_eq!(default().analyse(left), default().analyse(right), "{left} / {right}");
    }
}

#[test]
fn queries_find_what_they_are_part_of() {
    let found = [
        ("检索引擎的缓存", "缓存"),
        ("检索引擎的缓存", "缓"),
        ("see src/auth.rs:42", "auth.rs"),
        ("see src/auth.rs:42", "auth"),
        ("parse_http_header", "HTTP header"),
        ("エラーハンドリング", "エラ"),
        ("shipped 🚀 today", "🚀"),
        ("👩\u{200d}💻 paired", "💻"),
    ];
    for (text, query) in found {
        let analysed = default().analyse(text);
        for term in default().query(query) {
            let entry = analysed.entries.iter().find(|entry| entry.term == term);
            assert!(entry.is_some_and(|entry| entry.frequency > 0), "{query} in {text}");
        }
    }
}

#[test]
fn query_terms_are_distinct_in_first_seen_order() {
    assert_eq!(default().query("beta alpha Beta gamma alpha"), default().query("beta alpha gamma"));
    assert_ne!(default().query("beta alpha"), default().query("alpha beta"));
    assert_eq!(default().query("beta alpha beta").len(), 2);
}

#[test]
fn concepts_name_what_a_text_is_about() {
    let table = [
        ("", ""),
        ("go to db is ok", ""),
        ("The ledger service rejects invoices", "invoices ledger rejects service"),
        ("retry retry backoff", "retry backoff"),
        ("parse_http_header in src/lexer.rs", "lexer.rs parse_http_header src"),
        ("don't touch the user's config", "config don touch user"),
        ("Größe und Straße", "größe straße und"),
        ("Сервер перезапущен", "перезапущен сервер"),
        ("缓存命中，缓存", "缓存 命中 存命"),
        ("検索インデックスは毎時再構築", "インデックス 再構 時再 検索 構築 毎時"),
        ("バグ", "バグ"),
        ("배포 실패", "배포 실패"),
        ("ที่นี่", ""),
        ("🚀 🎉", ""),
        (
            "a1 b2 c3 d4 one1 two2 three3 four4 five5 six6 seven7 eight8 nine9",
            "eight8 five5 four4 nine9 one1 seven7 six6 three3",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(default().concepts(text).join(" "), expected, "{text:?}");
    }
}

#[test]
fn concepts_fit_the_limit_of_a_concept() {
    let fits = "x".repeat(200);
    assert_eq!(default().concepts(&fits), [fits]);
    assert!(default().concepts(&"x".repeat(201)).is_empty());
    // 101 characters, 202 UTF-16 units.
    assert!(default().concepts(&"\u{10400}".repeat(101)).is_empty());
    assert_eq!(default().concepts(&"\u{10400}".repeat(100)), ["\u{10428}".repeat(100)]);
}

#[test]
fn long_texts_of_one_kind_are_analysed() {
    let kinds = [
        "a",
        "a.",
        "a ",
        "1,",
        "_",
        "\u{301}",
        "a:\u{301}",
        "\u{fdfa}",
        "\u{1f1e9}",
        "👩\u{200d}",
        "\u{200d}",
        "缓存",
        "カ_",
        "สวัสดี",
        "\u{1100}\u{1161}\u{11a8}",
        "א\"",
        "İ",
        "\u{a0}",
        "x\u{200b}",
        "\u{1f3f4}\u{e0041}",
        "\u{301}\u{323}",
    ];
    for kind in kinds {
        let text = kind.repeat(60_000 / kind.chars().map(char::len_utf16).sum::<usize>());
        for profile in [Profile::Contract, Profile::Default] {
            let analysed = Analysis::new(profile).analyse(&text);
            assert!(analysed.entries.len() <= 8, "{kind:?}");
        }
    }
}
