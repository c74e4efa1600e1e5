//! What hosts hand to the hook: whatever it is, the hook is silent, and what it makes of it arrives whole.

use std::io::Write as _;
use std::process::Stdio;

use am_hook::dialect::{Dialect, Surroundings, observe};
use am_model::text::trim;
use serde_json::{Value, json};

use super::door::{Door, House};

impl House {
    /// Fires the hook with a server at hand; the host sees success and nothing else.
    fn fire(&self, event: &str, payload: &[u8]) {
        let mut command = self.home.command("am-hook");
        let mut child =
            command.arg(event).stdin(Stdio::piped()).current_dir(self.home.path()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(payload).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let said = (output.status.code(), output.stdout.as_slice(), output.stderr.as_slice());
        assert_eq!(said, (Some(0), &b""[..], &b""[..]), "{event} {}", String::from_utf8_lossy(payload));
    }
}

/// Texts in the places of names.
fn texts() -> Vec<String> {
    let long = |text: &str| text.repeat(20_000);
    let mut texts: Vec<String> = [
        "Bash",
        "nul\0tool",
        "\"quoted\" 'tool' `x`",
        "mcp__memory__memory_save",
        "../../etc/passwd",
        "C:\\tools\\x",
        "'; DROP TABLE memory; --",
        "AND OR NEAR(",
        "line\r\nend\u{2028}x",
        "\u{1b}[31mred",
        "\u{feff}marked",
        "工具",
        "инструмент",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "\u{202e}loot",
        "e\u{301}dit",
        " \t ",
        "",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.extend([
        long("x"),
        long("\u{301}"),
        long("\u{1f98a}"),
        long("\u{1f469}\u{200d}\u{1f4bb}"),
        long("文 "),
    ]);
    texts
}

#[test]
fn names_of_any_kind_arrive_as_the_hook_makes_them() {
    let mut house = House::open();
    for (number, text) in texts().iter().enumerate() {
        let (session, directory) = (format!("s{number}"), format!("/w/p{number}"));
        for (event, payload) in [
            ("PostToolUse", json!({"tool_name": text, "session_id": session, "cwd": directory})),
            ("PostToolUseFailure", json!({"tool_name": text, "session_id": session, "cwd": directory})),
            ("PostToolUse", json!({"tool_name": "Edit", "session_id": text, "cwd": format!("/w/q{number}")})),
            ("Stop", json!({"session_id": format!("t{number}"), "cwd": format!("/w/{text}")})),
        ] {
            let bytes = payload.to_string().into_bytes();
            house.fire(event, &bytes);
            let around = Surroundings { project: None, name_files: false, directory: None, now: 0 };
            let Some(expected) = observe(Dialect::Contract, event, &bytes, &around) else { continue };
            // Of a session without a name it makes up another one each time, and "." and ".." are no path.
            let is_named = payload["session_id"].as_str().is_some_and(|id| !id.trim_ascii().is_empty());
            if !is_named {
                continue;
            }
            for door in [Door::Rest, Door::Mcp] {
                // A cut may leave a blank at the end, which the memory takes off.
                let listed = house.list(door, trim(&expected.project), trim(&expected.session_id));
                let arrived = listed.iter().any(|(_, content)| *content == trim(&expected.content));
                assert!(arrived, "{event} {text:?} through {door:?}: {listed:?}, not {expected:?}");
            }
        }
    }
    house.close();
}

#[test]
fn payloads_of_any_shape_are_met_with_silence() {
    let mut house = House::open();
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let large = "x".repeat((1 << 20) - 200);
    let payload = |more: &str| format!(r#"{{"session_id":"s","cwd":"/w/p","tool_name":"Read"{more}}}"#);
    let cases: Vec<(&str, Vec<u8>, bool)> = vec![
        ("as it should be", payload("").into_bytes(), true),
        ("depth where no one looks", payload(&format!(r#","tool_response":{deep}"#)).into_bytes(), true),
        ("huge numbers", payload(r#","duration_ms":1e999999,"n":-0"#).into_bytes(), true),
        ("halves of pairs", payload(r#","tool_response":"\ud800\udc","x":"\udfff""#).into_bytes(), false),
        ("halves of pairs, well formed", payload(r#","tool_response":"\ud800 \udfff""#).into_bytes(), true),
        (
            "invalid UTF-8",
            [&b"{\"session_id\":\"s\",\"cwd\":\"/w/p\",\"tool_name\":\"Re\xffad\",\"x\":\"\xc3\"}"[..]]
                .concat(),
            true,
        ),
        ("byte order mark", format!("\u{feff}{}", payload("")).into_bytes(), true),
        ("line ends", payload("").replace(',', ",\r\n").into_bytes(), true),
        ("repeated members", payload(r#","tool_name":"Grep""#).into_bytes(), true),
        ("one mebibyte", payload(&format!(r#","x":"{large}""#)).into_bytes(), true),
        ("larger", payload(&format!(r#","x":"{large}{large}""#)).into_bytes(), false),
        ("depth without an end", payload(&format!(r#","x":{}"#, "[".repeat(500_000))).into_bytes(), false),
        ("nothing", vec![], false),
        ("NUL", vec![0; 4096], false),
        ("noise", (0..=255).cycle().take(10_000).collect(), false),
        ("an array", format!("[{}]", payload("")).into_bytes(), false),
        ("two documents", format!("{0}{0}", payload("")).into_bytes(), false),
        ("a tool that is none", br#"{"session_id":"s","cwd":"/w/p","tool_name":["Read"]}"#.to_vec(), false),
        ("names that are none", br#"{"session_id":{"a":1},"cwd":7,"tool_name":"Read"}"#.to_vec(), true),
    ];
    for (number, (kind, payload, is_kept)) in cases.iter().enumerate() {
        let before = house.home.events();
        // Each into a project of its own: a repeated line is kept once.
        let replaced =
            String::from_utf8(payload.clone()).map(|text| text.replace("/w/p", &format!("/w/p{number}")));
        house.fire("PostToolUse", &replaced.map_or(payload.clone(), String::into_bytes));
        assert_eq!(house.home.events() - before, u64::from(*is_kept), "{kind}");
        for event in ["", "posttooluse", "PreToolUse", "../Stop", "Stop\n", "--help", "--agent", "\u{202e}"] {
            house.fire(event, payload);
        }
        assert_eq!(house.home.events() - before, u64::from(*is_kept), "{kind}: an event that there is not");
    }
    let rows: Value = house.server.get("/memory/sessions?project=p0").json();
    assert_eq!(rows["sessions"][0]["sessionId"], "s");
    assert_eq!(house.list(Door::Rest, "p0", "s")[0].1, "tool used: Read");
    house.close();
}
