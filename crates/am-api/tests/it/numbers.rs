//! Numbers on the wire, as ECMAScript reads and writes them.

use am_api::ApiSettings;

use crate::support::{get, over_memory, post, send};

#[tokio::test]
async fn importance_is_written_as_ecmascript_writes_it() {
    let router = over_memory(ApiSettings::default()).await;
    for (session, given, written) in [
        ("alpha", "1", "1"),
        ("bravo", "1.0", "1"),
        ("charlie", "0.70", "0.7"),
        ("delta", "1e-7", "1e-7"),
        ("echo", "0.00001", "0.00001"),
        ("foxtrot", "-0.0", "0"),
        ("golf", "1e-999", "0"),
    ] {
        let body = format!(r#"{{"content":"{session}","sessionId":"{session}","importance":{given}}}"#);
        assert_eq!(send(&router, post("/memory/remember", body)).await.status, 201, "{given}");
        let listed = send(&router, get(&format!("/memory/sessions/{session}/memories"))).await;
        assert!(listed.text().contains(&format!(r#""importance":{written},"#)), "{given}: {}", listed.text());
    }
}
