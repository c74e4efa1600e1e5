//! What hooks could not deliver.

use std::path::Path;
use std::sync::Arc;

use am_embed::analysis::Profile;
use am_embed::hash::HashEmbedder;
use am_hook::delivery::Delivery;
use am_hook::spool::{Counters, Drained, Spool};
use am_model::{Channel, Project, SessionId, StoreId};
use am_runtime::spool::{Drainer, SpoolInbox};
use am_service::{Caller, Inbox as _, Service, Settings, SystemClock};
use am_store::testkit::MemoryStore;
use am_store::{Scope, StoreError};

use crate::support::{config_in, foreign, ours, server};

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

async fn service(store: &Arc<MemoryStore>) -> Service {
    let store: Arc<MemoryStore> = Arc::clone(store);
    Service::open(store, Arc::new(HashEmbedder::new()), Arc::new(SystemClock), Settings::default())
        .await
        .unwrap()
}

fn drainer(directory: &Path) -> Arc<Drainer> {
    Arc::new(Drainer::new(&config_in(directory, &[("AGENT_MEMORY_SECRET", "zz")])))
}

fn drained(delivered: u64, kept: u64, refused: u64) -> Drained {
    Drained { delivered, kept, refused, broken: 0 }
}

#[tokio::test]
async fn a_delivery_becomes_memory_and_evidence_of_its_own_time() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    spool.append(&delivery("tool used: Grep", "host:PostToolUse:1"), None).unwrap();
    spool.append(&delivery("tool used: Grep", "host:PostToolUse:2"), None).unwrap();
    // The same event once more, spooled by another host.
    spool.append(&delivery("tool used: Grep", "host:PostToolUse:2"), None).unwrap();
    let store = Arc::new(MemoryStore::new(Profile::Default));
    let service = service(&store).await;
    assert_eq!(drainer(directory.path()).drain(&service).await.unwrap(), drained(3, 0, 0));
    let memories = service
        .session_memories(&Project::new("p").unwrap(), &SessionId::new("s").unwrap(), 10)
        .await
        .unwrap();
    assert_eq!(memories.len(), 1);
    assert_eq!(memories[0].origin.as_str(), "hook:PostToolUse");
    let events = service.store().observations_page(&Scope::AllProjects, StoreId(0), 10).await.unwrap();
    assert_eq!(events.len(), 2, "each event once");
    assert!(events.iter().all(|event| event.observation.at.millis() == 1_790_000_000_000));
    let log = service.store().log_page(StoreId(0), 10).await.unwrap();
    assert!(
        log.iter().all(|row| row.entry.channel == Channel::Hook && row.entry.actor.0 == "hook:PostToolUse")
    );
    assert_eq!(spool.pending().unwrap().deliveries, 0);
    assert_eq!(drainer(directory.path()).drain(&service).await.unwrap(), Drained::default());
}

#[tokio::test]
async fn what_can_never_be_memory_is_counted_and_what_cannot_be_now_waits() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    spool
        .append(&Delivery { project: " ".to_owned(), ..delivery("no project", "host:Stop:1") }, None)
        .unwrap();
    spool.append(&delivery(" ", "host:Stop:2"), None).unwrap();
    spool.append(&delivery("agent session stopped", "host:Stop:3"), None).unwrap();
    spool.append(&delivery("agent session started", "host:Stop:4"), None).unwrap();
    let store = Arc::new(MemoryStore::new(Profile::Default));
    let service = service(&store).await;
    store.fail_always(Some(StoreError::Full));
    let drainer = drainer(directory.path());
    assert_eq!(drainer.drain(&service).await.unwrap(), drained(0, 2, 2));
    assert_eq!(spool.counters().unwrap(), Counters { spooled: 4, refused: 2, ..Counters::default() });
    store.fail_always(None);
    assert_eq!(drainer.drain(&service).await.unwrap(), drained(2, 0, 0));
    assert_eq!(service.counts(&Project::new("p").unwrap()).await.unwrap().memories, 2);
}

#[tokio::test]
async fn a_delivery_for_another_server_goes_there() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    let (url, requests) = server(foreign(201, "{}"));
    spool.append(&delivery("tool used: Grep", "host:PostToolUse:1"), Some(&format!("{url}/team"))).unwrap();
    let store = Arc::new(MemoryStore::new(Profile::Default));
    let service = service(&store).await;
    assert_eq!(drainer(directory.path()).drain(&service).await.unwrap(), drained(1, 0, 0));
    let (head, body) = requests.recv().unwrap();
    assert!(head.starts_with("POST /team/memory/remember "), "{head}");
    let head = head.to_ascii_lowercase();
    assert!(head.contains("idempotency-key: host:posttooluse:1"), "{head}");
    assert!(head.contains("x-agent-memory-event-time: 1790000000000"), "{head}");
    assert!(head.contains("authorization: bearer zz"), "{head}");
    assert_eq!(body, delivery("tool used: Grep", "host:PostToolUse:1").body());
    assert_eq!(service.counts(&Project::new("p").unwrap()).await.unwrap().memories, 0);
}

#[tokio::test]
async fn a_server_that_refuses_is_heard_and_one_that_fails_is_left_alone_for_a_while() {
    let directory = tempfile::tempdir().unwrap();
    let spool = Spool::of(directory.path());
    let (refusing, refused) = server(ours(400, "{}"));
    let (failing, failed) = server(ours(500, "{}"));
    let store = Arc::new(MemoryStore::new(Profile::Default));
    let service = service(&store).await;
    spool.append(&delivery("a", "host:Stop:1"), Some(&refusing)).unwrap();
    for key in ["host:Stop:2", "host:Stop:3"] {
        spool.append(&delivery("b", key), Some(&failing)).unwrap();
    }
    spool.append(&delivery("c", "host:Stop:4"), Some("not a URL")).unwrap();
    spool.append(&delivery("local one", "host:Stop:5"), None).unwrap();
    let drainer = drainer(directory.path());
    assert_eq!(drainer.drain(&service).await.unwrap(), drained(1, 2, 2));
    assert_eq!(drainer.drain(&service).await.unwrap(), drained(0, 2, 0));
    assert_eq!((refused.try_iter().count(), failed.try_iter().count()), (1, 1));
    assert_eq!(spool.counters().unwrap().refused, 2);
    assert_eq!(spool.pending().unwrap().deliveries, 2);
}

#[tokio::test]
async fn a_hook_that_knows_only_the_environment_is_served_by_a_program_that_reads_the_file() {
    let hook = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    Spool::of(hook.path()).append(&delivery("agent session started", "host:S:1"), None).unwrap();
    Spool::of(data.path()).append(&delivery("agent session stopped", "host:S:2"), None).unwrap();
    let flag =
        am_runtime::config::Overrides::default().with(am_runtime::config::Key::DataDir, Some(data.path()));
    let environment =
        crate::support::environment(&[("AGENT_MEMORY_DATA_DIR", hook.path().to_str().unwrap())]);
    let config = am_runtime::config::Config::resolve(&flag, &environment, None).unwrap();
    let store = Arc::new(MemoryStore::new(Profile::Default));
    let service = service(&store).await;
    assert_eq!(Arc::new(Drainer::new(&config)).drain(&service).await.unwrap(), drained(2, 0, 0));
}

#[tokio::test]
async fn what_is_forgotten_does_not_come_back_from_the_spool() {
    let directory = tempfile::tempdir().unwrap();
    let config = config_in(directory.path(), &[]);
    let opened = am_runtime::open::open(&config, am_runtime::open::SMALL_PROJECTION_BYTES).await.unwrap();
    let spool = Spool::of(directory.path());
    let project = Project::new("p").unwrap();
    spool.append(&delivery("tool used: Grep", "host:PostToolUse:1"), None).unwrap();
    SpoolInbox::new(&config).take_in(&opened.service).await;
    let session = SessionId::from_stored("s");
    let listed = || opened.service.session_memories(&project, &session, 10);
    let memory_id = listed().await.unwrap()[0].memory_id.clone();
    // Captured before it is forgotten, and for another server, which would be slow to answer.
    spool.append(&delivery("tool used: Grep", "host:PostToolUse:2"), None).unwrap();
    spool.append(&delivery("tool used: Read", "host:PostToolUse:3"), Some("http://192.0.2.1/")).unwrap();
    assert!(opened.service.forget(&Caller::library(), &memory_id).await.unwrap());
    assert_eq!(spool.pending().unwrap().deliveries, 1);
    assert_eq!(listed().await.unwrap(), []);
}
