//! One action of any kind, drawn so that it has something to act on.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::cluster::{
    Action, CLIENTS, Clock, Cluster, Effect, FaultId, Form, Link, Manner, MessageRule, NodeState,
    Refusal, Role, SessionPick, Side, Tap, Toxic, View,
};
use crate::duration::Span;
use crate::op::NodeName;
use crate::rng::Rng;
use crate::sim::SimCluster;

/// Where interposers stand: before every node's clients, and on every way to a leader or a peer.
pub fn taps(nodes: &[NodeName]) -> Vec<Tap> {
    let tap = |node: &NodeName| {
        let peers = [NodeName::from(CLIENTS)].into();
        let inbound = Tap { node: *node, side: Side::Inbound, port: client_port(node), peers };
        let port = if is_program(node) { 6666 } else { 2888 };
        let outbound = Tap { node: *node, side: Side::Outbound, port, peers: BTreeSet::new() };
        [inbound, outbound]
    };
    nodes.iter().flat_map(tap).collect()
}

pub fn is_program(node: &NodeName) -> bool {
    node.starts_with(Role::Kvrocks.name())
}

fn client_port(node: &NodeName) -> u16 {
    if is_program(node) { 6666 } else { 2181 }
}

/// What an action is drawn from.
pub struct Anything<'a> {
    cluster: &'a SimCluster,
    open: &'a [Action],
    fault: FaultId,
    rng: &'a mut Rng,
}

impl<'a> Anything<'a> {
    pub fn new(cluster: &'a SimCluster, open: &'a [Action], rng: &'a mut Rng) -> Self {
        let fault = FaultId(rng.below(1 << 30) as u32);
        Anything { cluster, open, fault, rng }
    }

    pub async fn action(&mut self) -> Action {
        let view = self.cluster.view().await;
        let fault = self.fault;
        // A session's end takes a quorum that nothing stands in the way of.
        let calm = self.open.is_empty() && view.is_healthy();
        // Where links are cut or nodes down there may be no connection to sever.
        let skews = |action: &Action| matches!(action, Action::Skew { .. });
        let kind = match self.rng.below(if calm { 14 } else { 9 }) {
            9..12 => 9,
            12.. => 5,
            5 if !(view.is_healthy() && self.open.iter().all(skews)) => 0,
            kind => kind,
        };
        let Some(node) = self.up(&view) else {
            let manner = self.manner();
            return Action::Cut { fault, links: self.links(&view), manner };
        };
        match kind {
            0 => Action::Cut { fault, links: self.links(&view), manner: self.manner() },
            1 => Action::Kill { node },
            2 => Action::Stop { node },
            3 => Action::Pause { node },
            4 => Action::Crash { node },
            5 => self.sever(&view, node),
            6 => {
                let bytes_per_second = *self.rng.pick(&[2_000, 20_000, 200_000]).unwrap();
                Action::Throttle { fault, links: self.links(&view), bytes_per_second }
            }
            7 => self.interpose(),
            8 => {
                let clock = *self.rng.pick(&[Clock::Wall, Clock::Monotonic]).unwrap();
                let by = *self.rng.pick(&[-3_600, -5, -1, 1, 5, 3_600]).unwrap();
                Action::Skew { node, clock, by_ns: by * 1_000_000_000 }
            }
            _ => {
                // Of a program there is none to expire.
                let node = if is_program(&node) { "zookeeper1".into() } else { node };
                Action::Expire { node, session: SessionPick::Nth(self.rng.below(7)) }
            }
        }
    }

    /// A node whose process runs and that no open action keeps down or frozen.
    fn up(&mut self, view: &View) -> Option<NodeName> {
        let kept = |name: &NodeName| {
            self.open.iter().any(|action| match action {
                Action::Kill { node } | Action::Stop { node } | Action::Pause { node } => {
                    node == name
                }
                _ => false,
            })
        };
        let up = |state| matches!(state, NodeState::Serving | NodeState::Running);
        let nodes = view.nodes.iter().filter(|(name, node)| up(node.state) && !kept(name));
        let nodes: Vec<NodeName> = nodes.map(|(name, _)| *name).collect();
        self.rng.pick(&nodes).copied()
    }

    fn names(&self) -> Vec<NodeName> {
        self.cluster.topology().names().copied().collect()
    }

    /// Some links of one node, which leads if somebody does and chance wants it.
    fn links(&mut self, view: &View) -> BTreeSet<Link> {
        let names = self.names();
        let leader = view.leaders(Role::Zookeeper).next().copied();
        let drawn = *self.rng.pick(&names).unwrap();
        let centre = leader.filter(|_| self.rng.chance(0.5)).unwrap_or(drawn);
        let mut others: Vec<NodeName> =
            names.into_iter().filter(|name| *name != centre).chain([CLIENTS.into()]).collect();
        self.rng.shuffle(&mut others);
        let count = self.rng.between(1, others.len() as u64) as usize;
        let (there, back) = *self.rng.pick(&[(true, true), (true, false), (false, true)]).unwrap();
        let mut links = BTreeSet::new();
        for other in &others[..count] {
            if there {
                links.insert(Link { from: centre, to: *other });
            }
            if back {
                links.insert(Link { from: *other, to: centre });
            }
        }
        links
    }

    fn manner(&mut self) -> Manner {
        let refusal = *self.rng.pick(&[Refusal::Drop, Refusal::Reset]).unwrap();
        let mut ports = vec![None, None, Some(2181), Some(2888), Some(3888)];
        if self.names().iter().any(is_program) {
            ports.push(Some(6666));
        }
        let port = *self.rng.pick(&ports).unwrap();
        Manner { refusal, port }
    }

    /// Connections that are there if all is well: of clients, or to the leader.
    fn sever(&mut self, view: &View, node: NodeName) -> Action {
        let leader = view.leaders(Role::Zookeeper).next().copied().filter(|leader| *leader != node);
        let leader = leader.filter(|_| !is_program(&node));
        let (other, port) = match leader.filter(|_| self.rng.chance(0.5)) {
            Some(leader) => (leader, *self.rng.pick(&[None, Some(2888)]).unwrap()),
            None => (CLIENTS.into(), *self.rng.pick(&[None, Some(client_port(&node))]).unwrap()),
        };
        Action::Sever { links: [Link { from: node, to: other }].into(), port }
    }

    fn interpose(&mut self) -> Action {
        let all = taps(&self.names());
        let tap = self.rng.pick(&all).unwrap().clone();
        let effect = match tap.port != 2888 && self.rng.chance(0.6) {
            true => Effect::Message(self.rule(tap.port)),
            false => Effect::Toxic(self.toxic()),
        };
        Action::Interpose { fault: self.fault, taps: [tap].into(), effect }
    }

    fn rule(&mut self, port: u16) -> MessageRule {
        let patterns = match port {
            2181 => ["zookeeper", "zookeeper set", "zookeeper {get,create} /a*", "zookeeper ping"],
            _ => ["resp", "resp incr", "resp {GET,INCR} a*", "resp incr neighbours"],
        };
        let pattern = *self.rng.pick(&patterns).unwrap();
        let form = *self.rng.pick(&Form::ALL).unwrap();
        let times = *self.rng.pick(&[None, Some(1), Some(3)]).unwrap();
        let delay = (form == Form::Delay).then(|| Span(Duration::from_millis(300)));
        let pattern = pattern.parse().expect("a pattern");
        MessageRule { pattern, form, nth: self.rng.between(1, 3), times, delay }
    }

    fn toxic(&mut self) -> Toxic {
        let milliseconds = |count| Span(Duration::from_millis(count));
        match self.rng.below(4) {
            0 => Toxic::Latency { delay: milliseconds(300), jitter: milliseconds(50) },
            1 => Toxic::Bandwidth { bytes_per_second: 5_000 },
            2 => Toxic::Slicer { bytes: 10, pause: milliseconds(20) },
            _ => Toxic::Reset { after_bytes: self.rng.below(3) * 500 },
        }
    }
}
