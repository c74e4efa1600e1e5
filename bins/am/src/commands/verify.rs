//! `am verify`: integrity, log chains, projections; and the erasure is completed.

use am_store::Store as _;
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{counted, write_json, write_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) async fn run(context: &Context<'_>) -> Result<Exit> {
    let memory = context.existing().await?;
    let report = memory.store.verify().await?;
    let output = context.output;
    if output.json {
        let faults: Vec<_> =
            report.faults.iter().map(|fault| json!({ "area": fault.area, "detail": fault.detail })).collect();
        write_json(&json!({
            "ok": report.faults.is_empty(),
            "logEntries": report.log_entries,
            "chains": report.chains,
            "memories": report.memories,
            "erasurePending": report.erasure_pending,
            "faults": faults,
        }))?;
    } else {
        let rows = counted(report.log_entries, "row", "rows");
        let chains = counted(report.chains, "chain", "chains");
        write_line(format_args!("log       {rows} in {chains}"))?;
        let memories = counted(report.memories, "memory", "memories");
        write_line(format_args!("memories  {memories} compared with everything derived from them"))?;
        let erasure = if report.erasure_pending { "pending" } else { "complete" };
        write_line(format_args!("erasure   {erasure}"))?;
        for fault in &report.faults {
            write_line(format_args!("fault     {}: {}", fault.area, fault.detail))?;
        }
        let verdict = if report.faults.is_empty() { "everything holds" } else { "something is wrong" };
        write_line(format_args!("verdict   {verdict}"))?;
    }
    if report.erasure_pending {
        output.hint("another program reads the memory; run `am verify` again when it has stopped");
    }
    if !report.faults.is_empty() {
        output
            .hint("`am index rebuild` mends projections; `am restore FILE --replace` brings a back-up back");
        return Err(Failure::shown(Exit::Failed));
    }
    output.note("a log that was cut together with its count can't be told from a shorter one");
    Ok(Exit::Success)
}
