//! What programs ask of the world beside the network: sleep, clocks, a disk, a log, chance; how they
//! begin and end.

use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::{Home, World};
use crate::op::{MILLISECOND, Nanos, SECOND};
use crate::reference::host::Disk;
use crate::rng::Rng;
use crate::sim::event::Event;
use crate::sim::program::Program;

/// Even the shortest sleep takes this long, so that who sleeps again and again lets time pass.
const SLEEP_LEAST: Nanos = MILLISECOND / 1_000;
/// No simulation lasts so long.
const FOR_EVER: Nanos = 1_000_000_000 * SECOND;

/// A task of a program that sleeps.
#[derive(Default)]
pub(super) struct Sleeper {
    is_over: bool,
    waker: Option<Waker>,
}

impl World {
    /// A program has been loaded: it is to begin as soon as somebody can run it.
    pub(super) fn bear(&mut self, node: u8) {
        if let Some(pid) = self.pid(node) {
            self.born.push(Home { node, pid });
        }
    }

    /// Programs that are to begin now.
    pub(super) fn take_born(&mut self) -> Vec<(Home, Program)> {
        let born = std::mem::take(&mut self.born).into_iter();
        let program = |home: Home| self.nodes[home.node as usize].resident.program.clone();
        born.filter_map(|home| program(home).map(|program| (home, program))).collect()
    }

    /// A program has ended by itself, and what it said then.
    pub(super) fn end_program(&mut self, home: Home, last_words: String) {
        if self.pid(home.node) == Some(home.pid) {
            self.note(&last_words);
            self.kill(home.node);
            self.nodes[home.node as usize].last_words = Some(last_words);
        }
    }

    /// What the node's last process said when it ended by itself.
    pub fn last_words(&self, node: u8) -> Option<&str> {
        self.nodes[node as usize].last_words.as_deref()
    }

    /// Something of this process is still to be settled with ZooKeeper.
    pub fn has_sessions(&self, node: u8) -> bool {
        let of_node = |home: Home| home.node == node;
        self.clients.values().any(|guest| guest.home.is_some_and(of_node))
    }

    /// Begins a sleep of so much time of the node's own clock.
    pub fn fall_asleep(&mut self, home: Home, time: Nanos) -> u64 {
        self.next_sleeper += 1;
        let (sleep, Home { node, pid }) = (self.next_sleeper, home);
        self.sleepers.insert(sleep, Sleeper::default());
        let clock = &self.nodes[node as usize].clock;
        clock.read_monotonic(self.now);
        if time < FOR_EVER {
            let at = self.now + clock.virtual_duration(time.max(SLEEP_LEAST));
            self.agenda.push(at, Event::Sleep { node, pid, sleep });
        }
        sleep
    }

    pub fn poll_sleep(&mut self, sleep: u64, context: &Context) -> Poll<()> {
        match self.sleepers.get_mut(&sleep) {
            Some(sleeper) if !sleeper.is_over => {
                sleeper.waker = Some(context.waker().clone());
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }

    pub(super) fn wake_sleeper(&mut self, sleep: u64) {
        let Some(sleeper) = self.sleepers.get_mut(&sleep) else { return };
        sleeper.is_over = true;
        if let Some(waker) = sleeper.waker.take() {
            waker.wake();
        }
    }

    pub fn forget_sleep(&mut self, sleep: u64) {
        self.sleepers.remove(&sleep);
    }

    pub fn read_wall_ms(&self, node: u8) -> i64 {
        self.nodes[node as usize].clock.read_wall_ms(self.now)
    }

    pub fn read_monotonic(&self, node: u8) -> Nanos {
        self.nodes[node as usize].clock.read_monotonic(self.now)
    }

    pub fn disk(&self, node: u8) -> Rc<dyn Disk> {
        Rc::clone(&self.nodes[node as usize].disk) as Rc<dyn Disk>
    }

    /// A program has written a line, which is told if anybody looks out for it.
    pub fn log(&mut self, node: u8, line: &str) {
        if self.trace.is_some() {
            let name = self.nodes[node as usize].resident.name;
            self.note(&format_args!("{name}: {line}"));
        }
        if self.sightings.hears(node) {
            self.sightings.line(self.now, node, line);
        }
    }

    /// Chance for one purpose of one process.
    pub fn chance(&self, node: u8, purpose: &str) -> Rng {
        let node = &self.nodes[node as usize];
        self.programs_rng.fork(&format!("{}/{}/{purpose}", node.resident.name, node.starts))
    }
}
