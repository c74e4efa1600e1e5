//! Integration tests of am-fusion.
