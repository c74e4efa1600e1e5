//! Integration tests of am-api.
