//! Interposers placed, armed and disarmed, proven by their rules and by connections through them.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, ensure};

use super::judged;
use crate::agent::protocol::{Passed, TapProbe, TapState};
use crate::cluster::{
    Ability, Applied, CLIENTS, Check, Concerning, Effect, FaultId, Form, Link, Mechanism,
    MessageRule, Needs, Sight, Tap, Topology,
};
use crate::docker::agent::Agent;
use crate::docker::cluster::DockerCluster;
use crate::op::NodeName;

/// How long a connection through an interposer may take to reach the server.
const PROBE_BOUND: Duration = Duration::from_millis(500);

/// The taps that stand before services start: those of connections from one service to another. Members
/// of one find each other better without.
pub(in crate::docker::cluster) fn early(needs: &Needs, topology: &Topology) -> BTreeSet<Tap> {
    let mut taps = wanted(needs);
    taps.retain(|tap| {
        let role = topology.node(&tap.node).map(|node| node.role);
        role.is_some_and(|role| !role.peer_ports().contains(&tap.port))
    });
    taps
}

fn wanted(needs: &Needs) -> BTreeSet<Tap> {
    let mut wanted = needs.taps.clone();
    for lookout in &needs.lookouts {
        if let Sight::Message { taps, .. } = &lookout.sight {
            wanted.extend(taps.iter().cloned());
        }
    }
    wanted
}

/// Places interposers at these taps, beside those that are there.
pub(in crate::docker::cluster) async fn place(
    agent: &Agent,
    lacks: &[Ability],
    taps: BTreeSet<Tap>,
) -> anyhow::Result<()> {
    // Where redirection does not act, the faults that need it are left out.
    if taps.is_empty() || lacks.iter().any(|lack| lack.mechanism == Mechanism::Redirect) {
        return Ok(());
    }
    for state in agent.tap(taps).await.context("place the interposers")? {
        let (rules, wanted) = (state.rules, state.wanted);
        ensure!(
            state.is_in_force(),
            "{} rules of {wanted} redirect {} to its interposer",
            rules,
            state.tap
        );
    }
    Ok(())
}

/// Places the interposers that faults need, and has them look out for messages.
///
/// It must be done before anybody connects: the kernel redirects new connections only.
pub(in crate::docker::cluster) async fn prepare(
    cluster: &DockerCluster,
    needs: &Needs,
) -> anyhow::Result<()> {
    if cluster.lacks.iter().any(|lack| lack.mechanism == Mechanism::Redirect) {
        return Ok(());
    }
    place(&cluster.agent, &cluster.lacks, wanted(needs)).await?;
    for lookout in &needs.lookouts {
        let Sight::Message { taps, pattern } = &lookout.sight else { continue };
        let rule = MessageRule {
            pattern: pattern.clone(),
            form: Form::Watch,
            nth: 1,
            times: None,
            delay: None,
        };
        let (concerning, effect) = (Concerning::Lookout(lookout.id), Effect::Message(rule));
        let armed = cluster.agent.arm(concerning, taps.clone(), effect).await;
        armed.with_context(|| format!("look out for `{pattern}`"))?;
    }
    Ok(())
}

pub(super) async fn interpose(
    cluster: &DockerCluster,
    fault: FaultId,
    taps: &BTreeSet<Tap>,
    effect: &Effect,
) -> anyhow::Result<Applied> {
    if taps.is_empty() {
        return Ok(Applied::Skipped { why: "there is no link to stand in".to_owned() });
    }
    // In place from the start; where not, connections to come pass it.
    cluster.agent.tap(taps.clone()).await?;
    cluster.agent.arm(Concerning::Fault(fault), taps.clone(), effect.clone()).await?;
    Ok(judged(probes(cluster, taps).await?, None))
}

pub(super) async fn withdraw(
    cluster: &DockerCluster,
    fault: FaultId,
    taps: &BTreeSet<Tap>,
) -> anyhow::Result<Applied> {
    let spent = cluster.agent.disarm(Concerning::Fault(fault)).await?;
    let mut checks = vec![Check {
        what: format!("rule of {fault}"),
        expected: "armed until now".to_owned(),
        seen: match spent {
            Some(spent) => format!(
                "armed until now: {} of {} matches hit, {} connections released, {} unreadable",
                spent.hits, spent.matches, spent.released, spent.unparsed
            ),
            None => "gone already".to_owned(),
        },
        holds: spent.is_some(),
    }];
    checks.extend(probes(cluster, taps).await?);
    Ok(judged(checks, spent.map(|spent| spent.hits)))
}

/// Each tap's rules and, where some link to it is open, a connection through it.
async fn probes(cluster: &DockerCluster, taps: &BTreeSet<Tap>) -> anyhow::Result<Vec<Check>> {
    let mut checks = Vec::new();
    for tap in taps {
        match other_end(cluster, tap) {
            Some(with) => {
                let probe = cluster.agent.probe_tap(tap.clone(), with, PROBE_BOUND).await?;
                checks.push(rules(&probe.state));
                checks.push(passage(&probe));
            }
            // Every link is cut by another fault: only the rules can be looked at.
            None => {
                let states = cluster.agent.tap(BTreeSet::from([tap.clone()])).await?;
                checks.extend(states.iter().map(rules));
            }
        }
    }
    Ok(checks)
}

fn rules(state: &TapState) -> Check {
    Check {
        what: format!("redirection of {}", state.tap),
        expected: format!("{} rules", state.wanted),
        seen: format!("{} rules in {}", state.rules, state.table),
        holds: state.is_in_force(),
    }
}

fn passage(probe: &TapProbe) -> Check {
    let seen = match &probe.passed {
        Passed::Through { .. } => "through its interposer to the server".to_owned(),
        Passed::Refused => "through its interposer, refused by the server's end".to_owned(),
        Passed::Unanswered => "through its interposer, no answer from the server's end".to_owned(),
        Passed::Around => "past its interposer".to_owned(),
        Passed::Failed { error } => error.clone(),
    };
    Check {
        what: format!("a connection of {} with {}", probe.state.tap, probe.with),
        expected: "through its interposer".to_owned(),
        seen,
        holds: probe.passed.is_tapped(),
    }
}

/// Somebody whose connections a tap leads to its interposer, over links that are open.
fn other_end(cluster: &DockerCluster, tap: &Tap) -> Option<NodeName> {
    let clients: NodeName = crate::name::Name::from(CLIENTS);
    let everybody = || cluster.nodes.iter().map(|node| node.name).chain([clients]);
    let candidates: Vec<NodeName> = match tap.peers.is_empty() {
        // The host is tried first: no namespace has to be entered from it.
        true => std::iter::once(clients).chain(everybody()).collect(),
        false => tap.peers.iter().copied().collect(),
    };
    let cuts = cluster.cuts.borrow();
    candidates.into_iter().filter(|other| *other != tap.node).find(|other| {
        let is_open = |from: NodeName, to: NodeName| !cuts.is_cut(&Link { from, to });
        is_open(*other, tap.node) && is_open(tap.node, *other)
    })
}
