//! About how many bytes of memory an event takes.

use crate::op::{Event, Hop, Value};

/// Of one allocation, beyond what it holds.
const ALLOCATION: usize = 16;

pub(super) fn of(event: &Event) -> usize {
    let value = match &event.value {
        Value::Json(json) => of_json(json),
        Value::Nil | Value::Int(_) | Value::Pair(..) => 0,
    };
    let error = event.error.as_ref().map_or(0, |text| text.len() + ALLOCATION);
    let hops = event.route.as_ref().map_or(0, |route| (route.hops.len() + 1) * size_of::<Hop>());
    size_of::<Event>() + value + error + hops
}

/// Not by calling itself: whoever sent a value chose how deep it is.
fn of_json(json: &serde_json::Value) -> usize {
    let (mut waiting, mut bytes) = (vec![json], 0);
    while let Some(json) = waiting.pop() {
        bytes += size_of::<serde_json::Value>();
        match json {
            serde_json::Value::String(text) => bytes += text.len() + ALLOCATION,
            serde_json::Value::Array(items) => waiting.extend(items),
            serde_json::Value::Object(entries) => {
                bytes += entries.keys().map(|key| key.len() + 3 * ALLOCATION).sum::<usize>();
                waiting.extend(entries.values());
            }
            _ => {}
        }
    }
    bytes
}
