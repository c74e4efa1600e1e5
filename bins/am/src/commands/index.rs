//! `am index rebuild`: everything that searches rest on is derived anew.

use am_embed::analysis::Profile;
use am_runtime::open;
use am_store::{Audit, Store as _};
use clap::{Args, Subcommand};
use serde_json::json;
use tokio::task::spawn_blocking;

use crate::context::{Context, caller};
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::{counted, write_json};
use crate::progress::Progress;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Derive terms, rounded vectors and concept postings anew
    Rebuild {
        /// Change to this profile
        #[arg(long, value_enum, value_name = "PROFILE")]
        profile: Option<ProfileName>,
    },
}

/// A profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ProfileName {
    /// The contract's rules, frozen
    Contract,
    /// Unicode-aware rules, improved from version to version
    Default,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Contract => Self::Contract,
            ProfileName::Default => Self::Default,
        }
    }
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    let Action::Rebuild { profile } = arguments.action;
    let memory = context.memory().await?;
    let output = context.output;
    let embedder = open::embedder(&context.config);
    let caller = caller();
    let audit = Audit { at: memory.service.now(), actor: caller.actor, channel: caller.channel };
    let store = memory.store.clone();
    let report = spawn_blocking(move || {
        let progress = Progress::new(output, "rebuilding", "memories");
        let mut set = |done, total| progress.set(done, total);
        store.rebuild(profile.map(Profile::from), &*embedder, &audit, &mut set)
    })
    .await??;
    let identity = memory.store.identity().await?;
    let profile = identity.profile.as_str();
    if output.json {
        write_json(
            &json!({ "memories": report.memories, "profile": profile, "analysis": identity.analysis }),
        )?;
    } else {
        let memories = counted(report.memories, "memory", "memories");
        output.note(format_args!("rebuilt what searches rest on for {memories}, profile {profile}"));
    }
    Ok(Exit::Success)
}
