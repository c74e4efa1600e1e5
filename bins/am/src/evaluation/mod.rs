//! Evaluation: corpora with questions, and how well searches answer them.

mod corpus;
mod folder;
mod measure;
mod scorecard;

pub(crate) use corpus::{Corpus, built_in};
pub(crate) use folder::read_folder;
pub(crate) use measure::{Measured, Mode, measure_built_in, measure_folder, measure_in};
pub(crate) use scorecard::scorecard;
