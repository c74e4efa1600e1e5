//! What hooks left behind becomes memory while a client is connected.

use std::time::{Duration, Instant};

use am_hook::delivery::Delivery;
use am_hook::spool::{Counters, Spool};
use serde_json::json;

use crate::support::Program;

fn delivery(content: &str, key: &str) -> Delivery {
    Delivery {
        content: content.to_owned(),
        project: "p".to_owned(),
        session_id: "s".to_owned(),
        origin: "hook:PostToolUse".to_owned(),
        key: key.to_owned(),
        event_time: 1_790_000_000_000,
    }
}

#[test]
fn deliveries_are_drained_at_the_start_and_while_it_runs() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let spool = Spool::of(&data);
    spool.append(&delivery("tool used: Grep", "host:PostToolUse:1"), None).unwrap();
    spool.append(&delivery("tool used: Grep", "host:PostToolUse:2"), None).unwrap();
    let mut program = Program::start(home.path());
    program.initialize();
    let wait_for = |program: &mut Program, count: usize| {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let listed = program.call("memory_session_memories", json!({"project": "p", "sessionId": "s"}));
            if listed["memories"].as_array().map(Vec::len) == Some(count) {
                return listed;
            }
            assert!(Instant::now() < deadline, "{listed}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let listed = wait_for(&mut program, 1);
    assert_eq!(listed["memories"][0]["content"], "tool used: Grep");
    assert_eq!(listed["memories"][0]["origin"], "hook:PostToolUse");
    spool.append(&delivery("tool used: Read", "host:PostToolUse:3"), None).unwrap();
    wait_for(&mut program, 2);
    // The memory is there before the line in the spool is gone.
    let deadline = Instant::now() + Duration::from_secs(30);
    while spool.pending().unwrap().deliveries > 0 {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(spool.counters().unwrap(), Counters { spooled: 3, ..Counters::default() });
    assert_eq!(program.finish(), (Some(0), vec![], String::new()));
}
