//! Hostile input at every surface: each kind of text, name, number and byte that broke others is kept whole or refused
//! with a reason, is found again, and means the same on every surface.

mod bytes;
mod door;
mod names;
mod payloads;
mod properties;
mod queries;
mod secrets;
mod texts;
