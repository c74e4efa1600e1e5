//! Integration tests of am-embed.
