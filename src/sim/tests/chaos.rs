//! Random faults for soak tests: they come, overlap and go.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use super::anything::Anything;
use crate::cluster::{Action, Applied, Cluster, FaultId, Link, Role};
use crate::op::NodeName;
use crate::rng::Rng;
use crate::sim::SimCluster;

/// Inflicts faults until the time is over, then takes back all that is left.
pub async fn rage(cluster: Rc<SimCluster>, mut rng: Rng, span: Duration, first_fault: u32) {
    let end = tokio::time::Instant::now() + span;
    let mut fault = first_fault;
    while tokio::time::Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(rng.between(100, 2_000))).await;
        fault += 1;
        let actions = plan(&cluster, &mut rng, FaultId(fault)).await;
        for action in &actions {
            cluster.apply(action).await.unwrap();
        }
        let longest = *rng.pick(&[300, 3_000, 6_000]).unwrap_or(&300);
        tokio::time::sleep(Duration::from_millis(rng.between(50, longest))).await;
        for action in actions.iter().rev() {
            cluster.apply(&action.undo().unwrap()).await.unwrap();
        }
    }
}

/// The same with every kind of action, one after the other.
pub async fn rage_in_every_way(cluster: Rc<SimCluster>, mut rng: Rng, span: Duration) {
    let end = tokio::time::Instant::now() + span;
    while tokio::time::Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(rng.between(100, 2_000))).await;
        let action = Anything::new(&cluster, &[], &mut rng).action().await;
        let applied = cluster.apply(&action).await.unwrap();
        let longest = *rng.pick(&[300, 3_000, 6_000]).unwrap_or(&300);
        tokio::time::sleep(Duration::from_millis(rng.between(50, longest))).await;
        if let (Applied::Installed { .. }, Some(undo)) = (applied, action.undo()) {
            cluster.apply(&undo).await.unwrap();
        }
    }
}

async fn plan(cluster: &SimCluster, rng: &mut Rng, fault: FaultId) -> Vec<Action> {
    let mut names: Vec<NodeName> = cluster.topology().names().cloned().collect();
    let leader = cluster.view().await.leaders(Role::Zookeeper).next().cloned();
    rng.shuffle(&mut names);
    // Leaders make the best victims.
    if let Some(leader) = leader
        && rng.chance(0.5)
    {
        names.retain(|name| *name != leader);
        names.insert(0, leader);
    }
    let victims = match rng.below(4) {
        0 => names.len(),
        1 => names.len() / 2 + 1,
        _ => 1,
    };
    let victims = &names[..victims];
    match rng.below(8) {
        0..3 => vec![Action::Cut { fault, links: halves(&names, rng), manner: Default::default() }],
        3..6 => victims.iter().map(|node| Action::Kill { node: *node }).collect(),
        _ => victims[..1].iter().map(|node| Action::Pause { node: *node }).collect(),
    }
}

/// Cuts the first so many from the rest, sometimes in one direction only.
fn halves(names: &[NodeName], rng: &mut Rng) -> BTreeSet<Link> {
    let inside = rng.between(1, names.len() as u64 - 1) as usize;
    let (there, back) = *rng.pick(&[(true, true), (true, false), (false, true)]).unwrap();
    let mut links = BTreeSet::new();
    for from in &names[..inside] {
        for to in &names[inside..] {
            if there {
                links.insert(Link { from: *from, to: *to });
            }
            if back {
                links.insert(Link { from: *to, to: *from });
            }
        }
    }
    links
}

/// Starts and thaws whatever two ragers left down or frozen between them.
pub async fn calm(cluster: &SimCluster) {
    for node in cluster.topology().names().cloned().collect::<Vec<_>>() {
        cluster.apply(&Action::Resume { node }).await.unwrap();
        cluster.apply(&Action::Start { node }).await.unwrap();
    }
}
