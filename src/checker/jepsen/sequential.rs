//! One process inserts the subkeys of a key in order; others read them from the last to the first,
//! each on its own. Who sees a later one must then see all earlier ones. As the `sequential` of
//! Jepsen's CockroachDB, TiDB and Dgraph tests.
//!
//! A read is `[key [last ... first]]`, nil where a subkey was not there.

use super::streaming::{Step, Workload};
use super::tally::{Tally, Told, at};
use crate::history::Datum;
use crate::op::Kind;

#[derive(Clone, Default)]
pub(super) struct Sequential;

/// The key and what was read of its subkeys; a history that names keys by themselves has these alone.
fn parts<'a>(step: &Step<'a>) -> Option<(String, Vec<Datum<'a>>)> {
    if let Some(key) = &step.event.key {
        return Some((key.to_string(), step.value.items()?.collect()));
    }
    let mut tuple = step.value.items()?;
    let (key, subkeys) = (tuple.next()?, tuple.next()?);
    Some((key.to_text().into_owned(), subkeys.items()?.collect()))
}

impl Workload for Sequential {
    const NAME: &'static str = "sequential";
    const OPS: &'static [&'static str] = &["add", "read"];
    const PAIRED: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        if !step.is(Kind::Ok, "read") {
            return;
        }
        let Some((key, subkeys)) = parts(step) else {
            let (index, found) = (step.event.index, step.value.to_text());
            tally.broken(|| {
                format!("event {index}: a read of {found:.40}, expected [key [last ... first]]")
            });
            return;
        };
        let seen = subkeys.iter().filter(|subkey| !subkey.is_nil()).count();
        let figure = match (seen, subkeys.len() - seen) {
            (0, _) => "none-reads",
            (_, 0) => "all-reads",
            _ => "some-reads",
        };
        tally.count(figure, 1);
        let unseen = subkeys.iter().take_while(|subkey| subkey.is_nil()).count();
        let rest = &subkeys[unseen..];
        if rest.iter().any(|subkey| subkey.is_nil()) {
            tally.report("nonsequential", || told(step, &key, rest));
        }
    }

    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        0
    }
}

/// A read that has the first of these and lacks another.
fn told(step: &Step, key: &str, subkeys: &[Datum]) -> Told {
    let read = step.now();
    let later = subkeys.first().map_or("nil".into(), |subkey| subkey.to_text());
    let missing = subkeys.iter().position(|subkey| subkey.is_nil()).unwrap_or(0);
    Told {
        summary: format!(
            "process {} read at {} that {later:.40} of key {key:.40} was there, and then that the \
             subkey {missing} before it was not, though it was inserted earlier",
            read.process,
            at(read)
        ),
        proof: vec![read],
        ..Told::default()
    }
}
