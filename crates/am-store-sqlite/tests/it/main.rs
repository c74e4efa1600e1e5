//! Integration tests of am-store-sqlite.
