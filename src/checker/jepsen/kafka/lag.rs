//! How far polls lag behind: the longest time for which a message had been in a log when a poll began
//! that did not get to it. As Jepsen's `realtime-lag`, a lower bound.

use rustc_hash::FxHashMap;

use super::{Entry, Kafka};
use crate::checker::jepsen::streaming::{Moment, Step};
use crate::checker::jepsen::tally::{Tally, at};
use crate::checker::moment::milliseconds;
use crate::op::{Kind, MILLISECOND, Nanos};

/// When each key was first known to reach so far, and how far each process has polled it.
#[derive(Clone, Default)]
pub(super) struct Lag {
    /// By key, growing: an offset, and when a message at it or beyond was first known.
    reached: FxHashMap<u32, Vec<(i64, Nanos)>>,
    /// Keys not polled yet stand at -1.
    polled: FxHashMap<u32, FxHashMap<u32, i64>>,
}

impl Lag {
    /// The keys that a process polls from now on. After `subscribe` nobody knows which it gets.
    pub fn assign(&mut self, process: u32, subscribe: bool, keys: &[Entry]) {
        let polled = self.polled.entry(process).or_default();
        let keys = keys.iter().filter(|_| !subscribe);
        *polled =
            keys.map(|entry| (entry.key, polled.get(&entry.key).copied().unwrap_or(-1))).collect();
    }

    /// What an operation told that may have taken effect.
    pub fn take(&mut self, step: &Step, sends: &[Entry], polls: &[Entry]) {
        for Entry { key, offset, .. } in sends.iter().chain(polls) {
            let Some(offset) = *offset else { continue };
            let reached = self.reached.entry(*key).or_default();
            if reached.last().is_none_or(|(last, _)| offset > *last) {
                reached.push((offset, step.event.time));
            }
            if step.kind() == Kind::Ok && step.f != "send" {
                let polled = self.polled.entry(step.process).or_default();
                let at = polled.entry(*key).or_insert(-1);
                *at = offset.max(*at);
            }
        }
    }

    /// How long the message after the last polled one had been there when the operation began.
    fn of(&self, key: u32, polled: i64, begun: Moment) -> Nanos {
        let reached = self.reached.get(&key).map_or(&[][..], Vec::as_slice);
        let beyond = reached.partition_point(|(offset, _)| *offset <= polled);
        reached.get(beyond).map_or(0, |(_, known)| begun.time.saturating_sub(*known))
    }

    /// Tells the lag of a completed poll.
    pub fn tell(&self, kafka: &Kafka, step: &Step, tally: &mut Tally) {
        let Some(polled) = self.polled.get(&step.process) else { return };
        let begun = step.begun();
        let lag = polled.iter().map(|(key, offset)| (self.of(*key, *offset, begun), *key)).max();
        let Some((lag, key)) = lag.filter(|(lag, _)| *lag > 0) else { return };
        tally.largest("worst-realtime-lag-ms", lag / MILLISECOND);
        tally.note(lag, || {
            format!(
                "the poll that process {} began at {} was {} behind in key {}",
                step.process,
                at(begun),
                milliseconds(lag),
                kafka.keys.name(key)
            )
        });
    }

    pub fn bytes(&self) -> usize {
        self.reached.values().map(|reached| reached.capacity() * 16 + 64).sum::<usize>()
            + self.polled.values().map(|polled| polled.capacity() * 24 + 64).sum::<usize>()
    }
}
