//! The scorecard: figures as a document that changes only when they do.

use std::fmt::Write as _;

use super::measure::Measured;

const HEAD: &str = "\
# Scorecard

How well searches find what they should, written by `am eval`. It names neither a machine nor a time: it changes only when the figures do.

```sh
am eval                      # the built-in corpus, profile default
am eval --profile contract   # the same under the contract's rules
am eval --corpus FOLDER      # queries.json beside sessions.json or observations.jsonl
am eval --scorecard docs/benchmarks/SCORECARD.md [--corpus FOLDER]...
```

R@k is the share of the right documents among the first k, MRR the mean of 1 / the first right place, nDCG@10 rewards right documents the more the
higher they stand. All are means over the questions, 1 is best. No concepts are given with a question.

";

const FOOT: &str = "
## Corpora

- **built-in**: written for this project (`bins/am/corpus/`), saved twice: the second pass must recognise every text.
- Others are folders of public data. Sessions are saved as one memory each; observations as one memory each, of title, subtitle, narrative, facts,
  concepts and files. They are loaded without deduplication and merging, so that every document keeps an id of its own.
- The ceiling is the best R@10 that any ranking could have: some questions have more than ten right answers.
";

/// Writes the figures as Markdown.
pub(crate) fn scorecard(measured: &[Measured]) -> String {
    let mut text = HEAD.to_owned();
    text.push_str(
        "| corpus | documents | questions | ceiling | profile | mode | R@5 | R@10 | MRR | nDCG@10 |\n",
    );
    text.push_str("|---|--:|--:|--:|---|---|--:|--:|--:|--:|\n");
    for measured in measured {
        for (mode, metrics) in &measured.means {
            // Writing to a string can't fail.
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.3} | {} | {} | {:.3} | {:.3} | {:.3} | {:.3} |",
                measured.corpus,
                measured.documents,
                measured.questions,
                measured.ceiling,
                measured.profile.as_str(),
                mode.as_str(),
                metrics.recall_5,
                metrics.recall_10,
                metrics.reciprocal_rank,
                metrics.ndcg_10
            );
        }
    }
    text.push_str("\nAnalysis and embedder of each profile:\n\n");
    let mut identities: Vec<String> = vec![];
    for measured in measured {
        let identity = format!(
            "- `{}`: analysis `{}`, embedder `{}`\n",
            measured.profile.as_str(),
            measured.analysis,
            measured.embedder
        );
        if !identities.contains(&identity) {
            identities.push(identity);
        }
    }
    text.push_str(&identities.concat());
    text.push_str(FOOT);
    text
}
