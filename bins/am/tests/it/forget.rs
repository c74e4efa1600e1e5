//! Forgetting: gone from every answer and from the disk.

use crate::support::{Am, assert_shown};

#[test]
fn a_memory_is_gone_from_answers_and_disk() {
    let am = Am::new();
    let id = am.remember("p", "s", "the passphrase is quixotic-heliotrope-7");
    am.remember("p", "s", "a sibling saved in the same breath");
    am.line("summarize --project p --session-id s").ok();
    assert!(am.holds_bytes("heliotrope"));
    let ran = am.run(["forget", "--json", &id]).ok();
    assert_eq!(ran.json()["memories"], serde_json::json!([id]));
    assert_eq!(ran.json()["erasurePending"], false);
    assert_eq!(am.found("p", "heliotrope"), [""; 0]);
    assert!(!am.holds_bytes("heliotrope"));
    assert_eq!(am.found("p", "sibling")[0], "a sibling saved in the same breath");
    let verified = am.run(["verify", "--json"]).ok().json();
    assert_eq!((&verified["ok"], &verified["erasurePending"]), (&true.into(), &false.into()));
    let again = am.run(["forget", &id]);
    assert_shown("forget-missing", &am, &again.shown());
}

#[test]
fn a_session_goes_with_its_parts_of_others_and_its_events() {
    let am = Am::new();
    let words: Vec<String> = (0..40).map(|n| format!("word{n}")).collect();
    am.remember("p", "kept", &words.join(" "));
    am.remember("p", "gone", &format!("{} zanzibar", words.join(" ")));
    am.remember("p", "gone", "madagascar alone");
    am.capture("p", "gone", "host:Stop:1", "mauritius was captured");
    let ran = am.line("forget --project p --session gone");
    assert_shown("forget-session", &am, &ran.shown());
    for word in ["zanzibar", "madagascar", "mauritius"] {
        assert_eq!(am.found("p", word), [""; 0], "{word}");
        assert!(!am.holds_bytes(word), "{word}");
    }
    assert_eq!(am.found("p", "word7"), [words.join(" ")]);
    assert_eq!(am.line("forget --project p --session gone").code, 1);
    // The same session of another project is another one.
    assert_eq!(am.line("forget --project q --session kept").code, 1);
}

#[test]
fn an_event_is_forgotten_by_its_key_and_does_not_come_back() {
    let am = Am::new();
    am.capture("p", "s", "host:Stop:1", "a captured secret: borogoves");
    am.line("forget --project p --observation host:Stop:1").ok();
    assert!(!am.holds_bytes("borogoves"));
    am.capture("p", "s", "host:Stop:1", "a captured secret: borogoves");
    assert_eq!(am.found("p", "borogoves"), [""; 0]);
    assert_eq!(am.line("forget --project p --observation nothing").code, 1);
}

#[test]
fn what_waits_in_the_spool_does_not_bring_it_back() {
    let am = Am::new();
    let id = am.remember("p", "s", "agent said xylophone");
    am.capture("p", "s", "host:Stop:9", "agent said xylophone");
    am.run(["forget", &id]).ok();
    assert_eq!(am.found("p", "xylophone"), [""; 0]);
    assert!(!am.holds_bytes("xylophone"));
}

#[test]
fn a_delete_has_a_reason_and_a_receipt() {
    let am = Am::new();
    let id = am.remember("p", "s", "personal data");
    let ran = am.run(["delete", &id, "--reason", "asked  for\nby the user"]);
    assert_shown("delete", &am, &ran.shown());
    assert_shown("delete-missing", &am, &am.run(["delete", &id, "--reason", "again"]).shown());
    let export = am.run(["export"]).ok().stdout;
    assert!(
        export.contains("\"verb\":\"delete\"") && export.contains("\"reason\":\"asked for by the user\"")
    );
    let id = am.remember("p", "s", "more of it");
    for reason in ["", " \n", &"x".repeat(1001)] {
        let ran = am.run(["delete", &id, "--reason", reason]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.starts_with("error: reason: "), "{ran:?}");
    }
    let receipt = am.run(["delete", "--json", &id, "--reason", "r"]).ok().json();
    assert_eq!((&receipt["deleted"], &receipt["receipt"]["memoryId"]), (&true.into(), &id.into()));
}

#[test]
fn one_thing_is_forgotten_at_a_time() {
    let am = Am::new();
    am.remember("p", "s", "x");
    for mistake in ["forget", "forget id --session s", "forget --session s --observation k", "delete id"] {
        assert_eq!(am.line(mistake).code, 2, "{mistake}");
    }
}
