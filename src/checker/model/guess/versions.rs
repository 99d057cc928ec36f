//! Registers whose values come with a version, as jepsen.etcd writes them: a read asks for `[nil nil]`, a
//! write gives `[nil value]` and a compare-and-set `[nil [from to]]`; the first item is the version.

use crate::history::Datum;
use crate::op::{Event, Kind};

/// How many invocations look so, and how many do not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Versions {
    reads: u64,
    swaps: u64,
    others: u64,
}

impl Versions {
    pub fn observe(&mut self, event: &Event, value: Datum) {
        if event.kind != Kind::Invoke {
            return;
        }
        match (event.f.as_str(), unversioned(value)) {
            ("read", Some(rest)) if rest.is_nil() => self.reads += 1,
            ("write", Some(_)) => {}
            ("cas", Some(rest)) if two(rest).is_some() => self.swaps += 1,
            _ => self.others += 1,
        }
    }

    /// Whether all are of such a register.
    pub fn are_all(&self) -> bool {
        self.reads > 0 && self.swaps > 0 && self.others == 0
    }
}

/// What comes with a version that is not known yet, in a value that may have its key before it.
fn unversioned(value: Datum) -> Option<Datum> {
    let [first, second] = two(value)?;
    if first.is_nil() {
        return Some(second);
    }
    let [version, rest] = two(second)?;
    version.is_nil().then_some(rest)
}

fn two(value: Datum) -> Option<[Datum; 2]> {
    let mut items = value.items().filter(|items| items.len() == 2)?;
    Some([items.next()?, items.next()?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::parse_line;

    fn are_all(ops: &[(&str, &str)]) -> bool {
        let mut versions = Versions::default();
        for (f, value) in ops {
            let line = format!(r#"{{"type":"invoke","process":0,"f":"{f}","value":{value}}}"#);
            let event = parse_line(&line, 0).expect(&line);
            versions.observe(&event, Datum::Value(&event.value));
        }
        versions.are_all()
    }

    #[test]
    fn a_register_with_versions_is_told_from_one_of_pairs() {
        let ops = [("read", "[null,null]"), ("write", "[null,1]"), ("cas", "[null,[1,2]]")];
        assert!(are_all(&ops));
        let keyed = [("read", "[7,[null,null]]"), ("cas", "[7,[null,[1,2]]]")];
        assert!(are_all(&keyed));
        for other in
            [("read", "null"), ("write", "[1,2]"), ("cas", "[null,2]"), ("txn", "[null,null]")]
        {
            assert!(!are_all(&[&ops[..], &[other]].concat()), "{other:?}");
        }
        assert!(!are_all(&ops[..2]) && !are_all(&ops[1..]));
    }
}
