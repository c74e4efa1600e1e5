//! Integration tests of am-service: the verbs as a surface sees them.

mod concurrency;
mod digest;
mod double;
mod evidence;
mod forget;
mod golden;
mod hostile;
mod purge;
mod remember;
mod retry;
mod search;
mod summary;
mod support;
mod transfer;
