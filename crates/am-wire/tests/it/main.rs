//! Integration tests of am-wire.
