//! `am stats`: how much the memory holds, or one project of it.

use am_model::Counts;
use am_store::{Scope, Store as _};
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::{bytes, one_line, write_json, write_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) async fn run(context: &Context<'_>) -> Result<Exit> {
    let memory = context.memory().await?;
    if let Scope::Project(project) = context.scope() {
        let Counts { memories, sessions } = memory.service.counts(&project).await?;
        if context.output.json {
            write_json(&json!({ "project": project.as_str(), "memories": memories, "sessions": sessions }))?;
        } else {
            write_line(format_args!("{:<9} {}", "project", one_line(project.as_str())))?;
            write_line(format_args!("{:<9} {sessions}", "sessions"))?;
            write_line(format_args!("{:<9} {memories}", "memories"))?;
        }
        return Ok(Exit::Success);
    }
    let statistics = memory.store.statistics().await?;
    let identity = memory.store.identity().await?;
    let output = context.output;
    if output.json {
        write_json(&json!({
            "projects": statistics.projects,
            "sessions": statistics.sessions,
            "memories": statistics.memories,
            "vectors": statistics.vectors,
            "concepts": statistics.concepts,
            "observations": statistics.observations,
            "observationBytes": statistics.observation_bytes,
            "logEntries": statistics.log_entries,
            "diskBytes": statistics.disk_bytes,
            "store": {
                "uuid": identity.uuid,
                "createdAt": identity.created_at.to_string(),
                "schemaVersion": identity.schema_version,
                "profile": identity.profile.as_str(),
                "analysis": identity.analysis,
                "embedder": identity.embedder,
            },
        }))?;
        return Ok(Exit::Success);
    }
    let captured = format!("{} ({} of text)", statistics.observations, bytes(statistics.observation_bytes));
    let rows = [
        ("projects", statistics.projects.to_string()),
        ("sessions", statistics.sessions.to_string()),
        ("memories", statistics.memories.to_string()),
        ("vectors", statistics.vectors.to_string()),
        ("concepts", statistics.concepts.to_string()),
        ("events", captured),
        ("log rows", statistics.log_entries.to_string()),
        ("on disk", bytes(statistics.disk_bytes)),
        ("profile", identity.profile.as_str().to_owned()),
        ("embedder", identity.embedder),
        ("made", identity.created_at.to_string()),
    ];
    for (name, value) in rows {
        write_line(format_args!("{name:<9} {value}"))?;
    }
    Ok(Exit::Success)
}
