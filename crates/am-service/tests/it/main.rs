//! Integration tests of am-service.
