//! Tests of the port's own code, and of the double by the suite.
