//! Numbers in JSON.

use am_model::number;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A number that is written as ECMAScript writes it: `1`, not `1.0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // What is no number in JSON is null there, as in ECMAScript.
        match RawValue::from_string(number::print(self.0)) {
            Ok(number) => number.serialize(serializer),
            Err(_) => serializer.serialize_none(),
        }
    }
}
