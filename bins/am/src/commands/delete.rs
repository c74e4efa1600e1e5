//! `am delete`: a memory, for a reason that the log keeps.

use am_model::MemoryId;
use clap::Args;
use serde_json::json;

use crate::context::{Context, caller};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{one_line, write_json, write_line};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Memory to delete
    #[arg(value_name = "ID")]
    id: String,
    /// Why, 1 to 1000 characters; it is kept, so it must not quote what goes
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let id = MemoryId::new(&am_model::text::collapse_white_space(&arguments.id))?;
    let memory = context.memory_to_forget().await?;
    let receipt = memory.service.delete(&caller(), &id, &arguments.reason).await?;
    let Some(receipt) = receipt else {
        return Err(Failure::new(Exit::Failed, "no memory has this id"));
    };
    let erasure_pending = context.erase(&memory).await;
    let memory_id = receipt.memory_id.as_str();
    let deleted_at = receipt.deleted_at.to_string();
    if context.output.json {
        write_json(&json!({
            "deleted": true,
            "receipt": { "memoryId": memory_id, "deletedAt": deleted_at },
            "erasurePending": erasure_pending,
        }))?;
    } else {
        write_line(format_args!("deleted {} at {deleted_at}", one_line(memory_id)))?;
    }
    Ok(Exit::Success)
}
