//! `am` as its users see it: the program itself, on data directories of its own.
