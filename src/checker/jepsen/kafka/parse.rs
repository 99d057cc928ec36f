//! The micro-operations of a send, poll or transaction.

use crate::history::Datum;

/// One message told of.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub polled: bool,
    pub key: Datum<'a>,
    pub message: Datum<'a>,
    pub offset: Option<i64>,
}

#[derive(Default)]
pub(super) struct Parts<'a> {
    pub all: Vec<Part<'a>>,
}

/// All messages of an operation in order; an error says what was expected.
pub(super) fn parts<'a>(value: Datum<'a>) -> Result<Parts<'a>, &'static str> {
    let mut parts = Parts::default();
    if value.is_nil() {
        return Ok(parts);
    }
    let items = value.items().ok_or("[[send key message] ... [poll] ...]")?;
    for item in items {
        parts
            .take(item)
            .ok_or("[send key message], [send key [offset message]] or [poll {...}]")?;
    }
    Ok(parts)
}

impl<'a> Parts<'a> {
    fn take(&mut self, item: Datum<'a>) -> Option<()> {
        let mut items = item.items()?;
        match items.next()?.as_str()?.trim_start_matches(':') {
            "send" => {
                let (key, sent) = (items.next()?, items.next()?);
                let (offset, message) = pair(sent).unwrap_or((None, sent));
                self.all.push(Part { polled: false, key, message, offset });
            }
            "poll" => self.polled(items.next())?,
            _ => return None,
        }
        Some(())
    }

    fn polled(&mut self, map: Option<Datum<'a>>) -> Option<()> {
        let Some(map) = map.filter(|map| !map.is_nil()) else { return Some(()) };
        // A map without keys may have been written as an empty list.
        if map.items().is_some_and(|items| items.is_empty()) {
            return Some(());
        }
        for (key, polled) in map.entries()? {
            for message in polled.items()? {
                let (offset, message) = pair(message)?;
                self.all.push(Part { polled: true, key, message, offset });
            }
        }
        Some(())
    }
}

/// `[offset message]`; an offset may be nil.
fn pair(datum: Datum) -> Option<(Option<i64>, Datum)> {
    let mut items = datum.items().filter(|items| items.len() == 2)?;
    let (offset, message) = (items.next()?, items.next()?);
    match offset.as_i64() {
        Some(offset) => Some((Some(offset), message)),
        None => offset.is_nil().then_some((None, message)),
    }
}
