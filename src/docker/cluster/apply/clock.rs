//! Clocks moved and put right again, proven by reading the clocks of all nodes before and after.
//!
//! How far a node's clocks are to be off is kept here, since a process that starts anew has true ones.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::try_join_all;
use tokio::time::Instant;

use super::{POLL, crash, judged, skipped, state};
use crate::agent::protocol::{ClockReport, Offsets, ProcessClock, Shown};
use crate::cluster::{Applied, Check, Clock, Proof};
use crate::docker::cluster::{DockerCluster, DockerNode};
use crate::docker::node;
use crate::op::NodeName;

const READ_WITHIN: Duration = Duration::from_secs(5);

/// What the clocks of each node show; nodes that are down or frozen cannot be asked.
type Readings = BTreeMap<NodeName, ClockReport>;

pub(super) async fn skew(
    cluster: &DockerCluster,
    node: &DockerNode,
    clock: Clock,
    by_ns: i64,
) -> anyhow::Result<Applied> {
    let Some(pid) = asked(cluster, node).await? else { return skipped(node, "is down or paused") };
    let old = wanted(cluster, node);
    let new = moved(old, clock, by_ns);
    if new.monotonic_ns < 0 {
        return skipped(
            node,
            "'s monotonic clock cannot be set back: no clock of that kind ever goes",
        );
    }
    let before = read(cluster).await?;
    want(cluster, node, new);
    if let Err(error) = cluster.agent.skew_clock(pid, new).await {
        want(cluster, node, old);
        return Err(error);
    }
    let after = read(cluster).await?;
    Ok(judged(compare(&before, &after, (&node.name, clock, by_ns)), None))
}

pub(super) async fn unskew(
    cluster: &DockerCluster,
    node: &DockerNode,
    clock: Clock,
    by_ns: i64,
) -> anyhow::Result<Applied> {
    let old = wanted(cluster, node);
    if of(old, clock) == 0 {
        return skipped(node, &format!("has a {clock} clock that is not moved"));
    }
    let new = moved(old, clock, by_ns.saturating_neg());
    let Some(pid) = asked(cluster, node).await? else {
        if state(cluster, node).await?.paused == Some(true) {
            return skipped(node, "is paused, so its clocks cannot be changed");
        }
        want(cluster, node, new);
        // No process has it any more, and none will.
        return Ok(judged(vec![check_offsets(&node.name, new, None)], None));
    };
    let before = read(cluster).await?;
    let falsified = before.get(&node.name).map(|report| calls(report, clock));
    want(cluster, node, new);
    let mut checks = match clock {
        Clock::Wall => put_right(cluster, node, pid, new).await?,
        // What a process has seen of this clock cannot be taken back, only the process.
        Clock::Monotonic => restart(cluster, node).await?,
    };
    let after = read(cluster).await?;
    if clock == Clock::Monotonic {
        checks.push(check_offsets(&node.name, new, after.get(&node.name)));
    }
    checks.extend(compare(&before, &after, (&node.name, clock, by_ns.saturating_neg())));
    Ok(judged(checks, falsified))
}

/// Gives a process that has just been started the clocks that its node should have.
pub(super) async fn again(
    cluster: &DockerCluster,
    node: &DockerNode,
) -> anyhow::Result<Option<Check>> {
    let offsets = wanted(cluster, node);
    if offsets == Offsets::default() {
        return Ok(None);
    }
    let Some(pid) = asked(cluster, node).await? else { return Ok(None) };
    let report = cluster.agent.skew_clock(pid, offsets).await?;
    Ok(Some(check_offsets(&node.name, offsets, Some(&report))))
}

async fn put_right(
    cluster: &DockerCluster,
    node: &DockerNode,
    pid: u32,
    new: Offsets,
) -> anyhow::Result<Vec<Check>> {
    if new != Offsets::default() {
        let report = cluster.agent.skew_clock(pid, new).await?;
        return Ok(vec![check_offsets(&node.name, new, Some(&report))]);
    }
    let report = cluster.agent.heal_clock(pid).await?;
    let detoured = report.processes.iter().filter(|process| process.detoured).count();
    let gone = Check {
        what: format!("{} detours", node.name),
        expected: "none".to_owned(),
        seen: if detoured == 0 { "none".to_owned() } else { format!("in {detoured} processes") },
        holds: detoured == 0,
    };
    Ok(vec![check_offsets(&node.name, new, Some(&report)), gone])
}

/// The whole container: its supervisor, too, has a clock that cannot go back.
async fn restart(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<Vec<Check>> {
    Ok(match crash::by_engine(cluster, node).await? {
        Applied::Installed { proof: Proof { checks, .. } }
        | Applied::Indeterminate { proof: Some(Proof { checks, .. }), .. } => checks,
        Applied::Skipped { why } | Applied::Indeterminate { why, proof: None } => vec![Check {
            what: format!("{} restart", node.name),
            expected: "another process".to_owned(),
            seen: why,
            holds: false,
        }],
    })
}

fn wanted(cluster: &DockerCluster, node: &DockerNode) -> Offsets {
    cluster.offsets.borrow().get(&node.name).copied().unwrap_or_default()
}

fn want(cluster: &DockerCluster, node: &DockerNode, offsets: Offsets) {
    cluster.offsets.borrow_mut().insert(node.name, offsets);
}

fn moved(offsets: Offsets, clock: Clock, by_ns: i64) -> Offsets {
    let Offsets { wall_ns, monotonic_ns } = offsets;
    match clock {
        Clock::Wall => Offsets { wall_ns: wall_ns.saturating_add(by_ns), monotonic_ns },
        Clock::Monotonic => Offsets { wall_ns, monotonic_ns: monotonic_ns.saturating_add(by_ns) },
    }
}

fn of(offsets: Offsets, clock: Clock) -> i64 {
    match clock {
        Clock::Wall => offsets.wall_ns,
        Clock::Monotonic => offsets.monotonic_ns,
    }
}

fn calls(report: &ClockReport, clock: Clock) -> u64 {
    let calls = |process: &ProcessClock| match clock {
        Clock::Wall => process.wall_calls,
        Clock::Monotonic => process.monotonic_calls,
    };
    report.processes.iter().map(calls).sum()
}

/// The container's first process, if its clocks can be asked and changed.
async fn asked(cluster: &DockerCluster, node: &DockerNode) -> anyhow::Result<Option<u32>> {
    let state = state(cluster, node).await?;
    Ok(node::pid(&state).filter(|_| state.paused != Some(true)))
}

async fn read(cluster: &DockerCluster) -> anyhow::Result<Readings> {
    let reading = cluster.nodes.iter().map(|node| async move {
        let deadline = Instant::now() + READ_WITHIN;
        loop {
            let Some(pid) = asked(cluster, node).await? else { return Ok(None) };
            match cluster.agent.read_clock(pid).await {
                Ok(report) => return anyhow::Ok(Some((node.name, report))),
                // It may be just starting or ending: between two programs, a process has no clocks.
                Err(_) if Instant::now() < deadline => tokio::time::sleep(POLL).await,
                Err(error) => return Err(error),
            }
        }
    });
    Ok(try_join_all(reading).await?.into_iter().flatten().collect())
}

fn check_offsets(name: &NodeName, expected: Offsets, report: Option<&ClockReport>) -> Check {
    let told = |offsets: Offsets| {
        let Offsets { wall_ns, monotonic_ns } = offsets;
        format!("wall {}, monotonic {}", seconds(wall_ns), seconds(monotonic_ns))
    };
    let shown = report
        .and_then(|report| report.processes.iter().find(|process| !process.shown.agrees(expected)));
    let seen = match (report, shown.map(|process| &process.shown)) {
        (None, _) => "no process to show any".to_owned(),
        (Some(_), None) => told(expected),
        (Some(_), Some(Shown::Read { offsets, .. })) => told(*offsets),
        (Some(_), Some(Shown::Unread { why })) => why.clone(),
    };
    Check {
        what: format!("{name} clocks"),
        expected: told(expected),
        seen,
        holds: report.is_none_or(|report| report.shows(expected)),
    }
}

/// One clock of one node must have moved by so much, and no other one at any node.
///
/// A process that was started in between is judged by itself elsewhere.
fn compare(
    before: &Readings,
    after: &Readings,
    (node, clock, by_ns): (&NodeName, Clock, i64),
) -> Vec<Check> {
    let mut checks = Vec::new();
    for (name, now) in after {
        let Some(then) = before.get(name) else { continue };
        for which in [Clock::Wall, Clock::Monotonic] {
            let expected = if name == node && which == clock { by_ns } else { 0 };
            let moves: Vec<Move> = moves(then, now, which);
            let Some(worst) = moves.iter().max_by_key(|one| one.by_ns.abs_diff(expected)) else {
                continue;
            };
            checks.push(Check {
                what: format!("{name} {which} clock"),
                expected: seconds(expected),
                seen: format!("{} (±{} µs)", seconds(worst.by_ns), worst.error_ns.div_ceil(1000)),
                holds: worst.by_ns.abs_diff(expected) <= worst.error_ns,
            });
        }
    }
    checks
}

/// By how much a process's clock moved between two readings, and how exactly that is known.
struct Move {
    by_ns: i64,
    error_ns: u64,
}

fn moves(then: &ClockReport, now: &ClockReport, clock: Clock) -> Vec<Move> {
    let moves = now.processes.iter().filter_map(|process| {
        let is_same =
            |old: &&ProcessClock| (old.pid, old.start_ticks) == (process.pid, process.start_ticks);
        let old = then.processes.iter().find(is_same)?;
        let (
            Shown::Read { offsets: from, error_ns: one },
            Shown::Read { offsets: to, error_ns: two },
        ) = (&old.shown, &process.shown)
        else {
            return None;
        };
        let by_ns = of(*to, clock).saturating_sub(of(*from, clock));
        Some(Move { by_ns, error_ns: one.saturating_add(*two) })
    });
    moves.collect()
}

fn seconds(ns: i64) -> String {
    format!("{:+.6} s", ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(pid: u32, wall_ns: i64) -> ClockReport {
        let offsets = Offsets { wall_ns, monotonic_ns: 0 };
        let process = ProcessClock {
            pid,
            start_ticks: 7,
            comm: "java".to_owned(),
            detoured: true,
            ordered: offsets,
            shown: Shown::Read { offsets, error_ns: 1_000 },
            wall_calls: 3,
            monotonic_calls: 4,
        };
        ClockReport { processes: vec![process], took_us: 1 }
    }

    fn readings(walls: [i64; 2]) -> Readings {
        let [one, two] = walls;
        BTreeMap::from([("n1".into(), report(1, one)), ("n2".into(), report(2, two))])
    }

    fn failed(after: [i64; 2]) -> Vec<String> {
        let (before, node) = (readings([500, -500]), "n1".into());
        let checks = compare(&before, &readings(after), (&node, Clock::Wall, 1_000_000));
        assert_eq!(checks.len(), 4);
        checks.into_iter().filter(|check| !check.holds).map(|check| check.what).collect()
    }

    #[test]
    fn one_clock_must_move_by_what_was_asked_and_no_other() {
        assert_eq!(failed([1_001_000, 300]), Vec::<String>::new());
        assert_eq!(failed([500, -500]), ["n1 wall clock"]);
        assert_eq!(failed([1_004_000, -500]), ["n1 wall clock"]);
        assert_eq!(failed([1_000_500, 999_500]), ["n2 wall clock"]);
    }

    #[test]
    fn offsets_are_summed_by_clock() {
        let wall = moved(Offsets::default(), Clock::Wall, 5);
        let both = moved(wall, Clock::Monotonic, 7);
        assert_eq!((of(both, Clock::Wall), of(both, Clock::Monotonic)), (5, 7));
        assert_eq!(moved(both, Clock::Wall, -5), Offsets { wall_ns: 0, monotonic_ns: 7 });
        assert!(check_offsets(&"n1".into(), wall, Some(&report(1, 5))).holds);
        assert!(!check_offsets(&"n1".into(), wall, Some(&report(1, 5_000))).holds);
    }
}
