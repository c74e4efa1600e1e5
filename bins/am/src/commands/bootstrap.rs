//! `am bootstrap`: the memory is made where it is missing, and answers.

use std::time::{Duration, Instant};

use am_service::Search;
use am_store::Store as _;
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{write_json, write_line};

/// Longest wait until searches answer, and the pause between attempts.
const WAIT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) async fn run(context: &Context<'_>) -> Result<Exit> {
    let memory = context.memory_or_new().await?;
    // Opening has made every index: four unique ones, two of equality, the vectors, the text.
    let output = context.output;
    if !output.json {
        write_line("bootstrapIndexes: OK (8 indexes ensured)")?;
    }
    let started = Instant::now();
    for attempt in 1.. {
        let search = Search { query: "ready".to_owned(), project: context.project(), limit: 1 };
        let found = memory.service.search(search).await;
        let seconds = started.elapsed().as_secs_f64();
        let failed = found.signals.iter().find(|signal| signal.0.starts_with("text: "));
        match failed {
            None => {
                if output.json {
                    let identity = memory.store.identity().await?;
                    write_json(&json!({
                        "ready": true,
                        "attempt": attempt,
                        "profile": identity.profile.as_str(),
                        "embedder": identity.embedder,
                    }))?;
                } else {
                    write_line(format_args!(
                        "READY \u{2014} searchByText responding on attempt {attempt} ({seconds:.1}s)"
                    ))?;
                }
                break;
            }
            Some(signal) if started.elapsed() + PAUSE > WAIT => {
                let message = format!("FAILED \u{2014} searchByText not responding: {signal}");
                return Err(Failure::new(Exit::Failed, message));
            }
            Some(_) => tokio::time::sleep(PAUSE).await,
        }
    }
    Ok(Exit::Success)
}
