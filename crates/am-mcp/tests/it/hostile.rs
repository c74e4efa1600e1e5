//! Whatever arrives: no panic, no silence, no line that is not protocol.

use am_embed::analysis::Profile;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use crate::support::{Client, body, service};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((any_key(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("content".to_owned()),
        Just("query".to_owned()),
        Just("limit".to_owned()),
        Just("concepts".to_owned()),
        Just("importance".to_owned()),
        Just("sessionId".to_owned()),
        Just("memoryId".to_owned()),
        Just("reason".to_owned()),
        any::<String>(),
    ]
}

fn any_tool() -> impl Strategy<Value = String> {
    let names: Vec<String> = crate::golden::golden()["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    prop_oneof![9 => proptest::sample::select(names), 1 => any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_arguments_get_an_answer(calls in proptest::collection::vec((any_tool(), any_json()), 1..8)) {
        Runtime::new().unwrap().block_on(async {
            let mut client = Client::over(service(Profile::Default).await);
            client.initialize().await;
            for (tool, arguments) in calls {
                let answer = client.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
                let known = answer["result"]["isError"].is_boolean() || answer["error"]["code"] == -32602;
                assert!(known, "{answer}");
            }
            assert!(client.said().is_empty(), "{:?}", client.said());
        });
    }

    #[test]
    fn any_text_is_kept_whole_and_any_query_is_data(content in "\\PC{1,200}", query in any::<String>()) {
        Runtime::new().unwrap().block_on(async {
            let mut client = Client::over(service(Profile::Default).await);
            client.initialize().await;
            let content = format!("a{content}\0\u{1f468}\u{200d}\u{1f469}z");
            let saved = client.call("memory_save", json!({"content": content, "sessionId": "s"})).await;
            assert_eq!(saved["isError"], false, "{saved}");
            let listed = client.call("memory_session_memories", json!({"sessionId": "s"})).await;
            assert_eq!(body(&listed)["memories"][0]["content"], content);
            for tool in ["memory_search", "memory_smart_search"] {
                let found = client.call(tool, json!({"query": format!("q{query}")})).await;
                assert_eq!(found["isError"], false, "{found}");
                assert_eq!(body(&found)["signals"], json!([]));
            }
        });
    }

    #[test]
    fn any_lines_leave_the_conversation_alive(lines in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 0..12)) {
        Runtime::new().unwrap().block_on(async {
            let mut client = Client::over(service(Profile::Default).await);
            for line in lines {
                client.send_bytes(&line).await;
                client.send_bytes(b"\n").await;
            }
            client.send(&json!({"jsonrpc": "2.0", "id": "last", "method": "ping"})).await;
            loop {
                let answer = client.receive().await;
                if answer["id"] == "last" {
                    break;
                }
                assert!(answer["error"]["code"].is_i64(), "{answer}");
            }
        });
    }
}
