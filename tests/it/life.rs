//! How programs end: with their client, with their parent, when asked to; and that nothing is left of them.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::Pid;
use serde_json::json;

use crate::world::{Home, Mcp, Rest, Running, Server, Surface, eventually, fact, program};

#[test]
fn a_server_that_is_stopped_under_load_has_what_it_acknowledged() {
    let home = Home::new();
    for round in 0..4_u64 {
        let server = Server::start(&home);
        let port = server.port;
        let acknowledged: Vec<String> = thread::scope(|scope| {
            let writers: Vec<_> = (0..4)
                .map(|writer| {
                    scope.spawn(move || {
                        let mut acknowledged = vec![];
                        loop {
                            let number = (round * 4 + writer) * 10_000 + acknowledged.len() as u64;
                            let content = fact('g', number);
                            if (Rest { port }).save(&content, "s").is_none() {
                                return acknowledged;
                            }
                            acknowledged.push(content);
                        }
                    })
                })
                .collect();
            thread::sleep(Duration::from_millis(250));
            server.stop();
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
        });
        assert!(acknowledged.len() > 4, "{acknowledged:?}");
        let stored: std::collections::BTreeSet<String> =
            home.memories().into_iter().map(|stored| stored.memory.content).collect();
        let lost: Vec<_> = acknowledged.iter().filter(|content| !stored.contains(*content)).collect();
        assert_eq!(lost, Vec::<&String>::new());
        home.verify();
    }
    assert!(!home.data().join("am.sock").exists());
}

/// Both programs that serve an agent.
fn servers_of_an_agent(home: &Home) -> [Command; 2] {
    let mut other = home.command("am");
    other.arg("mcp");
    [home.command("am-mcp"), other]
}

#[test]
fn an_agents_program_ends_with_its_client_at_work_or_not() {
    let home = Home::new();
    for (number, command) in (0..).zip(servers_of_an_agent(&home)) {
        let mut mcp = Mcp::of(command);
        mcp.save(&fact('k', number), "s").unwrap();
        #[cfg(target_os = "linux")]
        assert_eq!(mcp.process.children(), Vec::<String>::new());
        // The client goes while an answer is on its way.
        let call = json!({"name": "memory_save", "arguments": {"content": fact('m', number)}});
        mcp.send(&json!({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": call})).unwrap();
        mcp.close();
    }
    home.verify();
}

#[test]
fn an_agents_program_does_not_outlive_its_parent() {
    let home = Home::new();
    // Its input stays open, as it does when another child of the dead parent holds the other end.
    let input = home.path().join("input");
    assert!(Command::new("mkfifo").arg(&input).status().unwrap().success());
    let held = std::fs::OpenOptions::new().read(true).write(true).open(&input).unwrap();
    for arguments in [vec![program("am-mcp")], vec![program("am"), "mcp".into()]] {
        let mut shell = home.furnish(Command::new("sh"));
        shell
            .args(["-c", r#"exec 3<"$0"; "$@" <&3 >/dev/null & echo $!; read -r _"#])
            .arg(&input)
            .args(arguments);
        let mut parent = Running::start(shell.stdin(Stdio::piped()));
        let mut line = String::new();
        BufReader::new(parent.child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let process = Pid::from_raw(line.trim_ascii().parse().unwrap()).unwrap();
        thread::sleep(Duration::from_millis(300));
        assert!(is_there(process), "it lives while its parent does");
        parent.child.kill().unwrap();
        parent.wait();
        eventually("it ends", || !is_there(process));
    }
    drop(held);
}

/// Returns whether a process runs; one that has ended may wait for whoever inherited it to notice.
fn is_there(process: Pid) -> bool {
    let state = Command::new("ps")
        .args(["-o", "stat=", "-p", &process.as_raw_nonzero().to_string()])
        .output()
        .unwrap();
    let state = String::from_utf8(state.stdout).unwrap();
    !state.trim_ascii().is_empty() && !state.trim_ascii().starts_with('Z')
}

#[test]
fn a_client_that_stops_listening_ends_its_program() {
    let home = Home::new();
    for mut command in servers_of_an_agent(&home) {
        let mut process = Running::start(command.stdin(Stdio::piped()));
        drop(process.child.stdout.take());
        let mut input = process.child.stdin.take().unwrap();
        // The input stays open.
        std::io::Write::write_all(&mut input, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
            .unwrap();
        assert_eq!(process.wait().code(), Some(0));
        assert_eq!(process.last_errors(), "");
        drop(input);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_whose_log_nobody_reads_serves_on_and_is_idle_after() {
    let home = Home::new();
    let server = Server::start_unheard(&home);
    let mut rest = Rest { port: server.port };
    for number in 0..20 {
        rest.save(&fact('p', number), "s").unwrap();
    }
    assert_eq!(rest.search(&crate::world::word('p', 3)).unwrap().len(), 10);
    assert_eq!(server.process.children(), Vec::<String>::new());
    let before = server.process.processor_ticks();
    thread::sleep(Duration::from_secs(1));
    let used = server.process.processor_ticks() - before;
    // A loop over the closed pipe would take all of the second, or what is left of it on a busy machine.
    assert!(used < 20, "{used} ticks of processor time in an idle second");
    server.stop();
}
