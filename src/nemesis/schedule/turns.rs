//! Faults of one nemesis that come one at a time: in their order, or drawn by weight.

use crate::nemesis::fault::{Order, Turns};
use crate::op::Nanos;
use crate::rng::Rng;

pub struct Group {
    turns: Turns,
    members: Vec<(usize, u32)>,
    drawn: usize,
    /// When the drawn one begins; `None` while one is in force.
    begins_at: Option<Nanos>,
    rng: Rng,
}

impl Group {
    pub fn new(turns: Turns, rng: Rng) -> Group {
        let begins_at = Some(turns.after.nanos());
        Group { turns, members: Vec::new(), drawn: 0, begins_at, rng }
    }

    pub fn add(&mut self, fault: usize, weight: u32) {
        self.members.push((fault, weight));
        if self.turns.order == Order::Random {
            self.draw();
        }
    }

    pub fn begins_at(&self, fault: usize) -> Option<Nanos> {
        self.begins_at.filter(|_| self.members.get(self.drawn).is_some_and(|it| it.0 == fault))
    }

    pub fn begun(&mut self, fault: usize) {
        if self.members.iter().any(|(member, _)| *member == fault) {
            self.begins_at = None;
        }
    }

    /// The one whose turn it was is over: the next one begins after the quiet time.
    pub fn over(&mut self, fault: usize, now: Nanos) {
        let is_in_turn = self.members.get(self.drawn).is_some_and(|it| it.0 == fault);
        if !is_in_turn || self.begins_at.is_some() {
            return;
        }
        match self.turns.order {
            Order::Random => self.draw(),
            Order::Sequence | Order::Overlap => {
                self.drawn = (self.drawn + 1) % self.members.len();
            }
        }
        self.begins_at = Some(now.saturating_add(self.turns.quiet.nanos()));
    }

    /// It is never drawn.
    pub fn exclude(&mut self, fault: usize) {
        self.members.retain(|(member, _)| *member != fault);
        self.drawn = 0;
        if self.members.is_empty() {
            self.begins_at = None;
        } else if self.turns.order == Order::Random {
            self.draw();
        }
    }

    fn draw(&mut self) {
        let total: u64 = self.members.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let mut left = self.rng.below(total.max(1));
        let found = self.members.iter().position(|(_, weight)| {
            let is_it = left < u64::from(*weight);
            left = left.saturating_sub(u64::from(*weight));
            is_it
        });
        self.drawn = found.unwrap_or(0);
    }
}
