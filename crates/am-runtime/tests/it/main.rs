//! Integration tests of am-runtime.
