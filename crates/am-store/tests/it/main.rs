//! Integration tests of am-store.
