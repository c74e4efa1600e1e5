//! Configuration as a value, and its wiring to an open service
