//! Failure notes and signals.

use am_fusion::signal::{MESSAGE_MAX, REMOTE_MESSAGE_MAX, failed, failure_note, hidden};
use am_model::text::utf16_len;
use proptest::prelude::*;

#[test]
fn a_message_is_put_on_one_line_and_cut() {
    assert_eq!(failure_note("Error", "text   index\noffline ", MESSAGE_MAX), "Error: text index offline");
    let long = "m".repeat(161);
    let cut = format!("index_not_found: {}\u{2026}", "m".repeat(160));
    assert_eq!(failure_note("index_not_found", &long, REMOTE_MESSAGE_MAX), cut);
    assert_eq!(failure_note("Busy", &"m".repeat(160), 160), format!("Busy: {}", "m".repeat(160)));
    assert_eq!(failure_note("Busy", "a\u{1f680}", 2), "Busy: a\u{2026}");
}

#[test]
fn signals_name_the_part() {
    assert_eq!(failed("memories(s2)", "Error: read failed").to_string(), "memories(s2): Error: read failed");
    assert_eq!(hidden(0), None);
    assert_eq!(hidden(1).unwrap().to_string(), "ttl: hidden 1 expired rows");
}

proptest! {
    #[test]
    fn notes_are_bounded_single_lines(message: String, bound in 0_usize..300) {
        let note = failure_note("E", &message, bound);
        prop_assert!(utf16_len(&note) <= bound + 4);
        prop_assert!(!note.contains(['\n', '\r', '\t']));
    }
}
