//! Draws one request: names, versions and data.

use stormglass::cluster::CreateMode;

use super::Draw;
use crate::differential::script::{Change, Place, Request, Version};

const NAMES: [&str; 7] = ["/t/a", "/t/b", "/t/a/x", "/t/a/y", "/t/b/x", "/t/a/x/z", "/t/c"];
const PREFIXES: [&str; 5] = ["/t/n-", "/t/a/n-", "/t/b/n-", "/t/a/x/n-", "/t/a/"];
const WRONG: [&str; 4] = ["", "t/a", "/t//a", "/t/a/../b"];

const MODES: [CreateMode; 4] = [
    CreateMode::Persistent,
    CreateMode::Ephemeral,
    CreateMode::PersistentSequential,
    CreateMode::EphemeralSequential,
];

impl Draw {
    /// A znode that can always be created.
    pub(super) fn lasting(&mut self) -> Place {
        Place::Named(["/t/a", "/t/b", "/t/c"][self.below(3)].to_owned())
    }

    pub(super) fn named(&mut self) -> Place {
        Place::Named((*self.rng.pick(&NAMES).expect("names")).to_owned())
    }

    pub(super) fn place(&mut self) -> Place {
        match self.below(20) {
            0..10 => self.named(),
            10..12 => {
                let prefix = *self.rng.pick(&PREFIXES).expect("prefixes");
                Place::Named(format!("{prefix}{:010}", self.below(6)))
            }
            _ => Place::Existing(self.below(40)),
        }
    }

    /// One in thirty has a form that no server takes.
    pub(super) fn place_or_wrong(&mut self) -> Place {
        if self.below(30) > 0 {
            return self.place();
        }
        Place::Named((*self.rng.pick(&WRONG).expect("wrong paths")).to_owned())
    }

    pub(super) fn version(&mut self) -> Version {
        match self.below(10) {
            0..3 => Version::Any,
            3..8 => Version::Right(0),
            8 => Version::Right(1),
            _ => Version::Exactly(self.below(3) as i32),
        }
    }

    pub(super) fn data(&mut self) -> Vec<u8> {
        let length = self.below(4);
        (0..length).map(|_| b'0' + self.below(10) as u8).collect()
    }

    pub(super) fn create(&mut self) -> Change {
        let mode = match self.below(10) {
            0..5 => MODES[0],
            5..7 => MODES[1],
            7 => MODES[2],
            _ => MODES[3],
        };
        self.create_as(mode)
    }

    pub(super) fn create_as(&mut self, mode: CreateMode) -> Change {
        let place = if mode.is_sequential() {
            Place::Named((*self.rng.pick(&PREFIXES).expect("prefixes")).to_owned())
        } else {
            self.place_or_wrong()
        };
        Change::Create { place, data: self.data(), mode }
    }

    pub(super) fn change(&mut self) -> Change {
        match self.below(10) {
            0..5 => self.create(),
            5..8 => {
                let (place, version) = (self.place_or_wrong(), self.version());
                Change::Set { place, data: self.data(), version }
            }
            _ => Change::Delete { place: self.place_or_wrong(), version: self.version() },
        }
    }

    pub(super) fn part(&mut self) -> Change {
        if self.rng.chance(0.25) {
            return Change::Check { place: self.place(), version: self.version() };
        }
        self.change()
    }

    pub(super) fn write(&mut self) -> Request {
        if self.rng.chance(0.7) {
            return Request::Change(self.change());
        }
        let count = self.below(5);
        Request::Multi((0..count).map(|_| self.part()).collect())
    }

    pub(super) fn read(&mut self) -> Request {
        let place = self.place();
        match self.below(3) {
            0 => Request::Get(place),
            1 => Request::Exists(place),
            _ => Request::Children(place),
        }
    }

    pub(super) fn sync(&mut self) -> Request {
        Request::Sync(self.place())
    }

    pub(super) fn any_request(&mut self) -> Request {
        match self.below(10) {
            0..6 => self.write(),
            6..9 => self.read(),
            _ => self.sync(),
        }
    }
}
