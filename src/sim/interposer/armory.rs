//! What interposers are armed with: which requests that concerns, counted at each node for itself.

use std::collections::BTreeMap;

use super::Line;
use crate::cluster::{Concerning, Form, MessageRule, Protocol};
use crate::sim::network::Place;

/// A rule at work.
#[derive(Debug)]
struct Armed {
    by: Concerning,
    places: Vec<Place>,
    rule: MessageRule,
    /// By the node where the interposer stands.
    matched: BTreeMap<usize, u64>,
    hit: u64,
}

impl Armed {
    fn is(&self, by: Concerning, rule: &MessageRule) -> bool {
        self.by == by && self.rule == *rule
    }

    /// Where it stands on this line.
    fn place(&self, line: &Line) -> Option<&Place> {
        self.places.iter().find(|place| place.concerns(line.hosts, line.port))
    }

    /// Counts a match and tells its number if it is one of those to be hit.
    fn counts(&mut self, at: usize) -> Option<u64> {
        let matched = self.matched.entry(at).or_insert(0);
        *matched += 1;
        let nth = *matched;
        let after = nth.checked_sub(self.rule.nth.max(1))?;
        self.rule.times.is_none_or(|times| after < times).then(|| {
            self.hit += 1;
            nth
        })
    }
}

/// A request that a rule takes.
#[derive(Clone, Debug)]
pub struct Taken {
    pub by: Concerning,
    pub rule: MessageRule,
    pub nth: u64,
    /// The node where the interposer stands.
    pub at: usize,
}

#[derive(Debug, Default)]
pub struct Armory {
    armed: Vec<Armed>,
}

impl Armory {
    pub fn is_empty(&self) -> bool {
        self.armed.is_empty()
    }

    pub fn arm(&mut self, by: Concerning, places: Vec<Place>, rule: MessageRule) -> bool {
        if self.armed.iter().any(|it| it.is(by, &rule) && it.places == places) {
            return false;
        }
        self.armed.push(Armed { by, places, rule, matched: BTreeMap::new(), hit: 0 });
        true
    }

    pub fn is_armed_at(&self, by: Concerning, rule: &MessageRule, place: &Place) -> bool {
        self.armed.iter().any(|it| it.is(by, rule) && it.places.contains(place))
    }

    pub fn is_armed(&self, by: Concerning) -> bool {
        self.armed.iter().any(|it| it.by == by)
    }

    /// The rule is gone; how many messages it hit.
    pub fn disarm(&mut self, by: Concerning, rule: &MessageRule, places: &[Place]) -> Option<u64> {
        let its = |it: &Armed| it.is(by, rule) && it.places == places;
        let position = self.armed.iter().position(its)?;
        Some(self.armed.remove(position).hit)
    }

    pub fn forget_lookouts(&mut self) {
        self.armed.retain(|armed| matches!(armed.by, Concerning::Fault(_)));
    }

    /// At which node the interposer stands that this rule arms on a line. Of a rule that is gone: at the
    /// one that is called.
    pub fn stands_at(&self, by: Concerning, line: &Line) -> usize {
        let its = self.armed.iter().filter(|it| it.by == by);
        let place = its.filter_map(|it| it.place(line)).next();
        place.map_or(line.hosts[1], |place| place.at)
    }

    /// The protocol that rules expect on a line, where there are any.
    pub fn expected(&self, line: &Line) -> Option<Protocol> {
        let here = self.armed.iter().find(|it| it.place(line).is_some());
        here.map(|armed| armed.rule.pattern.protocol)
    }

    /// Counts a request with these words. Those who just watch come first; of all others the first
    /// takes it, as what one rule does to a message no other one can do again.
    pub fn judge(&mut self, line: &Line, protocol: Protocol, words: &[&str]) -> Vec<Taken> {
        let (mut watched, mut taken) = (Vec::new(), None);
        for armed in &mut self.armed {
            let Some(at) = armed.place(line).map(|place| place.at) else { continue };
            let pattern = &armed.rule.pattern;
            if pattern.protocol != protocol || !pattern.matches(words.iter().copied()) {
                continue;
            }
            let Some(nth) = armed.counts(at) else { continue };
            let it = Taken { by: armed.by, rule: armed.rule.clone(), nth, at };
            match it.rule.form {
                Form::Watch => watched.push(it),
                _ if taken.is_none() => taken = Some(it),
                _ => {}
            }
        }
        watched.extend(taken);
        watched
    }
}
