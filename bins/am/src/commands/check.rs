//! `am check`: a running server from outside, as its users see it. Identity first, then every route and every skill in
//! a project of its own, which is emptied again.

use std::time::Duration;

use am_hook::url::BaseUrl;
use am_model::MemoryId;
use am_runtime::client::{Client, ClientError, Identity, Reply};
use clap::Args;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{write_json, write_line};

/// Longest wait for one answer.
const WAIT: Duration = Duration::from_secs(10);
/// Project and session of the check: always the same, so that checks leave at most one empty session behind.
const SCRATCH: &str = "agent-memory-check";

/// A skill, its text, and the routes it works through.
struct Skill {
    name: &'static str,
    text: &'static str,
}

macro_rules! skills {
    ($($name:literal),+) => {
        [$(Skill { name: $name, text: include_str!(concat!("../../../../skills/", $name, "/SKILL.md")) }),+]
    };
}

/// The skills that come with this version.
const SKILLS: [Skill; 8] = skills!(
    "recall",
    "remember",
    "recap",
    "handoff",
    "forget",
    "lesson",
    "commit-context",
    "session-history"
);

/// The routes, as skills name them.
const ROUTES: [&str; 12] = [
    "/memory/livez",
    "/memory/health",
    "/memory/remember",
    "/memory/lesson",
    "/memory/search",
    "/memory/smart-search",
    "/memory/sessions",
    "/memory/sessions/:sessionId/memories",
    "/memory/recap",
    "/memory/handoff",
    "/memory/forget",
    "/memory/delete",
];

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Address of the server [default: AGENT_MEMORY_URL, else the server of this machine]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

/// What was found out about a route.
#[derive(Clone, Debug)]
struct Checked {
    route: &'static str,
    /// What is wrong; `None`: nothing.
    wrong: Option<String>,
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let client = client(context, arguments.url.as_deref()).await?;
    let (target, identity) = {
        let client = client.clone();
        spawn_blocking(move || (client.to_string(), client.identify())).await?
    };
    let version = match identity? {
        Identity::Ours { version } => version,
        Identity::Foreign => {
            let message = format!("{target} is not an agent-memory server");
            return Err(Failure::new(Exit::Failed, message)
                .hint("another product may own this port: leave it running, and start ours elsewhere")
                .hint(
                    "`am serve --port 3151`, then AGENT_MEMORY_URL=http://127.0.0.1:3151 for its clients",
                ));
        }
    };
    let has_secret = context.config.secret.value.is_some();
    let (checked, refused) = spawn_blocking(move || Check::new(client, has_secret).run()).await?;
    // Without the secret nothing is known of what skills do.
    let skills: &[Skill] = if refused { &[] } else { &SKILLS };
    let skills: Vec<(&str, Option<String>)> =
        skills.iter().map(|skill| (skill.name, wrong_with(skill, &checked))).collect();
    show(context, &target, &version, &checked, &skills)?;
    let ok = checked.iter().all(|checked| checked.wrong.is_none())
        && skills.iter().all(|(_, wrong)| wrong.is_none());
    if ok { Ok(Exit::Success) } else { Err(Failure::shown(Exit::Failed)) }
}

async fn client(context: &Context<'_>, url: Option<&str>) -> Result<Client> {
    let Some(text) = url else {
        let config = context.config.clone();
        return spawn_blocking(move || Client::find(&config, WAIT)).await?.map_err(|error| {
            Failure::from(error).hint("`am serve` starts a server; `am check --url URL` looks elsewhere")
        });
    };
    let base = BaseUrl::parse(text).ok_or_else(|| {
        Failure::usage(format!("--url: {text:?} is not an http or https URL without user name and password"))
    })?;
    Ok(Client::to_url(base, context.config.secret.value.clone(), WAIT))
}

fn show(
    context: &Context<'_>,
    target: &str,
    version: &str,
    checked: &[Checked],
    skills: &[(&str, Option<String>)],
) -> Result<()> {
    let output = context.output;
    if output.json {
        let entry = |key: &str, name: &str, wrong: &Option<String>| json!({ key: name, "ok": wrong.is_none(), "detail": wrong });
        let routes: Vec<Value> =
            checked.iter().map(|checked| entry("route", checked.route, &checked.wrong)).collect();
        let skills: Vec<Value> = skills.iter().map(|(name, wrong)| entry("skill", name, wrong)).collect();
        return write_json(&json!({ "url": target, "version": version, "routes": routes, "skills": skills }));
    }
    write_line(format_args!("{target} is agent-memory {version}"))?;
    let routes = checked.iter().map(|checked| ("route", checked.route, &checked.wrong));
    let skills = skills.iter().map(|(name, wrong)| ("skill", *name, wrong));
    for (kind, name, wrong) in routes.chain(skills) {
        match wrong {
            None => write_line(format_args!("ok    {kind} {name}"))?,
            Some(wrong) => write_line(format_args!("FAIL  {kind} {name}: {wrong}"))?,
        }
    }
    Ok(())
}

/// Says what is wrong with a skill: a route it names that there is none of, or that failed.
fn wrong_with(skill: &Skill, checked: &[Checked]) -> Option<String> {
    let named = routes_in(skill.text);
    if named.is_empty() {
        return Some("it names no route".to_owned());
    }
    named.iter().find_map(|named| {
        let Some(route) = ROUTES.iter().find(|route| **route == named) else {
            return Some(format!("{named} is no route"));
        };
        let of_route = checked.iter().find(|checked| checked.route == *route)?;
        of_route.wrong.as_ref().map(|wrong| format!("{named}: {wrong}"))
    })
}

/// Finds the routes that a text names, each once. A session id in a path counts as `:sessionId`.
fn routes_in(text: &str) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    for (start, _) in text.match_indices("/memory/") {
        let rest = text.get(start..).unwrap_or_default();
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | ':' | '_' | '$')));
        let path = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default().trim_end_matches(['/', ':']);
        let segments: Vec<&str> = path.split('/').collect();
        let route = match segments.as_slice() {
            ["", "memory", "sessions", _, "memories"] => "/memory/sessions/:sessionId/memories".to_owned(),
            _ => path.to_owned(),
        };
        if !found.contains(&route) {
            found.push(route);
        }
    }
    found
}

/// A walk over the routes.
struct Check {
    client: Client,
    /// A word that no other memory has.
    word: String,
    checked: Vec<Checked>,
    /// Memories that are to be removed at the end.
    left: Vec<String>,
    has_secret: bool,
    /// Whether the server refused us: it would refuse every further request as well.
    refused: bool,
}

type Step = std::result::Result<(), String>;

impl Check {
    fn new(client: Client, has_secret: bool) -> Self {
        let word = MemoryId::random().into_string().replace('-', "");
        Self { client, word, checked: vec![], left: vec![], has_secret, refused: false }
    }

    /// Returns what was found, and whether the server refused us.
    fn run(mut self) -> (Vec<Checked>, bool) {
        self.step("/memory/livez", Self::livez);
        self.step("/memory/remember", Self::remember);
        self.step("/memory/health", Self::health);
        self.step("/memory/lesson", Self::lesson);
        self.step("/memory/search", |check| check.finds("search"));
        self.step("/memory/smart-search", |check| check.finds("smart-search"));
        self.step("/memory/sessions", Self::sessions);
        self.step("/memory/sessions/:sessionId/memories", Self::session_memories);
        self.step("/memory/recap", |check| check.digest("recap"));
        self.step("/memory/handoff", |check| check.digest("handoff"));
        self.step("/memory/forget", Self::forget);
        self.step("/memory/delete", Self::delete);
        for id in std::mem::take(&mut self.left) {
            // Only what a failed step has left: there is nothing more to do about it.
            drop(self.post("forget", json!({ "memoryId": id })));
        }
        (self.checked, self.refused)
    }

    fn step(&mut self, route: &'static str, check: impl FnOnce(&mut Self) -> Step) {
        if self.refused {
            return;
        }
        let wrong = check(self).err();
        self.checked.push(Checked { route, wrong });
    }

    fn livez(&mut self) -> Step {
        let (status, body) = self.get("livez")?;
        expect(status == 200 && body == json!({ "status": "ok" }), status, &body)
    }

    fn text(&self, about: &str) -> String {
        format!("agent-memory check {}: {about}", self.word)
    }

    fn remember(&mut self) -> Step {
        let content = self.text("a quartz heron files its quarterly report");
        let request =
            json!({ "content": content, "project": SCRATCH, "sessionId": SCRATCH, "origin": "check" });
        let (status, body) = self.post("remember", request.clone())?;
        let id = self.saved(status, &body)?;
        let (status, body) = self.post("remember", request)?;
        let repeated =
            body.get("id") == Some(&Value::from(id)) && body.get("deduped") == Some(&Value::Bool(true));
        expect(status == 201 && repeated, status, &body)
    }

    fn lesson(&mut self) -> Step {
        let content = self.text("never feed marble geese after the tide has turned");
        let request = json!({ "content": content, "project": SCRATCH, "sessionId": SCRATCH });
        let (status, body) = self.post("lesson", request)?;
        self.saved(status, &body).map(drop)
    }

    fn saved(&mut self, status: u16, body: &Value) -> std::result::Result<String, String> {
        let id = body.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()).map(str::to_owned);
        self.left.extend(id.clone());
        expect(status == 201 && body.get("deduped") == Some(&Value::Bool(false)), status, body)?;
        id.ok_or_else(|| "it gave no id".to_owned())
    }

    fn health(&mut self) -> Step {
        let (status, body) = self.get(&format!("health?project={SCRATCH}"))?;
        let memories = body.pointer("/counts/memories").and_then(Value::as_u64);
        expect(status == 200 && memories.is_some_and(|memories| memories > 0), status, &body)
    }

    fn finds(&mut self, route: &str) -> Step {
        // Operators of other products: here they are only text.
        let query = format!("heron \"{}\" NEAR(-quartz* OR", self.word);
        let (status, body) = self.post(route, json!({ "query": query, "project": SCRATCH, "limit": 5 }))?;
        expect(
            status == 200 && self.left.first().is_some_and(|id| names(&body, "results", id)),
            status,
            &body,
        )
    }

    fn sessions(&mut self) -> Step {
        let (status, body) = self.get(&format!("sessions?project={SCRATCH}"))?;
        let listed =
            elements(&body, "sessions").any(|session| session.get("sessionId") == Some(&SCRATCH.into()));
        expect(status == 200 && listed, status, &body)
    }

    fn session_memories(&mut self) -> Step {
        let (status, body) = self.get(&format!("sessions/{SCRATCH}/memories?project={SCRATCH}&limit=100"))?;
        expect(
            status == 200 && self.left.first().is_some_and(|id| names(&body, "memories", id)),
            status,
            &body,
        )
    }

    fn digest(&mut self, route: &str) -> Step {
        let (status, body) =
            self.post(route, json!({ "project": SCRATCH, "sessionId": SCRATCH, "limit": 100 }))?;
        let text = body.get(route).and_then(Value::as_str).unwrap_or_default();
        expect(status == 200 && text.contains(&self.word), status, &body)
    }

    fn forget(&mut self) -> Step {
        let id = self.left.first().cloned().ok_or("there was nothing to forget")?;
        let request = json!({ "memoryId": id });
        let (status, body) = self.post("forget", request.clone())?;
        expect(status == 200 && body == json!({ "forgotten": true }), status, &body)?;
        self.left.remove(0);
        let (status, body) = self.post("forget", request)?;
        expect(status == 404, status, &body)
    }

    fn delete(&mut self) -> Step {
        let id = self.left.first().cloned().ok_or("there was nothing to delete")?;
        let (status, body) =
            self.post("delete", json!({ "memoryId": id, "reason": "am check has seen enough" }))?;
        let receipt = body.pointer("/receipt/memoryId").and_then(Value::as_str);
        expect(status == 200 && receipt == Some(&id), status, &body)?;
        self.left.remove(0);
        let (_, body) = self.post("search", json!({ "query": self.word, "project": SCRATCH }))?;
        expect(!names(&body, "results", &id), 200, &body)
    }

    fn get(&mut self, route: &str) -> std::result::Result<(u16, Value), String> {
        let reply = self.client.get(&format!("memory/{route}"));
        self.answer(reply)
    }

    fn post(&mut self, route: &str, body: Value) -> std::result::Result<(u16, Value), String> {
        let reply = self.client.post(&format!("memory/{route}"), &body.to_string(), &[]);
        self.answer(reply)
    }

    fn answer(
        &mut self,
        reply: std::result::Result<Reply, ClientError>,
    ) -> std::result::Result<(u16, Value), String> {
        let reply = reply.map_err(|error| error.to_string())?;
        if reply.status == 401 {
            self.refused = true;
            let why = if self.has_secret { "it refuses the secret that is set" } else { "it wants a secret" };
            return Err(format!("401: {why} (AGENT_MEMORY_SECRET); nothing further is checked"));
        }
        let body = reply.json().ok_or_else(|| format!("{}: the body is not JSON", reply.status))?;
        Ok((reply.status, body))
    }
}

fn expect(holds: bool, status: u16, body: &Value) -> Step {
    if holds {
        return Ok(());
    }
    let body = am_model::text::cut_with_dots(&crate::output::one_line(&body.to_string()), 200);
    Err(format!("not as promised: {status} {body}"))
}

fn elements<'a>(body: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    body.get(list).and_then(Value::as_array).into_iter().flatten()
}

/// Returns whether a list of a reply has a memory.
fn names(body: &Value, list: &str, id: &str) -> bool {
    elements(body, list).any(|row| row.get("memoryId").and_then(Value::as_str) == Some(id))
}

#[cfg(test)]
mod tests {
    use super::{ROUTES, SKILLS, routes_in};

    #[test]
    fn skills_name_routes_that_exist() {
        for skill in &SKILLS {
            let named = routes_in(skill.text);
            assert!(!named.is_empty(), "{}", skill.name);
            for route in named {
                assert!(ROUTES.contains(&route.as_str()), "{}: {route}", skill.name);
            }
        }
    }
}
