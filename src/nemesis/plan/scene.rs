//! The cluster at one moment, and how words for nodes and links are resolved in it.

use std::collections::BTreeSet;

use crate::cluster::{CLIENTS, Link, NodeState, View};
use crate::name::Name;
use crate::nemesis::cause::Cause;
use crate::nemesis::fault::Fault;
use crate::nemesis::target::{NamedLink, Party, Pick, Roster, Target};
use crate::op::NodeName;
use crate::rng::Rng;

/// What a fault finds when it fires.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    pub roster: Roster<'a>,
    pub view: &'a View,
    /// What made it begin, if it was not the clock.
    pub cause: Option<&'a Cause>,
    /// The session that owns the znode of [`Fault::office`], if there is one.
    pub session: Option<i64>,
}

pub struct Scene<'a> {
    pub roster: Roster<'a>,
    pub view: &'a View,
    pub cause: Option<&'a Cause>,
    pub fault: &'a Fault,
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
        self.roster.topology.names().copied().collect()
    }

    /// Nodes for a target, none of them in `except`; in topology order.
    pub fn resolve(
        &self,
        target: &Target,
        among: Among,
        except: &[NodeName],
        rng: &mut Rng,
    ) -> Result<Vec<NodeName>, String> {
        let meant = self.fault.pool(target, self.roster);
        let party = match target {
            Target::Cause(party) => Some(self.party(*party)?),
            _ => None,
        };
        let fits = |name: &NodeName| match &party {
            Some(party) => party.contains(name),
            None => self.plays(target, name),
        };
        let fitting: Vec<NodeName> =
            meant.iter().copied().filter(|name| fits(name) && !except.contains(name)).collect();
        if fitting.is_empty() {
            return Err(nobody(target, self.roster));
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
        match size(target, meant.len()) {
            None => Ok(pool),
            Some(0) => {
                let nodes = if meant.len() == 1 { "node has" } else { "nodes have" };
                Err(format!("{} {nodes} no {target}", meant.len()))
            }
            Some(size) => Ok(draw(&pool, size, rng)),
        }
    }

    /// Whether a node that is meant plays the part now.
    fn plays(&self, target: &Target, name: &NodeName) -> bool {
        let seen = self.view.nodes.get(name);
        match target {
            Target::Of(Pick::Leader | Pick::Master, _) => seen.is_some_and(|node| node.leads),
            Target::Of(Pick::Follower, _) => {
                seen.is_some_and(|node| node.state == NodeState::Serving && !node.leads)
            }
            Target::Clients => false,
            _ => true,
        }
    }

    /// The node, or all that could be it, that had this part in what made the fault begin.
    fn party(&self, party: Party) -> Result<Vec<NodeName>, String> {
        let name = party.name();
        let Some(cause) = self.cause else {
            return Err(format!("nothing but the clock made it begin, so there is no {name}"));
        };
        match party {
            Party::Sender => {
                let sender = cause.sender.map(|sender| vec![sender]);
                sender.ok_or_else(|| format!("no node sent it: {}", cause.by))
            }
            Party::Receiver | Party::Seen => {
                let node = cause.node.map(|node| vec![node]);
                node.ok_or_else(|| format!("it was seen at no node: {}", cause.by))
            }
            Party::Bystander => Ok(self.bystanders(cause)),
        }
    }

    fn bystanders(&self, cause: &Cause) -> Vec<NodeName> {
        let role = cause.node.and_then(|node| self.roster.role_of(&node));
        let is_none = |name: &NodeName| {
            Some(*name) != cause.node
                && Some(*name) != cause.sender
                && self.roster.role_of(name) == role
                && self.view.nodes.get(name).is_some_and(|seen| seen.leads)
        };
        self.names().into_iter().filter(is_none).collect()
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
        Target::Of(Pick::One | Pick::Follower | Pick::Master, _)
        | Target::Cause(Party::Bystander) => Some(1),
        Target::Of(Pick::Minority, _) => Some(count.div_ceil(2).saturating_sub(1)),
        Target::Of(Pick::Majority, _) => Some(count / 2 + 1),
        Target::Of(Pick::All | Pick::Leader, _)
        | Target::Cause(_)
        | Target::Clients
        | Target::Node(_) => None,
    }
}

/// How much choice a target leaves, least first.
fn choice(target: &Target) -> u8 {
    match target {
        Target::Clients | Target::Node(_) | Target::Cause(_) | Target::Of(Pick::Leader, _) => 0,
        Target::Of(Pick::Follower | Pick::Master, _) => 1,
        Target::Of(Pick::One, _) => 2,
        Target::Of(Pick::Minority | Pick::Majority, _) => 3,
        Target::Of(Pick::All, _) => 4,
    }
}

fn nobody(target: &Target, roster: Roster) -> String {
    match target {
        Target::Of(Pick::Leader | Pick::Master, role) => {
            let role = role.unwrap_or(roster.leader);
            let claim = if role.elects() { "claims to lead" } else { "claims to be a master" };
            format!("no {role} node {claim} now")
        }
        Target::Of(Pick::Follower, role) => {
            let role = role.unwrap_or(roster.leader);
            let part = if role.elects() { "follower" } else { "replica" };
            format!("no {role} node serves as a {part} now")
        }
        Target::Cause(Party::Bystander) => "every master has a part in the message".into(),
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
