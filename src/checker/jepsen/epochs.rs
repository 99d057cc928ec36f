//! Leadership by epochs: one leader in each, and each take-over in a higher epoch than all before.
//!
//! `claim [epoch leader]` says that somebody became leader; `observe [epoch leader]` that somebody was
//! told so, perhaps late. Of both, an epoch has one leader. A claim that began after another one was
//! acknowledged is in no lower epoch; with `--consistency linearizable` an observation is neither.

use rustc_hash::FxHashMap;

use super::elements::Elements;
use super::promise;
use super::streaming::{self, Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::checker::{Checker, ModelOptions};
use crate::op::Kind;

/// The highest epoch that was acknowledged up to some moment.
type Highest = Option<(i64, Moment)>;

#[derive(Clone, Default)]
pub(super) struct Epochs {
    linearizable: bool,
    leaders: Elements,
    /// Who leads each epoch, and who said so first.
    led: FxHashMap<i64, (u32, Moment)>,
    highest: Highest,
    /// What was highest when each open operation began.
    begun: FxHashMap<u32, Highest>,
}

pub(super) fn checkers(options: &ModelOptions) -> Result<Vec<Box<dyn Checker>>, String> {
    let linearizable = promise::linearizable(options)?;
    streaming::with(Epochs { linearizable, ..Epochs::default() }, options)
}

impl Epochs {
    fn answer(&mut self, step: &Step, tally: &mut Tally) {
        let before = self.begun.remove(&step.process).flatten();
        let parts = step.value.items().and_then(|mut items| {
            let epoch = items.next()?.as_i64()?;
            Some((epoch, items.next()?))
        });
        let Some((epoch, leader)) = parts else {
            let (index, found) = (step.event.index, step.value.to_text());
            tally.broken(|| format!("event {index}: {found:.40}, expected [epoch leader]"));
            return;
        };
        let claim = step.f == "claim";
        tally.count(if claim { "claims" } else { "observations" }, 1);
        let leader = self.leaders.number(leader);
        self.exclusive(step, epoch, leader, tally);
        if claim || self.linearizable {
            grows(step, epoch, before, tally);
        }
        if self.highest.is_none_or(|(highest, _)| epoch > highest) {
            self.highest = Some((epoch, step.now()));
            tally.largest("highest-epoch", u64::try_from(epoch).unwrap_or_default());
        }
    }

    fn exclusive(&mut self, step: &Step, epoch: i64, leader: u32, tally: &mut Tally) {
        let now = step.now();
        let (known, first) = *self.led.entry(epoch).or_insert((leader, now));
        if known == leader {
            return;
        }
        let (one, other) = (self.leaders.name(known), self.leaders.name(leader));
        tally.report("two-leaders", || Told {
            summary: format!(
                "epoch {epoch} has two leaders: {one}, as process {} was answered at {}, and {other}, as \
                 process {} was at {}",
                first.process,
                at(first),
                now.process,
                at(now)
            ),
            proof: vec![first, now],
            ..Told::default()
        });
    }
}

fn grows(step: &Step, epoch: i64, before: Highest, tally: &mut Tally) {
    let Some((highest, earlier)) = before.filter(|(highest, _)| epoch < *highest) else { return };
    let (begun, now) = (step.begun(), step.now());
    tally.report("epoch-went-back", || Told {
        summary: format!(
            "process {} got epoch {epoch} at {}, by an operation begun at {}; process {} had got epoch \
             {highest} at {}",
            now.process,
            at(now),
            at(begun),
            earlier.process,
            at(earlier)
        ),
        proof: vec![earlier, now],
        ..Told::default()
    });
}

impl Workload for Epochs {
    const NAME: &'static str = "epochs";
    const OPS: &'static [&'static str] = &["claim", "observe"];

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        match step.kind() {
            Kind::Invoke => {
                self.begun.insert(step.process, self.highest);
            }
            Kind::Ok => self.answer(step, tally),
            Kind::Fail | Kind::Info => {
                self.begun.remove(&step.process);
            }
        }
    }

    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        self.leaders.bytes() + self.led.capacity() * 56 + self.begun.capacity() * 56
    }
}
