//! Draws a script from a seed: few names, so that requests meet.

mod request;

use std::time::Duration;

use stormglass::cluster::{CreateMode, Watch};
use stormglass::rng::Rng;

use super::{Change, Place, RESIDENTS, Request, Script, Server, Slot, Step, TREE, Version, Victim};

/// Seats of sessions that come and go.
const VISITORS: [Slot; 2] = [3, 4];
/// The seat of sessions that are made to expire.
const DOOMED: Slot = 5;

/// Long enough to outlast any fault of a script.
const LONG: Duration = Duration::from_secs(30);
/// More than any server grants.
const TOO_LONG: Duration = Duration::from_secs(200);
/// Short, so that its expiry can be awaited.
const SHORT: Duration = Duration::from_secs(2);

/// Changed only while a session expires.
const WATCHED: &str = "/t/watched";

struct Draw {
    rng: Rng,
    /// Seats taken now.
    open: Vec<Slot>,
    steps: Vec<Step>,
}

/// A script of about this many steps, with a fault of each kind.
pub fn generate(seed: u64, length: usize) -> Script {
    let rng = Rng::from_seed(seed).fork("script");
    let mut draw = Draw { rng, open: Vec::new(), steps: Vec::new() };
    for slot in RESIDENTS {
        draw.open(slot, Server::Numbered(slot), LONG);
    }
    let kills = [Victim::Leader, Victim::Follower].map(Fault::Kill);
    let mut faults = [kills[0], kills[1], Fault::Expiry, Fault::Lag, Fault::Lag];
    draw.rng.shuffle(&mut faults);
    for fault in faults {
        for _ in 0..length / (faults.len() + 1) {
            draw.step();
        }
        match fault {
            Fault::Kill(victim) => draw.kill(victim),
            Fault::Expiry => draw.expiry(),
            Fault::Lag => draw.lag(),
        }
    }
    while draw.steps.len() < length {
        draw.step();
    }
    Script { seed, steps: draw.steps }
}

#[derive(Clone, Copy)]
enum Fault {
    Kill(Victim),
    Expiry,
    Lag,
}

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound as u64) as usize
    }

    fn open(&mut self, slot: Slot, server: Server, timeout: Duration) {
        self.open.push(slot);
        self.steps.push(Step::Open { slot, server, timeout });
    }

    fn anyone(&mut self) -> Slot {
        let index = self.below(self.open.len());
        self.open[index]
    }

    fn step(&mut self) {
        let slot = self.anyone();
        match self.below(100) {
            0..8 => self.visit(),
            8..16 => {
                let request = self.read();
                self.steps.push(Step::Certain { slot, request });
            }
            16..32 => {
                let request = if self.rng.chance(0.2) { self.sync() } else { self.read() };
                self.steps.push(Step::Local { slot, request });
            }
            32..50 => {
                let watch = [Watch::Data, Watch::Children][self.below(2)];
                let place = if self.rng.chance(0.5) { self.named() } else { self.place() };
                self.steps.push(Step::Watch { slot, place, watch });
            }
            50..54 => {
                let count = 2 + self.below(5);
                let requests = (0..count).map(|_| self.any_request()).collect();
                self.steps.push(Step::Burst { slot, requests });
            }
            54..70 => {
                let (request, reader, read) = (self.write(), self.anyone(), self.read());
                self.steps.push(Step::Chased { slot, request, reader, read });
            }
            _ => {
                let request = self.write();
                self.steps.push(Step::Certain { slot, request });
            }
        }
    }

    /// A visitor comes or goes.
    fn visit(&mut self) {
        let slot = VISITORS[self.below(VISITORS.len())];
        match self.open.iter().position(|open| *open == slot) {
            Some(position) => {
                self.open.remove(position);
                self.steps.push(Step::Close { slot });
            }
            None => {
                let server = Server::Numbered(self.below(RESIDENTS.len()));
                let timeout = if self.rng.chance(0.3) { TOO_LONG } else { LONG };
                self.open(slot, server, timeout);
            }
        }
    }

    /// A session comes, leaves ephemeral znodes and watches, and expires.
    fn expiry(&mut self) {
        let slot = DOOMED;
        self.steps.push(Step::Open { slot, server: Server::Follower, timeout: SHORT });
        for _ in 0..3 {
            let mode = [CreateMode::Ephemeral, CreateMode::EphemeralSequential][self.below(2)];
            let create = self.create_as(mode);
            self.steps.push(Step::Certain { slot, request: Request::Change(create) });
            let (watcher, place) = (self.anyone(), Place::Existing(self.below(40)));
            self.steps.push(Step::Watch { slot: watcher, place, watch: Watch::Data });
        }
        let place = Place::Named("/t/a".to_owned());
        self.steps.push(Step::Watch { slot, place, watch: Watch::Data });
        // The change must not touch what the expiry removes.
        let place = Place::Named(WATCHED.to_owned());
        let create =
            Change::Create { place: place.clone(), data: vec![], mode: CreateMode::Persistent };
        self.steps.push(Step::Certain { slot: RESIDENTS[0], request: Request::Change(create) });
        let meanwhile = self.watched_change(place);
        self.steps.push(Step::Expire { slot, meanwhile });
    }

    fn kill(&mut self, victim: Victim) {
        let place = match self.below(3) {
            0 => Place::Existing(self.below(40)),
            _ => self.lasting(),
        };
        let meanwhile = self.watched_change(place);
        self.steps.push(Step::Kill { victim, meanwhile });
    }

    /// A change that every session waits for in its own way, also those that will miss it.
    ///
    /// A second change might hide it from a session that comes back late, so it is the only one.
    fn watched_change(&mut self, place: Place) -> Change {
        for slot in self.open.clone() {
            let watch = [Watch::Data, Watch::Children][self.below(2)];
            let place =
                if self.rng.chance(0.2) { Place::Named(TREE.to_owned()) } else { place.clone() };
            self.steps.push(Step::Watch { slot, place, watch });
        }
        match self.below(3) {
            0 => Change::Create { place, data: self.data(), mode: CreateMode::Persistent },
            1 => Change::Set { place, data: self.data(), version: Version::Right(0) },
            _ => Change::Delete { place, version: Version::Any },
        }
    }

    /// A reader that lags behind a change of all that it can read.
    fn lag(&mut self) {
        let data = self.data();
        let place = self.lasting();
        let create = Change::Create {
            place: place.clone(),
            data: data.clone(),
            mode: CreateMode::Persistent,
        };
        let slot = self.anyone();
        self.steps.push(Step::Certain { slot, request: Request::Change(create) });
        let set = Change::Set { place: place.clone(), data, version: Version::Any };
        let reads = vec![Request::Get(place), self.read(), self.read(), self.read()];
        self.steps.push(Step::Lag { request: Request::Change(set), reads });
    }
}
