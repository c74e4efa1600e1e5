//! Integration tests of am-service: the verbs as a surface sees them.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::duplicate_mod, reason = "every flow runs on every store")]

mod digest;
mod double;
mod failing;
mod golden;
mod retry;
mod support;

#[path = "flow"]
mod memory {
    const KIND: crate::support::Kind = crate::support::Kind::Memory;

    mod concurrency;
    mod evidence;
    mod forget;
    mod hostile;
    mod purge;
    mod remember;
    mod search;
    mod summary;
    mod transfer;
}

#[path = "flow"]
mod sqlite {
    const KIND: crate::support::Kind = crate::support::Kind::Sqlite;

    mod concurrency;
    mod evidence;
    mod forget;
    mod hostile;
    mod purge;
    mod remember;
    mod search;
    mod summary;
    mod transfer;
}
