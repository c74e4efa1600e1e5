//! The same few verbs on every surface, for tests that don't care which one they use.

use serde_json::{Value, json};

use super::{Home, Mcp, Server};

/// Project of these tests.
pub(crate) const PROJECT: &str = "end to end";

/// What became of a save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Saved {
    pub(crate) id: String,
    pub(crate) deduped: bool,
    pub(crate) consolidated: bool,
}

/// A memory that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) content: String,
}

/// A way to the memory. `None`: the program is gone. An answer that is a failure panics.
pub(crate) trait Surface: Send {
    fn save(&mut self, content: &str, session: &str) -> Option<Saved>;
    fn forget(&mut self, id: &str) -> Option<()>;
    fn search(&mut self, query: &str) -> Option<Vec<Row>>;
}

fn saved(reply: &Value) -> Saved {
    let id = reply["id"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned();
    Saved { id, deduped: reply["deduped"] == true, consolidated: reply["consolidated"] == true }
}

fn rows(reply: &Value) -> Vec<Row> {
    assert_eq!(reply["signals"], json!([]), "a partial answer: {reply}");
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned();
    let rows = reply["results"].as_array().unwrap_or_else(|| panic!("{reply}"));
    rows.iter().map(|row| Row { id: text(row, "memoryId"), content: text(row, "content") }).collect()
}

/// am-server over TCP.
pub(crate) struct Rest {
    pub(crate) port: u16,
}

impl Rest {
    fn post(&self, path: &str, body: &Value) -> Option<Value> {
        let reply = Server::try_ask(self.port, "POST", path, &body.to_string()).ok()?;
        assert!((200..300).contains(&reply.status), "{path} {body}: {reply:?}");
        Some(reply.json())
    }
}

impl Surface for Rest {
    fn save(&mut self, content: &str, session: &str) -> Option<Saved> {
        let body = json!({"content": content, "project": PROJECT, "sessionId": session});
        Some(saved(&self.post("/memory/remember", &body)?))
    }

    fn forget(&mut self, id: &str) -> Option<()> {
        self.post("/memory/forget", &json!({"memoryId": id})).map(drop)
    }

    fn search(&mut self, query: &str) -> Option<Vec<Row>> {
        Some(rows(&self.post("/memory/smart-search", &json!({"query": query, "project": PROJECT}))?))
    }
}

impl Mcp {
    fn succeed(&mut self, tool: &str, arguments: &Value) -> Option<Value> {
        let (failed, reply) = self.try_call(tool, arguments)?;
        assert!(!failed, "{tool} {arguments}: {reply} {}", self.process.errors());
        Some(reply)
    }
}

impl Surface for Mcp {
    fn save(&mut self, content: &str, session: &str) -> Option<Saved> {
        let arguments = json!({"content": content, "project": PROJECT, "sessionId": session});
        Some(saved(&self.succeed("memory_save", &arguments)?))
    }

    fn forget(&mut self, id: &str) -> Option<()> {
        self.succeed("memory_forget", &json!({"memoryId": id})).map(drop)
    }

    fn search(&mut self, query: &str) -> Option<Vec<Row>> {
        Some(rows(&self.succeed("memory_smart_search", &json!({"query": query, "project": PROJECT}))?))
    }
}

impl Surface for &mut Mcp {
    fn save(&mut self, content: &str, session: &str) -> Option<Saved> {
        (**self).save(content, session)
    }

    fn forget(&mut self, id: &str) -> Option<()> {
        (**self).forget(id)
    }

    fn search(&mut self, query: &str) -> Option<Vec<Row>> {
        (**self).search(query)
    }
}

/// `am`, a process for each command.
pub(crate) struct Cli<'a>(pub(crate) &'a Home);

impl Surface for Cli<'_> {
    fn save(&mut self, content: &str, session: &str) -> Option<Saved> {
        let ran = self.0.am(&["remember", "--json", "--project", PROJECT, "--session", session, content]);
        assert_eq!(ran.stderr, "");
        Some(saved(&ran.json()))
    }

    fn forget(&mut self, id: &str) -> Option<()> {
        // Whether bytes are left while others read is a matter of `am verify`.
        let reply = self.0.am(&["forget", "--json", id]).json();
        assert_eq!(reply["forgotten"], true, "{reply}");
        Some(())
    }

    fn search(&mut self, query: &str) -> Option<Vec<Row>> {
        let ran = self.0.am(&["search", "--json", "--project", PROJECT, query]);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        let reply: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
        assert_eq!(ran.code == Some(1), reply["results"] == json!([]), "{ran:?}");
        Some(rows(&reply))
    }
}
