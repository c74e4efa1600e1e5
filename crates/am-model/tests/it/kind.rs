//! What sort of claim a save is.

use am_model::{MemoryKind, Origin};

#[test]
fn a_kind_follows_from_origin_and_text() {
    let cases = [
        ("rest", "tool used: Grep", MemoryKind::Note),
        ("mcp", "anything", MemoryKind::Note),
        ("lesson", "tool used: Grep", MemoryKind::Lesson),
        ("hook:PostToolUse", "tool used: Grep", MemoryKind::Event),
        ("hook:Stop", "agent session stopped", MemoryKind::Event),
        ("hook:PostToolUse", "file edited via Edit: main.rs", MemoryKind::Event),
        ("hook:PostToolUse", "tool used: Grep\nwith a second line", MemoryKind::Observation),
        ("hook:UserPromptSubmit", "please fix the parser", MemoryKind::Observation),
        ("import:tool", "tool failed: Bash", MemoryKind::Event),
        ("import:assistant", "tool used: Grep", MemoryKind::Observation),
        ("import:user", "please fix the parser", MemoryKind::Observation),
        ("import:notes", "of another program", MemoryKind::Note),
    ];
    for (origin, content, kind) in cases {
        assert_eq!(MemoryKind::of(&Origin::new(origin).unwrap(), content), kind, "{origin}: {content}");
    }
}
