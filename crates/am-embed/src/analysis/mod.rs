//! What a text is reduced to for search, for similarity and for concepts, under each profile.

mod contract;
mod script;
mod term;
mod unicode;
mod view;

use std::collections::{BTreeMap, BTreeSet};

use am_model::CONCEPT_MAX;

pub use term::{AnalysedText, TermEntry, TermHash};
pub use view::TermsView;

use crate::stop_words::is_stop_word;
use crate::token;

/// Most concepts that are derived from one text.
const CONCEPTS_DERIVED: usize = 8;

/// Which rules a store's texts are analysed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// The contract's rules, frozen.
    Contract,
    /// Unicode-aware rules, improved from version to version.
    Default,
}

impl Profile {
    /// Returns the name, `contract` or `default`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Contract => "contract",
            Self::Default => "default",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "contract" => Some(Self::Contract),
            "default" => Some(Self::Default),
            _ => None,
        }
    }
}

/// The analysis of one profile.
///
/// `contract`: search terms are the runs of Unicode letters and digits, in lower case; similarity and concepts
/// rest on the frozen tokens ([`token::tokens`]).
///
/// `default`: NFKC and lower case, words by UAX #29 kept whole and in their parts (`user_id`, `user`, `id`),
/// scripts without spaces as characters and pairs of neighbours, emoji as terms. Similarity compares the search terms,
/// so no text that search tells apart is merged for want of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Analysis {
    profile: Profile,
}

impl Analysis {
    /// Makes the analysis of `profile`.
    pub fn new(profile: Profile) -> Self {
        Self { profile }
    }

    /// Returns the identity stored with what was analysed. It changes whenever a term of any text does.
    pub fn id(&self) -> &'static str {
        match self.profile {
            Profile::Contract => "contract-1",
            Profile::Default => "default-1",
        }
    }

    /// Returns whether this is a later version of the same profile's analysis than `stored`, the identity a store
    /// records: then what was derived with that one should be derived anew.
    pub fn supersedes(&self, stored: &str) -> bool {
        let version = |id: &str| -> Option<u32> {
            let (profile, version) = id.rsplit_once('-')?;
            (profile == self.profile.as_str()).then(|| version.parse().ok()).flatten()
        };
        version(stored).zip(version(self.id())).is_some_and(|(stored, ours)| stored < ours)
    }

    /// Returns the profile.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Returns what search finds `text` by, in text order, repeats kept.
    pub fn search_terms(&self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.for_each_search_term(text, |term| terms.push(term.to_owned()));
        terms
    }

    /// Returns the set whose Jaccard index says how alike two texts are.
    pub fn similarity_terms(&self, text: &str) -> BTreeSet<String> {
        match self.profile {
            Profile::Contract => token::tokens(text).into_iter().collect(),
            Profile::Default => self.search_terms(text).into_iter().collect(),
        }
    }

    /// Returns the concepts of a text whose writer gave none: up to 8 words of 3 to 200 UTF-16 units that are no
    /// stop words, by count descending, then in code point order.
    ///
    /// In the default profile a word of Chinese, Japanese or Korean may have 2, ideographs count as pairs of
    /// neighbours, and a word with an apostrophe counts in its parts.
    pub fn concepts(&self, text: &str) -> Vec<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut count = |word: &str| {
            if let Some(count) = counts.get_mut(word) {
                *count += 1;
            } else {
                counts.insert(word.to_owned(), 1);
            }
        };
        match self.profile {
            Profile::Contract => token::of_lowered(&token::lowered(text))
                .filter(|word| (3..=CONCEPT_MAX).contains(&word.len()) && !is_stop_word(word))
                .for_each(&mut count),
            Profile::Default => unicode::for_each_term(text, &mut |term, is_word| {
                if is_word && unicode::is_concept_size(term) && !is_stop_word(term) {
                    count(term);
                }
            }),
        }
        let mut concepts: Vec<(String, usize)> = counts.into_iter().collect();
        concepts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        concepts.into_iter().take(CONCEPTS_DERIVED).map(|(word, _)| word).collect()
    }

    /// Reduces `text` to the hashes that are stored, indexed and compared.
    pub fn analyse(&self, text: &str) -> AnalysedText {
        let mut terms = term::Collector::default();
        match self.profile {
            Profile::Contract => {
                let lowered = token::lowered(text);
                contract::search_terms(&lowered).for_each(|term| terms.add_searched(term));
                token::of_lowered(&lowered).for_each(|term| terms.add_similar(term));
            }
            Profile::Default => {
                unicode::for_each_term(text, &mut |term, _| terms.add_searched_and_similar(term));
            }
        }
        terms.finish()
    }

    /// Returns the distinct terms to search for, in first-seen order.
    pub fn query(&self, text: &str) -> Vec<TermHash> {
        // Sorted rather than kept in a hash set, whose collisions a text could be made of.
        let mut terms: Vec<(TermHash, usize)> = Vec::new();
        self.for_each_search_term(text, |term| terms.push((TermHash::of(term), terms.len())));
        terms.sort_unstable();
        terms.dedup_by_key(|(term, _)| *term);
        terms.sort_unstable_by_key(|(_, order)| *order);
        terms.into_iter().map(|(term, _)| term).collect()
    }

    fn for_each_search_term(self, text: &str, mut emit: impl FnMut(&str)) {
        match self.profile {
            Profile::Contract => contract::search_terms(&token::lowered(text)).for_each(emit),
            Profile::Default => unicode::for_each_term(text, &mut |term, _| emit(term)),
        }
    }
}
