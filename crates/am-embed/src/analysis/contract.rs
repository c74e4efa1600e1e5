//! Search terms of the contract profile: what the reference engine was observed to do with every script.

/// Returns the runs of Unicode letters and digits of a text that is in lower case.
///
/// `_`, `-`, `.` and `'` separate, single letters stay, a run of ideographs is one term, accents stay.
pub(super) fn search_terms(lowered: &str) -> impl Iterator<Item = &str> {
    lowered.split(|c: char| !c.is_alphanumeric()).filter(|term| !term.is_empty())
}
