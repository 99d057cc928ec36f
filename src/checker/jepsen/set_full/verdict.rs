//! What became of each element, and what that says of the set.

use super::{Life, SetFull, later};
use crate::checker::jepsen::streaming::Moment;
use crate::checker::jepsen::tally::{Tally, Told, at};
use crate::checker::moment::milliseconds;
use crate::op::{MILLISECOND, Nanos};

enum Outcome {
    Stable { stale: bool, latency: Nanos },
    Lost { latency: Nanos },
    NeverRead,
}

impl Life {
    fn outcome(&self) -> Outcome {
        let index = |read: Option<Moment>| read.map(|read| read.index);
        let (known, present, absent) = (index(self.known), index(self.present), index(self.absent));
        let missed = known.is_some() && absent > known;
        if present > absent {
            let latency = self.since_known(self.absent);
            return Outcome::Stable { stale: missed, latency };
        }
        match missed {
            true => Outcome::Lost { latency: self.since_known(self.present) },
            false => Outcome::NeverRead,
        }
    }

    /// How long after it was known a read began that still missed it, or still saw it.
    fn since_known(&self, last: Option<Moment>) -> Nanos {
        match (self.known, last) {
            (Some(known), Some(last)) => (last.time + 1).saturating_sub(known.time),
            _ => 0,
        }
    }

    /// The moments of its life that are known.
    fn proof(&self) -> Vec<Moment> {
        [self.known, self.present, self.absent].into_iter().flatten().collect()
    }
}

/// Tells all elements of the set; those missed since they were last seen are looked up here.
pub(super) fn judge(set: &SetFull, tally: &mut Tally) {
    tally.count("reads", u64::from(set.misses.reads()));
    let mut stable = 0;
    for (number, life) in set.lives.iter().enumerate() {
        if !life.added {
            tally.count("unexpected", u64::from(life.present.is_some()));
            continue;
        }
        let missed = set.misses.since(life.reads);
        let life = Life { absent: later(life.absent, missed), ..*life };
        tally.count("attempts", 1);
        stable += u64::from(matches!(life.outcome(), Outcome::Stable { .. }));
        tell(set, number as u32, &life, tally);
    }
    tally.count("stable", stable);
    if stable == 0 {
        tally.open(|| "no element was in a read that began after its add".to_owned());
    }
}

fn tell(set: &SetFull, number: u32, life: &Life, tally: &mut Tally) {
    match life.outcome() {
        Outcome::NeverRead => tally.count("never-read", 1),
        Outcome::Lost { latency } => {
            tally.sample("lost-latency", latency);
            tally.report("lost", || lost(set, number, life));
        }
        Outcome::Stable { stale, latency } => {
            tally.sample("stable-latency", latency);
            if !stale {
                return;
            }
            tally.largest("worst-stale-ms", latency / MILLISECOND);
            match set.linearizable {
                true => tally.report("stale", || missing(set, number, life, latency)),
                false => tally.count("stale", 1),
            }
            tally.note(latency, || missing(set, number, life, latency).summary);
        }
    }
}

fn lost(set: &SetFull, number: u32, life: &Life) -> Told {
    let name = set.elements.name(number);
    let seen = life.present.map_or("no read has it".to_owned(), |read| {
        format!("the last read that has it was begun by process {} at {}", read.process, at(read))
    });
    let summary = format!("element {name} is lost: {}; {seen}; {}", known(life), absent(life));
    Told { summary, proof: life.proof(), ..Told::default() }
}

/// What a read shows at once that lacks an element which it must have.
pub(super) fn missed(set: &SetFull, number: u32, life: &Life) -> Told {
    missing(set, number, life, life.since_known(life.absent))
}

fn missing(set: &SetFull, number: u32, life: &Life, latency: Nanos) -> Told {
    let name = set.elements.name(number);
    let stale = milliseconds(latency);
    let summary =
        format!("element {name} was missed for {stale}: {}; {}", known(life), absent(life));
    Told { summary, proof: life.proof(), ..Told::default() }
}

fn known(life: &Life) -> String {
    life.known.map_or("it is not known".to_owned(), |known| {
        format!("process {} knew of it at {}", known.process, at(known))
    })
}

fn absent(life: &Life) -> String {
    life.absent.map_or("no read lacks it".to_owned(), |read| {
        format!("the read begun by process {} at {} lacks it", read.process, at(read))
    })
}
