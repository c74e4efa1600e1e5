//! The accept loop of am-server, as a library for `am serve`.
