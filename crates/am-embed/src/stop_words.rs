//! The English words that never become concepts.

/// Every stop word, in lower case, sorted.
const STOP_WORDS: [&str; 123] = [
    "about", "above", "across", "after", "against", "all", "also", "am", "and", "any", "are", "as", "at",
    "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "could",
    "did", "do", "does", "during", "each", "few", "for", "from", "get", "got", "had", "has", "have", "he",
    "her", "here", "hers", "him", "his", "how", "if", "in", "into", "is", "it", "its", "just", "may", "me",
    "might", "mine", "more", "most", "must", "my", "nor", "not", "now", "of", "off", "on", "one", "only",
    "onto", "other", "our", "ours", "out", "over", "own", "per", "same", "shall", "she", "should", "so",
    "some", "such", "than", "that", "the", "their", "theirs", "them", "then", "there", "these", "they",
    "this", "those", "through", "to", "too", "two", "under", "unless", "up", "us", "very", "was", "we",
    "were", "what", "when", "where", "which", "while", "who", "whom", "why", "will", "with", "within",
    "without", "would", "you", "your", "yours",
];

/// Returns whether `word`, in lower case, is one of the 123 stop words.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}
