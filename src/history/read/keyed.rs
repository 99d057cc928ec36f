//! The key of an operation that is in its value, as `jepsen.independent` has it.

use super::super::datum::Datum;
use super::super::op_map::key_of;
use super::super::tape::Tape;
use crate::op::{Event, Process};

/// Whether a compare-and-set has its key in one list with what it expects and sets, `[key from to]`: of
/// itself it has two items.
pub fn has_flat_key(head: &Event, value: Datum) -> bool {
    head.f.as_str() == "cas"
        && matches!(head.process, Process::Client(_))
        && value.items().is_some_and(|mut items| {
            items.len() == 3 && items.next().is_some_and(|key| key_of(key).is_some())
        })
}

/// Takes the key out of a value `[key from to]`, and leaves `[from to]`, which is put on the tape.
pub fn take_flat_key<'a>(head: &mut Event, value: Datum<'a>, flat: &'a mut Tape) -> Datum<'a> {
    let Datum::Parsed(list) = value else { return value };
    let key = list.inner();
    head.key = key_of(Datum::Parsed(key));
    flat.clear();
    let pair = flat.open();
    flat.copy(key.next());
    flat.copy(key.next().next());
    flat.close_list(pair, 2);
    Datum::Parsed(flat.root())
}

/// Takes the key out of a value `[key value]`. Other values stay as they are, as Jepsen has it.
pub fn take_key<'a>(head: &mut Event, value: Datum<'a>) -> Datum<'a> {
    let Some(mut items) = value.items().filter(|items| items.len() == 2) else { return value };
    if head.process == Process::Nemesis {
        return value;
    }
    match (items.next().and_then(key_of), items.next()) {
        (Some(key), Some(value)) => {
            head.key = Some(key);
            value
        }
        _ => value,
    }
}
