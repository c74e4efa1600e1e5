//! What events become: Antigravity, idempotency keys, and anything a host might hand over.

use am_hook::dialect::{self, Dialect, Surroundings};
use proptest::prelude::*;

const AROUND: Surroundings<'_> =
    Surroundings { project: None, name_files: true, directory: Some("/own/place"), now: 1_700_000_000_123 };

fn observe(dialect: Dialect, event: &str, payload: &str) -> Option<(String, String, String)> {
    dialect::observe(dialect, event, payload.as_bytes(), &AROUND)
        .map(|delivery| (delivery.content, delivery.project, delivery.session_id))
}

#[test]
fn antigravity_speaks_camel_case() {
    let observed = |event: &str, payload: &str| observe(Dialect::Antigravity, event, payload);
    let expected = |content: &str, project: &str, session: &str| {
        Some((content.to_owned(), project.to_owned(), session.to_owned()))
    };
    let place = r#""conversationId":"c-1","workspacePaths":[5,"/srv/work/App","/other"]"#;
    assert_eq!(
        observed("PostToolUse", &format!(r#"{{{place},"toolCall":{{"name":"view_file"}}}}"#)),
        expected("tool used: view_file", "App", "c-1")
    );
    for bag in [
        r#""toolCall":{"name":"write_to_file","args":{"path":"/a/b.rs"}}"#,
        r#""toolCall":{"name":"write_to_file","input":{"path":"/a/b.rs"}}"#,
        r#""toolCall":{"name":"write_to_file","arguments":{"path":"/a/b.rs"}}"#,
        r#""toolCall":{"name":"write_to_file"},"tool_input":{"path":"/a/b.rs"}"#,
    ] {
        assert_eq!(
            observed("PostToolUse", &format!("{{{place},{bag}}}")),
            expected("file edited via write_to_file: b.rs", "App", "c-1"),
            "{bag}"
        );
    }
    assert_eq!(
        observed("Stop", r#"{"conversationId":"c-2"}"#),
        expected("agent session stopped", "default", "c-2")
    );
    assert_eq!(observed("Stop", r#"{"session_id":"x"}"#).map(|(_, _, session)| session.len()), Some(36));
    for (event, payload) in [
        ("PostToolUse", r#"{"toolCall":{"name":"a/b"}}"#),
        ("PostToolUse", r#"{"tool_name":"Bash"}"#),
        ("SessionStart", "{}"),
        ("PreInvocation", "{}"),
        ("Stop", "[]"),
    ] {
        assert_eq!(observed(event, payload), None, "{event} {payload}");
    }
}

#[test]
fn antigravity_is_always_answered() {
    assert_eq!(Dialect::Antigravity.answer("Stop"), r#"{"decision":"stop"}"#);
    assert_eq!(Dialect::Antigravity.answer("PostToolUse"), "{}");
    assert_eq!(Dialect::Antigravity.answer("anything"), "{}");
    assert_eq!(Dialect::Contract.answer("Stop"), "");
}

#[test]
fn a_usable_event_id_of_the_host_becomes_the_key() {
    let key = |payload: &str| {
        dialect::observe(Dialect::Contract, "PostToolUse", payload.as_bytes(), &AROUND).unwrap().key
    };
    assert_eq!(key(r#"{"tool_name":"Bash","tool_use_id":"toolu_01A"}"#), "host:PostToolUse:toolu_01A");
    for unusable in
        [r#""""#, r#""a b""#, r#""a\r\nx: y""#, r#""工""#, "7", &format!("\"{}\"", "x".repeat(129))]
    {
        let key = key(&format!(r#"{{"tool_name":"Bash","tool_use_id":{unusable}}}"#));
        assert!(key.starts_with("delivery:") && key.len() == 45, "{unusable}: {key}");
    }
}

#[test]
fn odd_values_nobody_reads_do_not_lose_the_event() {
    let deep = format!("{}{}", "[".repeat(3000), "]".repeat(3000));
    let payload =
        format!(r#"{{"tool_response":"\ud83d","x":{deep},"y":1e999,"tool_name":"Ba\ud83dsh","cwd":"/p"}}"#);
    assert_eq!(
        observe(Dialect::Contract, "PostToolUse", &payload).map(|(content, ..)| content),
        Some("tool used: Ba\u{fffd}sh".to_owned())
    );
    let mut bytes = b"{\"cwd\":\"/p\",\"session_id\":\"a".to_vec();
    bytes.extend([0xff, 0xfe]);
    bytes.extend(b"b\"}");
    let delivery = dialect::observe(Dialect::Contract, "Stop", &bytes, &AROUND).unwrap();
    assert_eq!(delivery.session_id, "a\u{fffd}\u{fffd}b");
}

#[test]
fn the_largest_payload_is_one_mebibyte() {
    let sized = |size: usize| {
        let payload = format!("{{\"p\":\"{}\"}}", "x".repeat(size - 8));
        dialect::observe(Dialect::Contract, "Stop", payload.as_bytes(), &AROUND).is_some()
    };
    assert!(sized(1 << 20));
    assert!(!sized((1 << 20) + 1));
}

/// Texts that cutting, cleaning or quoting could get wrong.
fn nasty_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~]{0,300}",
        proptest::collection::vec(
            prop_oneof![
                Just("🚀"),
                Just("👨‍👩‍👧"),
                Just("e\u{301}"),
                Just("\u{0}"),
                Just("\r\n"),
                Just("/"),
                Just("\\"),
                Just("工"),
                Just("\u{feff}"),
                Just("\""),
                Just(" "),
                Just("a"),
                Just("\u{1f1e9}\u{1f1ea}"),
            ],
            0..200
        )
        .prop_map(|parts| parts.concat()),
    ]
}

fn any_event() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("PostToolUse".to_owned()),
        Just("PostToolUseFailure".to_owned()),
        Just("Stop".to_owned()),
        Just("SessionStart".to_owned()),
        any::<String>(),
    ]
}

fn assert_sound(delivery: Option<am_hook::delivery::Delivery>) {
    let Some(delivery) = delivery else { return };
    let units = |text: &str| text.encode_utf16().count();
    assert!(units(&delivery.content) <= 200 && !delivery.content.is_empty());
    assert!((1..=200).contains(&units(&delivery.project)));
    assert!((1..=200).contains(&units(&delivery.session_id)));
    assert!(delivery.key.len() <= 200 && delivery.key.bytes().all(|byte| byte.is_ascii_graphic()));
    assert!(!delivery.content.chars().any(|c| c.is_ascii_control()));
    let body: serde_json::Value = serde_json::from_str(&delivery.body()).unwrap();
    assert_eq!(body["content"], delivery.content.as_str());
    assert_eq!(body["project"], delivery.project.as_str());
    assert_eq!(body["sessionId"], delivery.session_id.as_str());
}

proptest! {
    #[test]
    fn any_bytes_are_survived(event in any_event(), payload in proptest::collection::vec(any::<u8>(), 0..400)) {
        for dialect in [Dialect::Contract, Dialect::Antigravity] {
            assert_sound(dialect::observe(dialect, &event, &payload, &AROUND));
        }
    }

    #[test]
    fn any_texts_in_the_members_make_a_sound_delivery(
        event in any_event(), tool in nasty_text(), cwd in nasty_text(), session in nasty_text(),
        file in nasty_text(), project in proptest::option::of(nasty_text()),
    ) {
        let around = Surroundings { project: project.as_deref(), ..AROUND };
        let contract = serde_json::json!({
            "tool_name": tool, "cwd": cwd, "session_id": session, "tool_input": {"path": file}, "tool_use_id": file,
        });
        assert_sound(dialect::observe(Dialect::Contract, &event, contract.to_string().as_bytes(), &around));
        let antigravity = serde_json::json!({
            "toolCall": {"name": tool, "args": {"file": file}}, "workspacePaths": [cwd], "conversationId": session,
        });
        assert_sound(dialect::observe(Dialect::Antigravity, &event, antigravity.to_string().as_bytes(), &around));
    }

    #[test]
    fn a_broken_end_is_survived(tool in nasty_text(), cut in 0_usize..400) {
        let payload = serde_json::json!({"tool_name": tool, "cwd": "/a"}).to_string().into_bytes();
        let end = cut.min(payload.len());
        assert_sound(dialect::observe(Dialect::Contract, "PostToolUse", &payload[..end], &AROUND));
    }
}
