//! Partitions: who is on which side, and the links between the sides.

use std::collections::BTreeSet;

use super::Plan;
use super::scene::{Among, Scene, both_ways, draw};
use crate::cluster::{Action, FaultId, Link, Manner};
use crate::nemesis::fault::{Fault, Shape, Traffic};
use crate::op::NodeName;
use crate::rng::Rng;

/// The nodes singled out, and what is cut.
type Sides = (Vec<NodeName>, BTreeSet<Link>);

pub fn plan(fault: &Fault, id: FaultId, scene: &Scene, rng: &mut Rng) -> Result<Plan, String> {
    let shape = fault.shape.ok_or("the partition has no `shape`")?;
    let names = scene.names();
    let (targets, links) = match (shape, &fault.link) {
        (Shape::Link, Some(link)) => scene.resolve_link(link, rng)?,
        (Shape::Link, None) => return Err("the partition has no `link`".into()),
        (Shape::MajoritiesRing, _) => majorities_ring(names, rng),
        (Shape::Bridge, _) => bridge(names, rng),
        _ => {
            let inside = inside(shape, fault, scene, rng)?;
            let links = cut_off(&inside, shape == Shape::OneWay, fault.traffic, scene);
            (inside, links)
        }
    };
    if links.is_empty() {
        let count = scene.names().len();
        let nodes = if count == 1 { "node" } else { "nodes" };
        return Err(format!("a partition of {count} {nodes} has nobody on one side"));
    }
    let manner = Manner { refusal: fault.refusal.unwrap_or_default(), port: fault.port };
    Ok(Plan { targets, actions: vec![Action::Cut { fault: id, links, manner }] })
}

/// The side that is singled out.
fn inside(
    shape: Shape,
    fault: &Fault,
    scene: &Scene,
    rng: &mut Rng,
) -> Result<Vec<NodeName>, String> {
    let names = scene.names();
    let count = names.len();
    let size = match shape {
        Shape::Halves => count / 2 + (rng.below(2) as usize) * (count % 2),
        Shape::MajorityMinority => count.div_ceil(2).saturating_sub(1),
        Shape::MinorityThird => (count / 3).max(1),
        Shape::Random => {
            let size = 1 + rng.below(count.saturating_sub(1) as u64) as usize;
            size.min(count - size.min(count)).max(1)
        }
        _ => return scene.resolve(fault.aimed_at()?, Among::Any, &[], rng),
    };
    Ok(draw(&names, size, rng))
}

fn cut_off(
    inside: &[NodeName],
    one_way: bool,
    traffic: Option<Traffic>,
    scene: &Scene,
) -> BTreeSet<Link> {
    let traffic = traffic.unwrap_or_default();
    let mut links = BTreeSet::new();
    if traffic != Traffic::Clients {
        links.extend(scene.links_of(inside));
    }
    if traffic != Traffic::Nodes {
        links.extend(scene.links_to_clients(inside));
    }
    if one_way {
        links.retain(|link| inside.contains(&link.to));
    }
    links
}

/// Each node hears a window of the shuffled ring that is a smallest majority with itself in the
/// middle, as Jepsen defines it. Of an even window the two halves differ, so links may be cut one way.
fn majorities_ring(mut ring: Vec<NodeName>, rng: &mut Rng) -> Sides {
    let names = ring.clone();
    rng.shuffle(&mut ring);
    let count = ring.len();
    let majority = count / 2 + 1;
    let mut links = BTreeSet::new();
    for first in 0..count {
        let hearer = ring[(first + majority / 2) % count];
        let unheard = (majority..count).map(|step| ring[(first + step) % count]);
        links.extend(unheard.map(|from| Link { from, to: hearer }));
    }
    (names, links)
}

/// Two halves without a link, but for one node that belongs to both.
fn bridge(names: Vec<NodeName>, rng: &mut Rng) -> Sides {
    let mut shuffled = names.clone();
    rng.shuffle(&mut shuffled);
    let (one, others) = shuffled.split_at(names.len().saturating_sub(1) / 2);
    let links = both_ways(one, others.get(1..).unwrap_or_default());
    (names.iter().copied().filter(|name| one.contains(name)).collect(), links)
}
