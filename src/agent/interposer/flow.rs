//! Bytes on their way in one direction: in order, late or slow as it is wanted. No socket.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::cluster::{Concerning, Toxic};
use crate::rng::Rng;

/// Beyond this nothing more is read until some of it is written.
const FULL_BYTES: usize = 1 << 20;
/// A capped direction writes this often while it has anything.
const SHARES_PER_SECOND: u64 = 100;

/// What toxics do to a direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pace {
    /// Delay and jitter.
    latency: Option<(Duration, Duration)>,
    bytes_per_second: Option<u64>,
    /// Bytes at once, and the pause after them.
    slices: Option<(usize, Duration)>,
}

impl Pace {
    /// All of them together; of several of one kind the last.
    pub fn of<'a>(toxics: impl IntoIterator<Item = &'a Toxic>) -> Pace {
        let mut pace = Pace::default();
        for toxic in toxics {
            match *toxic {
                Toxic::Latency { delay, jitter } => pace.latency = Some((delay.0, jitter.0)),
                Toxic::Bandwidth { bytes_per_second } => {
                    pace.bytes_per_second = Some(bytes_per_second.max(1));
                }
                Toxic::Slicer { bytes, pause } => {
                    pace.slices = Some((bytes.max(1) as usize, pause.0));
                }
                Toxic::Reset { .. } => {}
            }
        }
        pace
    }

    pub fn is_none(&self) -> bool {
        *self == Pace::default()
    }

    fn late(&self, rng: &mut Rng) -> Option<Duration> {
        let (delay, jitter) = self.latency?;
        let jitter = jitter.as_nanos() as u64;
        let earliest = delay.saturating_sub(Duration::from_nanos(jitter));
        let span = delay.saturating_add(Duration::from_nanos(jitter)) - earliest;
        Some(earliest + Duration::from_nanos(rng.below(span.as_nanos() as u64 + 1)))
    }

    /// How much may be written at once.
    fn share(&self) -> usize {
        let slice = self.slices.map_or(usize::MAX, |(bytes, _)| bytes);
        let share =
            self.bytes_per_second.map_or(u64::MAX, |rate| (rate / SHARES_PER_SECOND).max(1));
        slice.min(usize::try_from(share).unwrap_or(usize::MAX))
    }

    /// How long nothing may be written after so many bytes.
    fn rest(&self, written: usize) -> Duration {
        let pause = self.slices.map_or(Duration::ZERO, |(_, pause)| pause);
        let rate = self.bytes_per_second.map(|rate| {
            Duration::from_nanos((written as u64).saturating_mul(1_000_000_000) / rate)
        });
        pause.max(rate.unwrap_or_default())
    }
}

struct Piece {
    due: Option<Instant>,
    bytes: Vec<u8>,
    written: usize,
}

/// What a direction wants next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a> {
    Nothing,
    /// Something, but not before then.
    At(Instant),
    Write(&'a [u8]),
    /// All is written, and no more comes.
    End,
}

pub struct Flow {
    pieces: VecDeque<Piece>,
    waiting: usize,
    /// What is pushed from now on is not due before.
    floor: Option<(Instant, Concerning)>,
    resting_until: Option<Instant>,
    has_ended: bool,
    is_shut: bool,
    rng: Rng,
}

impl Flow {
    pub fn new(rng: Rng) -> Flow {
        Flow {
            pieces: VecDeque::new(),
            waiting: 0,
            floor: None,
            resting_until: None,
            has_ended: false,
            is_shut: false,
            rng,
        }
    }

    pub fn push(&mut self, bytes: Vec<u8>, now: Instant, pace: &Pace) {
        let late = pace.late(&mut self.rng).map(|late| now + late);
        let before = self.pieces.back().and_then(|piece| piece.due);
        let floor = self.floor.map(|(floor, _)| floor).filter(|floor| *floor > now);
        self.waiting += bytes.len();
        self.pieces.push_back(Piece { due: late.max(before).max(floor), bytes, written: 0 });
    }

    /// All that is pushed from now on is late by this.
    pub fn delay(&mut self, delay: Duration, now: Instant, concerning: Concerning) {
        let floor = now + delay;
        if self.floor.is_none_or(|(before, _)| before < floor) {
            self.floor = Some((floor, concerning));
        }
    }

    /// Who delays what waits here.
    pub fn delayed_by(&self) -> Option<Concerning> {
        self.floor.map(|(_, concerning)| concerning)
    }

    /// What waits is late no longer.
    pub fn hurry(&mut self) {
        (self.floor, self.resting_until) = (None, None);
        self.pieces.iter_mut().for_each(|piece| piece.due = None);
    }

    /// No more comes.
    pub fn finish(&mut self) {
        self.has_ended = true;
    }

    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The end has been passed on.
    pub fn shut(&mut self) {
        self.is_shut = true;
    }

    pub fn is_shut(&self) -> bool {
        self.is_shut
    }

    /// Forgets all that waits: nobody takes it any more.
    pub fn abandon(&mut self) {
        self.pieces.clear();
        self.waiting = 0;
    }

    pub fn has_room(&self) -> bool {
        self.waiting < FULL_BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub fn next(&self, now: Instant, pace: &Pace) -> Next<'_> {
        let Some(piece) = self.pieces.front() else {
            return if self.has_ended && !self.is_shut { Next::End } else { Next::Nothing };
        };
        match piece.due.max(self.resting_until) {
            Some(due) if due > now => Next::At(due),
            _ => {
                let rest = &piece.bytes[piece.written..];
                Next::Write(&rest[..rest.len().min(pace.share())])
            }
        }
    }

    pub fn wrote(&mut self, written: usize, now: Instant, pace: &Pace) {
        let Some(piece) = self.pieces.front_mut() else { return };
        piece.written += written;
        self.waiting -= written;
        if piece.written == piece.bytes.len() {
            self.pieces.pop_front();
        }
        let rest = pace.rest(written);
        self.resting_until = (!rest.is_zero()).then(|| {
            // A timer that wakes late must not lower the rate; what was not used long ago is lost.
            let since =
                self.resting_until.filter(|until| now < *until + rest && pace.slices.is_none());
            since.unwrap_or(now) + rest
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::FaultId;
    use crate::duration::Span;

    const MS: Duration = Duration::from_millis(1);

    fn flow() -> Flow {
        Flow::new(Rng::from_seed(1))
    }

    /// Writes all that is wanted, and tells when and how much.
    fn drain(flow: &mut Flow, start: Instant, pace: &Pace) -> Vec<(u128, usize)> {
        let mut now = start;
        let mut writes = Vec::new();
        loop {
            match flow.next(now, pace) {
                Next::Nothing | Next::End => return writes,
                Next::At(due) => now = due,
                Next::Write(bytes) => {
                    let length = bytes.len();
                    writes.push(((now - start).as_millis(), length));
                    flow.wrote(length, now, pace);
                }
            }
        }
    }

    #[test]
    fn without_toxics_all_goes_at_once() {
        let (mut flow, now) = (flow(), Instant::now());
        flow.push(vec![0; 100_000], now, &Pace::default());
        assert_eq!(drain(&mut flow, now, &Pace::default()), [(0, 100_000)]);
        flow.finish();
        assert_eq!(flow.next(now, &Pace::default()), Next::End);
        flow.shut();
        assert_eq!(flow.next(now, &Pace::default()), Next::Nothing);
    }

    #[test]
    fn latency_keeps_the_order() {
        let pace = Pace::of(&[Toxic::Latency { delay: Span(20 * MS), jitter: Span(15 * MS) }]);
        let (mut flow, now) = (flow(), Instant::now());
        for length in 1..=50 {
            flow.push(vec![0; length], now + MS * length as u32, &pace);
        }
        let writes = drain(&mut flow, now, &pace);
        assert!(writes.iter().map(|(_, length)| *length).eq(1..=50), "{writes:?}");
        assert!(writes.is_sorted_by_key(|(at, _)| *at));
        for (at, length) in writes {
            let sent = length as u128;
            assert!(at >= sent + 5 && at <= 50 + 35, "{length} at {at}");
        }
    }

    #[test]
    fn bandwidth_is_what_was_asked_for() {
        let pace = Pace::of(&[Toxic::Bandwidth { bytes_per_second: 10_000 }]);
        let (mut flow, now) = (flow(), Instant::now());
        flow.push(vec![0; 5000], now, &pace);
        let writes = drain(&mut flow, now, &pace);
        assert_eq!((writes.len(), writes[49]), (50, (490, 100)));
    }

    #[test]
    fn slices_have_pauses_between_them() {
        let pace = Pace::of(&[Toxic::Slicer { bytes: 4, pause: Span(3 * MS) }]);
        let (mut flow, now) = (flow(), Instant::now());
        flow.push(vec![0; 10], now, &pace);
        assert_eq!(drain(&mut flow, now, &pace), [(0, 4), (3, 4), (6, 2)]);
    }

    #[test]
    fn a_delay_holds_all_behind_it_until_it_is_over_or_taken_back() {
        let fault = Concerning::Fault(FaultId(1));
        let (mut flow, now, none) = (flow(), Instant::now(), Pace::default());
        flow.push(vec![0; 1], now, &none);
        flow.delay(30 * MS, now, fault);
        flow.push(vec![0; 2], now, &none);
        flow.push(vec![0; 3], now + 10 * MS, &none);
        flow.push(vec![0; 4], now + 40 * MS, &none);
        assert_eq!(flow.delayed_by(), Some(fault));
        assert_eq!(drain(&mut flow, now, &none), [(0, 1), (30, 2), (30, 3), (30, 4)]);
        flow.delay(30 * MS, now, fault);
        flow.push(vec![0; 2], now, &none);
        flow.hurry();
        assert_eq!(drain(&mut flow, now, &none), [(0, 2)]);
        assert_eq!(flow.delayed_by(), None);
    }

    #[test]
    fn a_full_flow_takes_no_more_until_some_is_written() {
        let (mut flow, now, none) = (flow(), Instant::now(), Pace::default());
        flow.push(vec![0; FULL_BYTES], now, &none);
        assert!(!flow.has_room());
        flow.wrote(1, now, &none);
        assert!(flow.has_room());
    }
}
