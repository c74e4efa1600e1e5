//! `am backup`: the memory in one file.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use tokio::task::spawn_blocking;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{bytes, counted, warn, write_json};
use crate::progress::Progress;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// File to make; one that exists is left alone
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let Arguments { file } = arguments;
    let memory = context.memory().await?;
    if file.symlink_metadata().is_ok() {
        let message = format!("{} exists already", file.display());
        return Err(Failure::new(Exit::CannotCreate, message).hint("choose another name, or remove it first"));
    }
    let output = context.output;
    let destination = file.clone();
    let faults = spawn_blocking(move || {
        let progress = Progress::new(output, "copying", "pages");
        memory.store.backup(&destination, &mut |done, total| progress.set(done, total))
    })
    .await?
    .map_err(|error| {
        let mut failure = Failure::from(error);
        if failure.exit == Exit::Unavailable {
            failure = Failure { exit: Exit::CannotCreate, hints: vec![], ..failure };
        }
        failure.context(format_args!("can't back up to {}", file.display()))
    })?;
    let size = file.metadata().map_err(|error| Failure::file("read", &file, &error))?.len();
    let name = file.display().to_string();
    if output.json {
        let faults: Vec<_> =
            faults.iter().map(|fault| json!({ "area": fault.area, "detail": fault.detail })).collect();
        write_json(&json!({ "file": name, "bytes": size, "faults": faults }))?;
    } else {
        output.note(format_args!("copied the memory into {name} ({}) and checked the copy", bytes(size)));
    }
    if faults.is_empty() {
        return Ok(Exit::Success);
    }
    let count = counted(faults.len() as u64, "fault", "faults");
    warn(format_args!("the memory has {count}, and so has the copy, which is kept"));
    output.hint("`am verify` lists them; an earlier back-up may be better: keep it");
    Err(Failure::shown(Exit::Failed))
}
