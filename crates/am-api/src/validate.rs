//! Bodies and query strings as values, or as the failure that says what is wrong with them.

use am_wire::Values;
use am_wire::field::Field;
use am_wire::request::{self, Issue, Refused};

use crate::failure::Failure;
use crate::path;

/// Checks a body against its fields. Keys that are no field are mistakes.
pub(crate) fn body(fields: &[Field], document: &[u8]) -> Result<Values, Failure> {
    if document.is_empty() {
        return Err(Failure::InvalidJson("empty body"));
    }
    request::document(fields, document).map_err(|refused| match refused {
        Refused::NotJson => Failure::InvalidJson("body is not valid JSON"),
        Refused::Invalid(issues) => invalid(&issues),
    })
}

/// Checks a query string against its fields: the last of repeated keys counts, other keys are no mistake.
pub(crate) fn query(fields: &[Field], query: &str) -> Result<Values, Failure> {
    request::texts(fields, path::query_pairs(query)).map_err(|issues| invalid(&issues))
}

fn invalid(issues: &[Issue]) -> Failure {
    let issues: Vec<String> =
        issues.iter().map(|issue| format!("{}: {}", issue.place, issue.message)).collect();
    Failure::InvalidRequest(issues.join("; "))
}
