//! BM25: how well a document answers the terms of a query.

/// How fast repeats of a term stop counting.
pub const K1: f64 = 1.2;

/// How much a document's length counts, 0 (not) to 1 (in proportion).
pub const B: f64 = 0.75;

/// Returns the weight of a term that `containing` of `documents` documents hold; more than 0 for every term.
///
/// `ln(1 + (N - n + 0.5) / (n + 0.5))`. A `containing` above `documents` counts as all of them.
pub fn idf(documents: u64, containing: u64) -> f64 {
    let without = documents.saturating_sub(containing) as f64;
    (1.0 + (without + 0.5) / (containing as f64 + 0.5)).ln()
}

/// Returns what one query term adds to a document's score.
///
/// `idf * f * (k1 + 1) / (f + k1 * (1 - b + b * length / average))`, with `frequency` the times the document holds
/// the term and the lengths in terms. An `average_length` of 0 counts every document as average.
pub fn term_score(idf: f64, frequency: f64, length: f64, average_length: f64) -> f64 {
    let relative_length = if average_length > 0.0 { length / average_length } else { 1.0 };
    let denominator = frequency + K1 * (1.0 - B + B * relative_length);
    idf * frequency * (K1 + 1.0) / denominator
}
