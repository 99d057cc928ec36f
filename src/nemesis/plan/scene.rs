//! The cluster at one moment, and how words for nodes and links are resolved in it.

use std::collections::BTreeSet;

use crate::cluster::{CLIENTS, Link, NodeState, Topology, View};
use crate::name::Name;
use crate::nemesis::target::{NamedLink, Target};
use crate::op::NodeName;
use crate::rng::Rng;

pub struct Scene<'a> {
    pub topology: &'a Topology,
    pub view: &'a View,
}

/// Which nodes may be picked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Among {
    Any,
    /// Neither down nor paused.
    Up,
    /// As `Up`, unless that leaves nobody.
    UpIfAny,
}

impl Scene<'_> {
    pub fn names(&self) -> Vec<NodeName> {
        self.topology.names().copied().collect()
    }

    /// Nodes for a target, none of them in `except`; in topology order.
    pub fn resolve(
        &self,
        target: &Target,
        among: Among,
        except: &[NodeName],
        rng: &mut Rng,
    ) -> Result<Vec<NodeName>, String> {
        let all = self.names();
        let fitting = |name: &NodeName| self.fits(target, name) && !except.contains(name);
        let fitting: Vec<NodeName> = all.iter().copied().filter(fitting).collect();
        if fitting.is_empty() {
            return Err(nobody(target));
        }
        let mut pool: Vec<NodeName> = match among {
            Among::Any => fitting.clone(),
            Among::Up | Among::UpIfAny => {
                fitting.iter().copied().filter(|name| self.is_up(name)).collect()
            }
        };
        if pool.is_empty() && among == Among::UpIfAny {
            pool.clone_from(&fitting);
        }
        if pool.is_empty() {
            let verb = if fitting.len() == 1 { "is" } else { "are" };
            return Err(format!("{} {verb} down or paused already", fitting.join(", ")));
        }
        match size(target, all.len()) {
            None => Ok(pool),
            Some(0) => Err(format!("{} nodes have no {target}", all.len())),
            Some(size) => Ok(draw(&pool, size, rng)),
        }
    }

    fn fits(&self, target: &Target, name: &NodeName) -> bool {
        let seen = self.view.nodes.get(name);
        match target {
            Target::All | Target::One | Target::Minority | Target::Majority => true,
            Target::Leader => seen.is_some_and(|node| node.leads),
            Target::Follower => {
                seen.is_some_and(|node| node.state == NodeState::Serving && !node.leads)
            }
            Target::Clients => false,
            Target::Role(role) => self.topology.node(name).is_some_and(|node| node.role == *role),
            Target::Node(wanted) => **name == **wanted,
        }
    }

    fn is_up(&self, name: &NodeName) -> bool {
        let is_down = |state| matches!(state, NodeState::Down | NodeState::Paused);
        !self.view.nodes.get(name).is_some_and(|node| is_down(node.state))
    }

    /// The ends of a named link and the links between them; no node is at both ends.
    ///
    /// The end that leaves less choice is resolved first: in `one->leader`, `one` is another node.
    pub fn resolve_link(
        &self,
        link: &NamedLink,
        rng: &mut Rng,
    ) -> Result<(Vec<NodeName>, BTreeSet<Link>), String> {
        let (from, to) = if choice(&link.to) < choice(&link.from) {
            let to = self.end(&link.to, &[], rng)?;
            (self.end(&link.from, &to, rng)?, to)
        } else {
            let from = self.end(&link.from, &[], rng)?;
            let to = self.end(&link.to, &from, rng)?;
            (from, to)
        };
        let mut links = BTreeSet::new();
        for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to))) {
            links.insert(Link { from, to });
            if link.both_ways {
                links.insert(Link { from: to, to: from });
            }
        }
        let targets = if link.from == Target::Clients { to } else { from };
        Ok((targets, links))
    }

    fn end(
        &self,
        target: &Target,
        except: &[NodeName],
        rng: &mut Rng,
    ) -> Result<Vec<NodeName>, String> {
        match target {
            Target::Clients => Ok(vec![clients()]),
            target => self.resolve(target, Among::Any, except, rng),
        }
    }

    /// All links between these nodes and the others, both ways.
    pub fn links_of(&self, targets: &[NodeName]) -> BTreeSet<Link> {
        let others = self.names().into_iter().filter(|name| !targets.contains(name));
        both_ways(targets, &others.collect::<Vec<_>>())
    }

    /// All links between these nodes and the clients, both ways.
    pub fn links_to_clients(&self, targets: &[NodeName]) -> BTreeSet<Link> {
        both_ways(targets, &[clients()])
    }
}

pub fn clients() -> NodeName {
    Name::from(CLIENTS)
}

pub fn both_ways(some: &[NodeName], others: &[NodeName]) -> BTreeSet<Link> {
    let pair = |one: &NodeName, other: &NodeName| {
        [Link { from: *one, to: *other }, Link { from: *other, to: *one }]
    };
    some.iter().flat_map(|one| others.iter().flat_map(move |other| pair(one, other))).collect()
}

/// How many nodes a target picks of so many; `None`: all that fit.
fn size(target: &Target, count: usize) -> Option<usize> {
    match target {
        Target::One | Target::Follower => Some(1),
        Target::Minority => Some(count.div_ceil(2).saturating_sub(1)),
        Target::Majority => Some(count / 2 + 1),
        Target::All | Target::Leader | Target::Clients | Target::Role(_) | Target::Node(_) => None,
    }
}

/// How much choice a target leaves, least first.
fn choice(target: &Target) -> u8 {
    match target {
        Target::Clients | Target::Node(_) | Target::Leader => 0,
        Target::Follower => 1,
        Target::One => 2,
        Target::Minority | Target::Majority => 3,
        Target::Role(_) | Target::All => 4,
    }
}

fn nobody(target: &Target) -> String {
    match target {
        Target::Leader => "no node claims to lead now".into(),
        Target::Follower => "no node serves as a follower now".into(),
        other => format!("no node fits the target `{other}`"),
    }
}

/// A random subset of this size, or all where there are fewer; in the order given.
pub fn draw(names: &[NodeName], size: usize, rng: &mut Rng) -> Vec<NodeName> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    rng.shuffle(&mut order);
    order.truncate(size);
    order.sort_unstable();
    order.into_iter().map(|position| names[position]).collect()
}
