//! Every id that was handed out is handed out once. As Jepsen's `unique-ids`.

use super::elements::Elements;
use super::streaming::{Moment, Step, Workload};
use super::tally::{Tally, Told, at};
use crate::op::Kind;

#[derive(Clone, Default)]
pub(super) struct UniqueIds {
    ids: Elements,
    /// Who got each id first.
    first: Vec<Moment>,
}

impl Workload for UniqueIds {
    const NAME: &'static str = "unique-ids";
    const OPS: &'static [&'static str] = &["generate"];
    const PAIRED: bool = false;

    fn step(&mut self, step: &Step, tally: &mut Tally) {
        match step.kind() {
            Kind::Invoke => return tally.count("attempts", 1),
            Kind::Ok => tally.count("acknowledged", 1),
            Kind::Fail | Kind::Info => return,
        }
        if step.value.is_nil() {
            let index = step.event.index;
            tally.broken(|| format!("event {index}: an id was handed out, and it is nil"));
            return;
        }
        let number = self.ids.number(step.value);
        let Some(first) = self.first.get(number as usize).copied() else {
            self.first.push(step.now());
            return;
        };
        let (name, again) = (self.ids.name(number), step.now());
        tally.report("duplicated", || Told {
            summary: format!(
                "process {} got id {name} at {}, which process {} had got at {}",
                again.process,
                at(again),
                first.process,
                at(first)
            ),
            proof: vec![first, again],
            ..Told::default()
        });
    }

    fn finish(&mut self, _tally: &mut Tally) {}

    fn bytes(&self) -> usize {
        self.ids.bytes() + self.first.capacity() * size_of::<Moment>()
    }
}
