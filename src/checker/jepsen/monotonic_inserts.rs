//! Rows that were inserted in growing order, read in the order of the database's timestamps: none is missing,
//! none is there twice, and both numbers grow. As the `monotonic` of Jepsen's CockroachDB tests.
//!
//! An `add` is answered by its row, `{val sts proc node tb}`; a `read` by all rows. The last read counts. With
//! a `proc` in the rows, `val` must grow among those of one process (there each add has a table of its own to
//! go to), and overall only with `--consistency linearizable`. What is out of order by node or by table is
//! counted.

use rustc_hash::FxHashMap;

use super::elements::Elements;
use super::promise;
use super::streaming::{self, Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::checker::{Checker, ModelOptions, Shows};
use crate::history::Datum;
use crate::op::Kind;

/// One row of a read; what it does not tell is none.
#[derive(Clone, Copy, Default)]
struct Row {
    val: i128,
    sts: Option<i128>,
    proc: Option<u32>,
    node: Option<u32>,
    tb: Option<u32>,
}

/// What became of the adds of one value.
#[derive(Clone, Copy, Default)]
struct Added {
    acknowledged: Option<Moment>,
    failed: Option<Moment>,
    is_unsure: bool,
}

#[derive(Clone, Default)]
pub(super) struct MonotonicInserts {
    linearizable: bool,
    names: Elements,
    adds: FxHashMap<i128, Added>,
    /// The last read, and when it began and completed.
    rows: Vec<Row>,
    read: Option<(Moment, Moment)>,
}

pub(super) fn checkers(options: &ModelOptions) -> Result<Vec<Box<dyn Checker>>, String> {
    let linearizable = promise::linearizable(options)?;
    streaming::with(MonotonicInserts { linearizable, ..MonotonicInserts::default() }, options)
}

/// Timestamps have 96 bits: beyond 64 they stay text.
fn number(datum: Datum) -> Option<i128> {
    match datum.as_i64() {
        Some(number) => Some(number.into()),
        None => datum.as_str()?.trim_end_matches('N').parse().ok(),
    }
}

impl MonotonicInserts {
    fn row(&mut self, datum: Datum) -> Option<Row> {
        let (mut row, mut val) = (Row::default(), None);
        for (name, value) in datum.entries()? {
            match name.as_str()?.trim_start_matches(':') {
                "val" => val = Some(number(value)?),
                "sts" => row.sts = Some(number(value)?),
                "proc" => row.proc = Some(self.names.number(value)),
                "node" => row.node = Some(self.names.number(value)),
                "tb" => row.tb = Some(self.names.number(value)),
                _ => {}
            }
        }
        Some(Row { val: val?, ..row })
    }

    /// Whose outcome nobody can tell by its row says nothing.
    fn add(&mut self, step: &Step) {
        let Some(Row { val, .. }) = self.row(step.value) else { return };
        let added = self.adds.entry(val).or_default();
        match step.kind() {
            Kind::Ok => added.acknowledged = added.acknowledged.or(Some(step.now())),
            Kind::Fail => added.failed = Some(step.now()),
            Kind::Info => added.is_unsure = true,
            Kind::Invoke => {}
        }
    }

    fn read(&mut self, step: &Step, tally: &mut Tally) {
        tally.count("reads", 1);
        let rows = step.value.items();
        match rows.and_then(|rows| rows.map(|row| self.row(row)).collect::<Option<Vec<Row>>>()) {
            Some(rows) => (self.rows, self.read) = (rows, Some((step.begun(), step.now()))),
            None => {
                let (index, found) = (step.event.index, step.value.to_text());
                tally.broken(|| {
                    format!("event {index}: {found:.40}, expected [{{val sts ...}} ...]")
                });
            }
        }
    }

    fn contents(&self, (begun, read): (Moment, Moment), tally: &mut Tally) {
        let who = format!("the last read (process {} at {})", read.process, at(read));
        let mut times: FxHashMap<i128, u64> = FxHashMap::default();
        self.rows.iter().for_each(|row| *times.entry(row.val).or_default() += 1);
        let told = |what: String, proof: Option<Moment>| Told {
            summary: format!("{who} {what}"),
            proof: proof.into_iter().chain([read]).collect(),
            ..Told::default()
        };
        let mut vals: Vec<i128> = self.adds.keys().chain(times.keys()).copied().collect();
        vals.sort_unstable();
        vals.dedup();
        for val in vals {
            let seen = times.get(&val).copied().unwrap_or(0);
            let added = self.adds.get(&val).copied().unwrap_or_default();
            if seen > 1 {
                tally.report("duplicated", || told(format!("has {seen} rows of val {val}"), None));
            }
            match (seen, added.acknowledged, added.failed) {
                (0, Some(ok), _) if ok.index < begun.index => tally.report("lost", || {
                    let words = format!(
                        "lacks val {val}, whose add by process {} was acknowledged at {}",
                        ok.process,
                        at(ok)
                    );
                    told(words, Some(ok))
                }),
                (0, Some(ok), _) => tally.open(|| {
                    format!("val {val} was added at {}, after the last read began", at(ok))
                }),
                (1.., None, Some(failed)) => tally.report("revived", || {
                    let words = format!("has val {val}, whose add failed at {}", at(failed));
                    told(words, Some(failed))
                }),
                (1.., None, None) => tally.count("recovered", u64::from(added.is_unsure)),
                _ => {}
            }
        }
    }

    /// Rows one after the other, by what they share.
    fn order(&self, read: Moment, tally: &mut Tally) {
        let has_process = self.rows.iter().any(|row| row.proc.is_some());
        let mut before: Option<&Row> = None;
        let mut last: FxHashMap<(u8, u32), &Row> = FxHashMap::default();
        for row in &self.rows {
            if let Some(before) = before.replace(row) {
                if before.sts > row.sts && row.sts.is_some() {
                    tally.report("off-order-sts", || self.told(read, before, row, ""));
                }
                match before.val >= row.val {
                    true if self.linearizable || !has_process => {
                        tally.report("off-order-val", || self.told(read, before, row, ""));
                    }
                    is_off => tally.count("value-reorders", u64::from(is_off)),
                }
            }
            for (kind, of) in [(0, row.proc), (1, row.node), (2, row.tb)] {
                let Some(of) = of else { continue };
                let Some(before) = last.insert((kind, of), row) else { continue };
                let is_off = before.val >= row.val;
                match kind {
                    0 if is_off => tally.report("off-order-val", || {
                        self.told(
                            read,
                            before,
                            row,
                            &format!(", both of proc {}", self.names.name(of)),
                        )
                    }),
                    0 => {}
                    1 => tally.count("value-reorders-pernode", u64::from(is_off)),
                    _ => tally.count("value-reorders-pertable", u64::from(is_off)),
                }
            }
        }
    }

    fn told(&self, read: Moment, before: &Row, after: &Row, of: &str) -> Told {
        let row = |row: &Row| match row.sts {
            Some(sts) => format!("val {} (sts {sts})", row.val),
            None => format!("val {}", row.val),
        };
        Told {
            summary: format!(
                "the last read (process {} at {}) has {} before {}{of}",
                read.process,
                at(read),
                row(before),
                row(after)
            ),
            proof: vec![read],
            ..Told::default()
        }
    }
}

impl Workload for MonotonicInserts {
    const NAME: &'static str = "monotonic-inserts";
    const OPS: &'static [&'static str] = &["add", "read"];

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        match (step.kind(), step.f) {
            (_, "add") => self.add(step),
            (Kind::Ok, _) => self.read(step, tally),
            _ => {}
        }
    }

    fn shows(&self) -> Shows {
        Shows::AtTheEnd
    }

    fn finish(&mut self, tally: &mut Tally) {
        let adds = self.adds.values().filter(|added| added.acknowledged.is_some());
        tally.count("acknowledged", adds.count() as u64);
        tally.count("rows", self.rows.len() as u64);
        let Some((begun, read)) = self.read else {
            return tally
                .open(|| "the rows were never read, so nobody knows what is there".to_owned());
        };
        self.contents((begun, read), tally);
        self.order(read, tally);
    }

    fn bytes(&self) -> usize {
        self.names.bytes()
            + self.adds.capacity() * (size_of::<Added>() + 17)
            + self.rows.capacity() * size_of::<Row>()
    }
}
