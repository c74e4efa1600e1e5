//! Integration tests of am-hook.
