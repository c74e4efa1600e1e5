//! Tests of the port's own code, and of the double by the suite.

mod chain;
mod conformance;
mod differential;
mod double;
