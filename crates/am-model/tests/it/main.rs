//! Integration tests of am-model.
