//! One action of any kind on a real cluster, drawn so that it has something to act on.

use std::collections::BTreeSet;
use std::time::Duration;

use stormglass::cluster::{
    Action, CLIENTS, Clock, Effect, FaultId, Form, Link, Manner, MessageRule, NodeState, Refusal,
    Role, SessionPick, Side, Tap, Toxic, View,
};
use stormglass::duration::Span;
use stormglass::op::NodeName;
use stormglass::rng::Rng;

/// Where interposers stand: before every server's clients, and on every way to a leader.
pub fn taps(nodes: &[NodeName]) -> BTreeSet<Tap> {
    let tap = |node: &NodeName, side, port| Tap { node: *node, side, port, peers: BTreeSet::new() };
    let of = |node| [tap(node, Side::Inbound, 2181), tap(node, Side::Outbound, 2888)];
    nodes.iter().flat_map(of).collect()
}

/// The kinds that are drawn, by the name of their action.
pub const KINDS: [&str; 10] =
    ["cut", "kill", "stop", "pause", "crash", "sever", "throttle", "interpose", "skew", "expire"];

/// What an action is drawn from.
pub struct Anything<'a> {
    pub nodes: &'a [NodeName],
    pub view: &'a View,
    pub fault: FaultId,
    pub rng: &'a mut Rng,
}

impl Anything<'_> {
    /// An action of this kind; `None` where nothing could be acted on now.
    pub fn of_kind(&mut self, kind: &str) -> Option<Action> {
        let fault = self.fault;
        Some(match kind {
            "cut" => Action::Cut { fault, links: self.links(), manner: self.manner() },
            "kill" => Action::Kill { node: self.running()? },
            "stop" => Action::Stop { node: self.running()? },
            "pause" => Action::Pause { node: self.running()? },
            "crash" => Action::Crash { node: self.running()? },
            "sever" => self.sever()?,
            "throttle" => {
                let bytes_per_second = *self.rng.pick(&[20_000, 100_000, 1_000_000])?;
                Action::Throttle { fault, links: self.node_links(), bytes_per_second }
            }
            "interpose" => self.interpose(),
            "skew" => {
                let clock = *self.rng.pick(&[Clock::Wall, Clock::Wall, Clock::Monotonic])?;
                // A monotonic clock never runs back.
                let choices: &[i64] = match clock {
                    Clock::Wall => &[-3_600, -5, 5, 3_600],
                    Clock::Monotonic => &[5, 3_600],
                };
                let by_ns = self.rng.pick(choices)? * 1_000_000_000;
                Action::Skew { node: self.running()?, clock, by_ns }
            }
            _ => Action::Expire {
                node: self.serving()?,
                session: SessionPick::Nth(self.rng.below(7)),
            },
        })
    }

    fn running(&mut self) -> Option<NodeName> {
        self.in_state(|state| matches!(state, NodeState::Serving | NodeState::Running))
    }

    fn serving(&mut self) -> Option<NodeName> {
        self.in_state(|state| state == NodeState::Serving)
    }

    fn in_state(&mut self, fits: impl Fn(NodeState) -> bool) -> Option<NodeName> {
        let fitting = self.view.nodes.iter().filter(|(_, node)| fits(node.state));
        let fitting: Vec<NodeName> = fitting.map(|(name, _)| *name).collect();
        self.rng.pick(&fitting).copied()
    }

    /// One node's links to the others and sometimes to the clients, in one or both directions.
    fn links(&mut self) -> BTreeSet<Link> {
        let mut links = self.node_links();
        if self.rng.chance(0.4) {
            let (node, clients) = (self.nodes[0], NodeName::from(CLIENTS));
            links.insert(Link { from: clients, to: node });
            links.insert(Link { from: node, to: clients });
        }
        links
    }

    fn node_links(&mut self) -> BTreeSet<Link> {
        let centre = self.nodes[self.rng.below(self.nodes.len() as u64) as usize];
        let others = self.nodes.iter().filter(|name| **name != centre);
        let both_ways = self.rng.chance(0.7);
        let there = others.clone().map(|other| Link { from: *other, to: centre });
        let back = others.filter(|_| both_ways).map(|other| Link { from: centre, to: *other });
        there.chain(back).collect()
    }

    fn manner(&mut self) -> Manner {
        let refusal = if self.rng.chance(0.3) { Refusal::Reset } else { Refusal::Drop };
        let port = self.rng.chance(0.3).then_some(2888);
        Manner { refusal, port }
    }

    /// Connections that are there as long as all is well.
    fn sever(&mut self) -> Option<Action> {
        let leader = self.view.leaders(Role::Zookeeper).next().copied()?;
        let serving = self.serving()?;
        let (other, port) = match serving == leader {
            true => (CLIENTS.into(), 2181),
            false => (leader, 2888),
        };
        let links = [Link { from: serving, to: other }, Link { from: other, to: serving }];
        Some(Action::Sever { links: links.into(), port: self.rng.chance(0.5).then_some(port) })
    }

    fn interpose(&mut self) -> Action {
        let all: Vec<Tap> = taps(self.nodes).into_iter().collect();
        let tap = all[self.rng.below(all.len() as u64) as usize].clone();
        let effect = match tap.port == 2181 && self.rng.chance(0.6) {
            true => Effect::Message(self.rule()),
            false => Effect::Toxic(self.toxic()),
        };
        Action::Interpose { fault: self.fault, taps: [tap].into(), effect }
    }

    fn rule(&mut self) -> MessageRule {
        let form = Form::ALL[self.rng.below(Form::ALL.len() as u64) as usize];
        let delay = (form == Form::Delay).then(|| Span(Duration::from_millis(200)));
        let pattern = "zookeeper set /*".parse().expect("a pattern");
        MessageRule { pattern, form, nth: 1, times: Some(2), delay }
    }

    fn toxic(&mut self) -> Toxic {
        let milliseconds = |count| Span(Duration::from_millis(count));
        match self.rng.below(3) {
            0 => Toxic::Latency { delay: milliseconds(50), jitter: milliseconds(10) },
            1 => Toxic::Bandwidth { bytes_per_second: 50_000 },
            _ => Toxic::Slicer { bytes: 20, pause: milliseconds(1) },
        }
    }
}
