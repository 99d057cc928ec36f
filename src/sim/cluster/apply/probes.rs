//! Probe packets over links and through interposers, and what is expected of them.

use std::time::Duration;

use super::super::SimCluster;
use crate::cluster::{Check, Link, Refusal};
use crate::op::{MILLISECOND, Nanos};
use crate::sim::network::{ProbeFate, Route};

/// Longer than any packet is under way on a link that passes at once.
const PROBE_LIMIT: Nanos = 10 * MILLISECOND;
/// How long a probe is waited for that stands in a queue.
const QUEUE_LIMIT: Nanos = 30_000 * MILLISECOND;
/// What a probe carries where its size does not matter.
const SMALL_BYTES: u64 = 64;

/// A probe to be sent.
pub(super) struct Errand {
    link: Link,
    port: Option<u16>,
    route: Route,
}

impl SimCluster {
    /// A probe of this size, as a caller of this port; `None`: of one that no rule names.
    pub(super) fn errand(
        &self,
        link: &Link,
        port: Option<u16>,
        bytes: Option<u64>,
    ) -> anyhow::Result<Errand> {
        let (from, to) = (self.host(&link.from)?, self.host(&link.to)?);
        anyhow::ensure!(from != to, "a link needs two nodes, `{link}` has one");
        let route = Route { from, to, port, bytes: bytes.unwrap_or(SMALL_BYTES) };
        Ok(Errand { link: link.clone(), port, route })
    }

    /// Sends all these probes and sees whether each comes out as it is meant to.
    pub(super) async fn probe(&self, errands: &[Errand]) -> Vec<Check> {
        let send = |errand: &Errand| self.world.with(|world| world.probe(errand.route));
        let expected: Vec<Expected> = errands.iter().map(|errand| self.expected(errand)).collect();
        let sent: Vec<usize> = errands.iter().map(send).collect();
        let fate = |probe: usize| self.world.with(|world| world.network.probe_fate(probe));
        tokio::time::sleep(Duration::from_nanos(PROBE_LIMIT)).await;
        let mut waited = PROBE_LIMIT;
        let late = |(probe, expected): (&usize, &Expected)| {
            expected.passes() && fate(*probe) == ProbeFate::Missing
        };
        while waited < QUEUE_LIMIT && sent.iter().zip(&expected).any(late) {
            tokio::time::sleep(Duration::from_nanos(PROBE_LIMIT)).await;
            waited += PROBE_LIMIT;
        }
        let checks = errands.iter().zip(expected).zip(sent);
        checks.map(|((errand, expected), probe)| expected.check(errand, fate(probe))).collect()
    }

    /// Probes of these ports that do not pass at once.
    #[cfg(test)]
    pub(in crate::sim::cluster) async fn impassable(
        &self,
        link: &Link,
        ports: &std::collections::BTreeSet<u16>,
    ) -> Vec<String> {
        let ports = ports.iter().map(|port| Some(*port)).chain([None]);
        let errands: Vec<Errand> =
            ports.map(|port| self.errand(link, port, None).expect("two hosts")).collect();
        let checks = self.probe(&errands).await;
        let failed = checks.iter().filter(|check| check.seen != "passes");
        failed.map(|check| format!("{}: {}", check.what, check.seen)).collect()
    }

    fn expected(&self, errand: &Errand) -> Expected {
        let Errand { link, port, route } = errand;
        let intents = self.intents.borrow();
        if let Some((fault, refusal)) = intents.blocked_by(link, *port) {
            return match refusal {
                Refusal::Drop => Expected::Blocked(format!("blocked by {fault}")),
                Refusal::Reset => Expected::Refused(format!("refused by {fault}")),
            };
        }
        match intents.least_delay(link, *port, route.bytes) {
            0 => Expected::Prompt,
            least => Expected::Late(least),
        }
    }
}

enum Expected {
    Blocked(String),
    Refused(String),
    Prompt,
    /// After at least so long.
    Late(Nanos),
}

impl Expected {
    fn passes(&self) -> bool {
        matches!(self, Expected::Prompt | Expected::Late(_))
    }

    fn check(self, errand: &Errand, fate: ProbeFate) -> Check {
        let port = errand.port.map_or(String::new(), |port| format!(":{port}"));
        let holds = match (&self, fate) {
            (Expected::Blocked(_), ProbeFate::Missing)
            | (Expected::Refused(_), ProbeFate::Refused) => true,
            (Expected::Prompt, ProbeFate::Passed(took)) => took < PROBE_LIMIT,
            (Expected::Late(least), ProbeFate::Passed(took)) => took >= *least,
            _ => false,
        };
        let seen = match fate {
            ProbeFate::Missing => "blocked".to_owned(),
            ProbeFate::Refused => "refused".to_owned(),
            ProbeFate::Passed(took) => match self {
                Expected::Prompt if took < PROBE_LIMIT => "passes".to_owned(),
                Expected::Blocked(_) | Expected::Refused(_) => "passes".to_owned(),
                _ => shown(took, errand.route.bytes),
            },
        };
        let expected = match self {
            Expected::Blocked(by) | Expected::Refused(by) => by,
            Expected::Prompt => "passes".to_owned(),
            Expected::Late(least) => format!("at least {}", shown(least, errand.route.bytes)),
        };
        Check { what: format!("{}{port}", errand.link), expected, seen, holds }
    }
}

fn shown(took: Nanos, bytes: u64) -> String {
    format!("{:.1} ms for {bytes} B", took as f64 / MILLISECOND as f64)
}
