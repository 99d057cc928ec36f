//! Choices: made, taken back, and left for later.

use super::Search;
use super::candidates::Move;
use super::configuration::Config;

/// Where so few are in flight and no more dead ends than these were met, a search goes nearly straight
/// ahead: then to look ahead, and to remember what has been tried, costs more than it saves.
const FEW_SLOTS: usize = 16;
const FEW_DEAD_ENDS: u32 = 64;

/// A choice to come back to.
pub(super) struct Frame<const WORDS: usize> {
    position: u32,
    order_length: u32,
    config: Config<WORDS>,
    /// What was tried at once.
    obvious: Option<Move>,
    /// Where what is still to be tried here begins, once somebody has asked what there is.
    untried: Option<u32>,
    /// Some of what follows was left untried.
    is_partial: bool,
}

impl<const WORDS: usize> Search<'_, WORDS> {
    /// Takes the most promising way on from a completion, if it is plain to see. What else could happen
    /// is only asked when that has failed. False if there is none, or none that has not failed before.
    pub(super) fn proceed(&mut self) -> bool {
        self.looks += 16 + self.plan.slots as u64;
        self.forget_uses();
        if !self.memo.is_empty() && self.memo.knows(&self.key(), &self.config.used) {
            return false;
        }
        let obvious = self.obvious();
        self.frames.push(Frame {
            position: self.position as u32,
            order_length: self.order.len() as u32,
            config: self.config.clone(),
            obvious,
            untried: None,
            is_partial: false,
        });
        obvious.is_some_and(|obvious| self.try_move(obvious))
    }

    /// False if it can be seen to lead nowhere.
    fn try_move(&mut self, taken: Move) -> bool {
        let (state, since) = (self.config.state, self.order.len());
        self.apply(taken);
        !(self.is_hard() && self.has_lost(state, since))
    }

    /// Whether it pays to think before a move.
    pub(super) fn is_hard(&self) -> bool {
        self.dead_ends > FEW_DEAD_ENDS || self.plan.slots > FEW_SLOTS
    }

    /// Goes back to the latest choice and tries what is next there. False if nothing is left; true also
    /// where the time is over.
    pub(super) fn retry(&mut self) -> bool {
        while let Some(mut frame) = self.frames.pop() {
            if self.is_out_of_time() {
                return true;
            }
            self.rewind(frame.position as usize);
            self.order.truncate(frame.order_length as usize);
            self.config.clone_from(&frame.config);
            let untried = frame.untried.unwrap_or_else(|| self.find_candidates(frame.obvious));
            frame.untried = Some(untried);
            if self.untried.len() > untried as usize
                && let Some(candidate) = self.untried.pop()
            {
                self.frames.push(frame);
                if self.try_move(candidate) {
                    return true;
                }
            } else if frame.is_partial {
                self.leave_partial();
            } else {
                self.give_up();
            }
        }
        if self.impatience.has_skipped() {
            self.impatience.start_again();
            self.start_again();
            return true;
        }
        false
    }

    /// Leaves the latest choices, so many, though not all has been tried there.
    pub(super) fn skip(&mut self, choices: usize) {
        let kept = self.frames.len().saturating_sub(choices).max(1);
        let mut left = self.frames.drain(kept.min(self.frames.len())..);
        if let Some(untried) = left.find_map(|frame| frame.untried) {
            self.untried.truncate(untried as usize);
        }
        drop(left);
        self.leave_partial();
    }

    fn leave_partial(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.is_partial = true;
        }
    }

    /// Remembers that the present configuration leads nowhere.
    fn give_up(&mut self) {
        self.dead_ends = self.dead_ends.saturating_add(1);
        if !self.is_hard() {
            return;
        }
        let oldest = self.frames.first().map_or(self.position as u32, |frame| frame.position);
        let key = self.key();
        self.memo.add(key, &self.config.used, oldest, self.limits.memory);
    }
}
