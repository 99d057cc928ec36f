//! How operations ended, by name: at least one of each name must be `ok`. As Jepsen's `stats`.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::checker::Shows;
use crate::name::Name;
use crate::op::Kind;

#[derive(Clone, Copy, Default)]
struct Ended {
    ok: u64,
    fail: u64,
    info: u64,
    last: Option<Moment>,
}

#[derive(Clone, Default)]
pub(super) struct Stats {
    ended: IndexMap<Name, Ended, FxBuildHasher>,
}

impl Workload for Stats {
    const NAME: &'static str = "stats";
    const OPS: &'static [&'static str] = &[];
    const PAIRED: bool = false;
    const WHOLE: bool = true;

    fn step(&mut self, step: &Step, _tally: &mut Tally) {
        let ended = self.ended.entry(step.event.f).or_default();
        match step.kind() {
            Kind::Invoke => return,
            Kind::Ok => ended.ok += 1,
            Kind::Fail => ended.fail += 1,
            Kind::Info => ended.info += 1,
        }
        ended.last = Some(step.now());
    }

    fn shows(&self) -> Shows {
        Shows::AtTheEnd
    }

    fn finish(&mut self, tally: &mut Tally) {
        for (f, Ended { ok, fail, info, last }) in &self.ended {
            for (figure, count) in [("ok", *ok), ("fail", *fail), ("info", *info)] {
                tally.count(figure, count);
            }
            // One that is still under way when the history ends says nothing.
            let Some(last) = last.filter(|_| *ok == 0) else { continue };
            tally.report("no-ok", || Told {
                summary: format!(
                    "no {f} was ok: {fail} failed, of {info} nobody knows; the last, of process {}, \
                     ended at {}",
                    last.process,
                    at(last)
                ),
                proof: vec![last],
                ..Told::default()
            });
        }
    }

    fn bytes(&self) -> usize {
        self.ended.capacity() * (size_of::<Name>() + size_of::<Ended>())
    }
}
