//! When a phase ends and what the next one begins with.

use futures::FutureExt;

use super::{Done, Loop};
use crate::cluster::{Client, Cluster, View};
use crate::nemesis::{FaultRecord, Phase};
use crate::op::{MILLISECOND, Nanos, SECOND};

/// How often the view is asked for while the cluster recovers, and at most during main.
const LOOK_EVERY: Nanos = 250 * MILLISECOND;

const LOOK_EVERY_CLOSELY: Nanos = 40 * MILLISECOND;

/// A run does not wait longer than this for the last view.
const LAST_LOOK_TAKES: Nanos = 5 * SECOND;

/// The view with which a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastLook {
    NotYet,
    UnderWay,
    Over,
}

impl<'a, C: Cluster, K: Client + 'a> Loop<'a, C, K> {
    pub(super) fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.phase_since = self.now();
        self.record_nemesis("phase", &FaultRecord::Phase { phase });
        self.sink.flush();
    }

    /// What the phase itself has to do now, and when to look again.
    pub(super) fn dispatch_phase(&mut self) -> Option<Nanos> {
        match self.phase {
            Phase::Main => {
                self.look();
                Some(self.settings.main.min(self.next_look()))
            }
            Phase::Heal => {
                if self.acting == 0
                    && let Some(fault) = self.in_force.keys().next_back().copied()
                {
                    self.undo(fault);
                }
                None
            }
            Phase::Recover => {
                self.look();
                Some(self.recover_deadline().min(self.next_look()))
            }
            // What the final reads mean depends on what the cluster was when they had been made.
            Phase::Drain if self.drained() => {
                let since = *self.drained_at.get_or_insert(self.now());
                if self.last_look == LastLook::NotYet && !self.looking {
                    self.last_look = LastLook::UnderWay;
                    self.look_at = self.now();
                    self.last_view = View::default();
                    self.look();
                }
                Some(since.saturating_add(LAST_LOOK_TAKES))
            }
            _ => None,
        }
    }

    pub(super) fn phase_is_over(&self) -> bool {
        let stop = self.ran.interrupts > 0 || !self.ran.harness.is_empty();
        match self.phase {
            Phase::Main => stop || self.violated || self.now() >= self.settings.main,
            Phase::Heal => self.in_force.is_empty() && self.acting == 0,
            Phase::Recover => stop || self.recovered() || self.now() >= self.recover_deadline(),
            Phase::Drain => self.ran.interrupts > 1 || (self.drained() && self.has_looked_last()),
            Phase::Up | Phase::Down => true,
        }
    }

    /// Enters the next phase; false where there is none.
    pub(super) fn next_phase(&mut self) -> bool {
        match self.phase {
            Phase::Up => self.enter(Phase::Main),
            Phase::Main => self.enter(Phase::Heal),
            Phase::Heal if self.ran.interrupts > 1 => return false,
            Phase::Heal => {
                self.healthy = false;
                self.look_at = self.now();
                self.last_view = View::default();
                self.enter(Phase::Recover);
            }
            Phase::Recover => {
                if let Some(drain) = self.drain.take() {
                    self.work = drain();
                    self.work_done = false;
                }
                self.enter(Phase::Drain);
            }
            Phase::Drain | Phase::Down => return false,
        }
        true
    }

    fn drained(&self) -> bool {
        self.work_done && self.threads.all_free()
    }

    fn has_looked_last(&self) -> bool {
        let overdue = |since: Nanos| self.now() >= since.saturating_add(LAST_LOOK_TAKES);
        self.last_look == LastLook::Over || self.drained_at.is_some_and(overdue)
    }

    fn recovered(&self) -> bool {
        self.healthy && self.crew.awaited().all(|thread| self.asked[thread].answered)
    }

    fn recover_deadline(&self) -> Nanos {
        self.phase_since.saturating_add(self.settings.recover_within)
    }

    /// A look under way wakes the loop by itself.
    fn next_look(&self) -> Nanos {
        if self.looking { Nanos::MAX } else { self.look_at }
    }

    /// Often while a fault waits for what the cluster looks like.
    fn look_every(&self) -> Nanos {
        match self.phase == Phase::Main && self.schedule.wants_views() {
            true => LOOK_EVERY_CLOSELY,
            false => LOOK_EVERY,
        }
    }

    fn look(&mut self) {
        if self.looking || self.now() < self.look_at {
            return;
        }
        self.looking = true;
        let cluster = self.cluster;
        self.running.push(async move { Done::Looked { view: cluster.view().await } }.boxed_local());
    }

    pub(super) fn looked(&mut self, view: View) {
        self.looking = false;
        if self.last_look == LastLook::UnderWay {
            self.last_look = LastLook::Over;
        }
        self.look_at = self.now() + self.look_every();
        self.healthy = view.is_healthy();
        self.record_view(view);
    }
}
