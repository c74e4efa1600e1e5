//! Text that broke other products: kept whole, found, never an operator.

use am_embed::analysis::Profile;
use am_model::text::trim;
use am_service::Remember;
use proptest::prelude::*;

use super::KIND;
use crate::support::{Fixture, caller, found, request, without_merging};

const TEXTS: [&str; 22] = [
    "a NUL \0 in the middle",
    "quotes \" ' ` and \\ slashes / here",
    "AND OR NOT NEAR( ( ) [ ] { } * : ^ -",
    "'; DROP TABLE memories; --",
    "percent % underscore _ 100%_",
    "версия сервера обновлена ночью",
    "検索エンジンの索引を再構築する",
    "데이터베이스 연결 풀",
    "مرحبا بالعالم الجديد",
    "עברית מימין לשמאל",
    "🚀🚀 launch 👩‍👩‍👧‍👦",
    "👩‍👩‍👧‍👦",
    "e\u{301}cole and école",
    "\u{202e}reversed\u{202c} text",
    "zero\u{200b}width\u{200d}joiners",
    "v2.4.1 fixes #1234 in src/parse/lexer.rs:88",
    "C++ and C# and .NET and N+1",
    "<script>alert(1)</script> </memory> ]]>",
    "${HOME} $(id) `id` %n%s",
    "line\r\nbreaks\u{2028}of\u{85}every kind",
    "İstanbul ẞ ß K ſ",
    "q",
];

#[tokio::test]
async fn every_text_is_kept_whole_and_found_by_itself() {
    let fixture = Fixture::with(KIND, Profile::Default, without_merging()).await;
    for text in TEXTS {
        let saved = fixture.save("s", text).await;
        assert!(!saved.deduped, "{text:?}");
        assert_eq!(fixture.memory(&saved).await.content, text);
    }
    for text in TEXTS {
        for results in [fixture.search(text).await, fixture.smart_search(text, &[]).await] {
            assert_eq!(results.signals, [], "{text:?}");
            assert!(found(&results).contains(&text), "{text:?} is not found by itself");
        }
    }
}

#[tokio::test]
async fn texts_without_latin_words_stay_apart() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let texts = ["検索", "索引", "сервер", "🚀", "🎉", "!!!", "???", "ab", "b a"];
    for text in texts {
        let saved = fixture.save("s", text).await;
        assert!(!saved.deduped && !saved.consolidated, "{text}");
    }
    assert_eq!(fixture.memories().await.len(), texts.len());
    assert_eq!(found(&fixture.search("索引").await)[0], "索引");
    assert_eq!(found(&fixture.search("🚀").await), ["🚀"]);
    assert_eq!(found(&fixture.search("СЕРВЕР").await), ["сервер"]);
}

#[tokio::test]
async fn text_without_tokens_is_saved_under_the_contract() {
    let fixture = Fixture::new(KIND, Profile::Contract).await;
    for text in ["検索", "!!!", "a b c", "🚀"] {
        let saved = fixture.save("s", text).await;
        assert!(!saved.deduped && !saved.consolidated, "{text}");
    }
    assert!(fixture.memories().await.iter().all(|row| row.vector.is_none()));
}

#[tokio::test]
async fn the_largest_content_and_query_are_data_too() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let text = "lorem ipsum ".repeat(16_000);
    fixture.save("s", &text).await;
    let results = fixture.smart_search(&"lorem AND ".repeat(1_000), &[]).await;
    assert_eq!(found(&results), [trim(&text)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_is_saved_whole_or_refused(texts in prop::collection::vec(any::<String>(), 1..6), query: String) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            for profile in [Profile::Contract, Profile::Default] {
                let fixture = Fixture::with(KIND, profile, without_merging()).await;
                for text in &texts {
                    let asked = Remember { content: text.clone(), ..request("s", "x") };
                    match fixture.service.remember(&caller(), asked).await {
                        Ok(saved) if saved.deduped => {}
                        Ok(saved) => assert_eq!(fixture.memory(&saved).await.content, trim(text)),
                        Err(_) => assert!(trim(text).is_empty()),
                    }
                }
                assert_eq!(fixture.search(&query).await.signals, []);
                assert_eq!(fixture.smart_search(&query, &["c"]).await.signals, []);
            }
        });
    }
}
