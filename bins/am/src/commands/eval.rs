//! `am eval`: how well searches find what they should.

use std::path::PathBuf;

use am_embed::analysis::Profile;
use am_runtime::open;
use clap::Args;
use serde_json::{Value, json};

use super::index::ProfileName;
use crate::context::Context;
use crate::evaluation::{
    self, Corpus, Measured, Mode, built_in, measure_built_in, measure_folder, measure_in, read_folder,
};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::{Output, write_json, write_line};
use crate::progress::Progress;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folder with another corpus, once for each [default: the built-in one]
    #[arg(long = "corpus", value_name = "DIR", conflicts_with = "in_place")]
    corpora: Vec<PathBuf>,
    /// Profile of the throw-away memory [default: as configured]
    #[arg(long, value_enum, value_name = "PROFILE", conflicts_with = "in_place")]
    profile: Option<ProfileName>,
    /// Use project `agent-memory-eval` of this memory instead of a throw-away one
    #[arg(long)]
    in_place: bool,
    /// Write a document with the figures of both profiles and all corpora, the built-in one too
    #[arg(long, value_name = "FILE", conflicts_with_all = ["in_place", "profile"])]
    scorecard: Option<PathBuf>,
}

pub(crate) async fn run(context: &Context<'_>, arguments: Arguments) -> Result<Exit> {
    // The contract's variable; `rest` is its only value.
    let mode = (context.environment)("EVAL_MODE").filter(|mode| !mode.is_empty() && mode != "rest");
    if let Some(mode) = mode {
        return Err(Failure::new(
            Exit::Failed,
            format!("EVAL_MODE: {:?} is not usable; allowed: rest", mode.to_string_lossy()),
        ));
    }
    let Arguments { corpora, profile, in_place, scorecard } = arguments;
    let built_in = built_in()?;
    let folders = corpora.iter().map(|folder| read_folder(folder)).collect::<Result<Vec<Corpus>>>()?;
    let measured = if in_place {
        let memory = context.memory_or_new().await?;
        vec![measure_in(&built_in, &memory.service).await?]
    } else {
        let configured = profile.map_or(context.config.profile.value, Profile::from);
        let profiles =
            if scorecard.is_some() { vec![Profile::Contract, Profile::Default] } else { vec![configured] };
        let with_built_in = folders.is_empty() || scorecard.is_some();
        measure(context, with_built_in.then_some(&built_in), &folders, &profiles).await?
    };
    if let Some(file) = &scorecard {
        std::fs::write(file, evaluation::scorecard(&measured))
            .map_err(|error| Failure { exit: Exit::CannotCreate, ..Failure::file("write", file, &error) })?;
        context.output.note(format_args!("wrote {}", file.display()));
    }
    show(context.output, &measured, context.verbose)?;
    for measured in &measured {
        for (mode, metrics) in &measured.means {
            if metrics.recall_5 == 0.0 {
                let (corpus, mode) = (&measured.corpus, mode.as_str());
                return Err(Failure::new(Exit::Failed, format!("corpus {corpus}: {mode} found nothing")));
            }
        }
    }
    Ok(Exit::Success)
}

async fn measure(
    context: &Context<'_>,
    built_in: Option<&Corpus>,
    folders: &[Corpus],
    profiles: &[Profile],
) -> Result<Vec<Measured>> {
    let embedder = open::embedder(&context.config);
    let mut all = vec![];
    for profile in profiles {
        if let Some(corpus) = built_in {
            all.push(measure_built_in(corpus, *profile, embedder.clone()).await?);
        }
    }
    for corpus in folders {
        for profile in profiles {
            let progress = Progress::new(context.output, "loading", "documents");
            all.push(measure_folder(corpus, *profile, embedder.clone(), &progress).await?);
        }
    }
    Ok(all)
}

fn show(output: Output, measured: &[Measured], every_question: bool) -> Result<()> {
    if output.json {
        let corpora: Vec<Value> = measured.iter().map(as_json).collect();
        return write_json(&json!({ "corpora": corpora }));
    }
    for (position, measured) in measured.iter().enumerate() {
        if position > 0 {
            write_line("")?;
        }
        let Measured { corpus, documents, questions, embedder, .. } = measured;
        let profile = measured.profile.as_str();
        write_line(format_args!(
            "{corpus}: {documents} documents, {questions} questions, profile {profile}, embedder {embedder}"
        ))?;
        write_line(output.strong("mode            R@5   R@10    MRR  nDCG@10"))?;
        for (mode, metrics) in &measured.means {
            write_line(format_args!(
                "{:<12} {:>6.3} {:>6.3} {:>6.3}   {:>6.3}",
                mode.as_str(),
                metrics.recall_5,
                metrics.recall_10,
                metrics.reciprocal_rank,
                metrics.ndcg_10
            ))?;
        }
        if measured.ceiling < 1.0 {
            output.note(format_args!("no ranking can have a better R@10 here than {:.3}", measured.ceiling));
        }
        if every_question {
            for (mode, question, rank) in &measured.misses {
                let place = rank.map_or_else(|| "nowhere".to_owned(), |rank| format!("in place {rank}"));
                output.note(format_args!("{}: {question}: the first right answer is {place}", mode.as_str()));
            }
        }
    }
    Ok(())
}

fn as_json(measured: &Measured) -> Value {
    let modes: Vec<Value> = measured
        .means
        .iter()
        .map(|(mode, metrics): &(Mode, _)| {
            json!({
                "mode": mode.as_str(),
                "recall5": metrics.recall_5,
                "recall10": metrics.recall_10,
                "mrr10": metrics.reciprocal_rank,
                "ndcg10": metrics.ndcg_10,
            })
        })
        .collect();
    json!({
        "corpus": measured.corpus,
        "documents": measured.documents,
        "questions": measured.questions,
        "profile": measured.profile.as_str(),
        "analysis": measured.analysis,
        "embedder": measured.embedder,
        "ceiling": measured.ceiling,
        "modes": modes,
    })
}
