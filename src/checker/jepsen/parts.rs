//! What an operation reads and writes of registers: `read` and `write` of one key, or a transaction
//! `[[r key value] [w key value] ...]`.

use super::streaming::Step;
use crate::history::Datum;

/// One access to one register. Without a key it is that of the event.
#[derive(Clone, Copy)]
pub(super) struct Access<'a> {
    pub writes: bool,
    pub key: Option<Datum<'a>>,
    pub value: Datum<'a>,
}

/// All accesses in order; an error says what was expected.
pub(super) fn accesses<'a>(step: &Step<'a>) -> Result<Vec<Access<'a>>, &'static str> {
    let alone = |writes| Ok(vec![Access { writes, key: None, value: step.value }]);
    match step.f {
        "read" => alone(false),
        "write" => alone(true),
        _ => step
            .value
            .items()
            .and_then(|parts| parts.map(access).collect())
            .ok_or("expected [[r key value] [w key value] ...]"),
    }
}

pub(super) fn access(part: Datum) -> Option<Access> {
    let mut items = part.items()?;
    let (f, key, value) = (items.next()?, items.next()?, items.next()?);
    let writes = match f.as_str()?.trim_start_matches(':') {
        "r" | "read" => false,
        "w" | "write" => true,
        _ => return None,
    };
    Some(Access { writes, key: Some(key), value })
}
