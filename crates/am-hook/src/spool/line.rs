//! One waiting delivery as a line of JSON:
//! `{"v":1,"key":"...","at":MILLISECONDS,"project":"...","body":{...},"target":null}`.

use crate::{
    delivery::{Delivery, quote},
    payload::Object,
};

const VERSION: i64 = 1;

/// A delivery that waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpooledDelivery {
    /// What is to be delivered.
    pub delivery: Delivery,
    /// The URL it is meant for; `None` means the memory of this machine.
    pub target: Option<String>,
}

/// What a line turned out to be.
pub(super) enum Line {
    Delivery(Box<SpooledDelivery>),
    /// Written by a later version: for its drainers to deliver.
    Newer,
    Broken,
}

/// Writes a delivery as a line, with its line feed.
pub(super) fn write(delivery: &Delivery, target: Option<&str>) -> String {
    format!(
        "{{\"v\":{VERSION},\"key\":{},\"at\":{},\"project\":{},\"body\":{},\"target\":{}}}\n",
        quote(&delivery.key),
        delivery.event_time,
        quote(&delivery.project),
        delivery.body(),
        target.map_or_else(|| "null".to_owned(), quote),
    )
}

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Line {
    let Some(object) = std::str::from_utf8(line).ok().and_then(Object::parse) else { return Line::Broken };
    match object.integer("v") {
        Some(VERSION) => {}
        Some(version) if version > VERSION => return Line::Newer,
        _ => return Line::Broken,
    }
    let read = || {
        let key = object.text("key")?;
        let delivery = Delivery::from_body(&object.object("body")?, key, object.integer("at")?)?;
        let target = object.text("target");
        (target.is_some() || !object.has("target")).then(|| Box::new(SpooledDelivery { delivery, target }))
    };
    read().map_or(Line::Broken, Line::Delivery)
}
