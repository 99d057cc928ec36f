//! What is looked out for, prepared before a run begins, and what has been seen.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::task::Poll;

use anyhow::Context;
use regex::Regex;

use super::SimCluster;
use super::apply::watching;
use crate::cluster::{Concerning, Lookout, Needs, Observed, Side, Sight, Tap};
use crate::sim::network::Place;
use crate::sim::sightings::LineLookout;

impl SimCluster {
    /// Puts idle interposers in place and looks out for exactly what is asked.
    pub(super) fn make_ready(&self, needs: &Needs) -> anyhow::Result<()> {
        let mut lines = Vec::new();
        let mut watches = Vec::new();
        let mut standing = needs.taps.clone();
        for Lookout { id, sight } in &needs.lookouts {
            match sight {
                Sight::Log { nodes, pattern } => {
                    let index = |name| self.index(name);
                    let nodes = nodes.iter().map(|name| index(name)).collect::<Result<_, _>>()?;
                    let pattern = Regex::new(pattern).with_context(|| {
                        format!("`{pattern}` is no regular expression for a log line")
                    })?;
                    lines.push(LineLookout { id: *id, nodes, pattern });
                }
                Sight::Message { taps, pattern } => {
                    self.ensure_spoken(taps, pattern)?;
                    let concerning = Concerning::Lookout(*id);
                    watches.push((concerning, self.places(taps)?, watching(pattern)));
                    standing.extend(taps.iter().cloned());
                }
            }
        }
        let places = self.places(&standing)?;
        *self.standing.borrow_mut() = standing;
        self.world.with(|world| {
            world.sightings.look_out(lines);
            world.interposer.stand(places);
            world.interposer.forget_lookouts();
            for (concerning, places, rule) in watches {
                world.interposer.arm(concerning, places, rule);
            }
        });
        Ok(())
    }

    /// Waits for the next thing seen.
    pub(super) async fn next_sighting(&self) -> Observed {
        let next = poll_fn(|context| {
            self.world.with(|world| match world.sightings.next(context.waker()) {
                Some(sighting) => Poll::Ready(sighting),
                None => Poll::Pending,
            })
        });
        let sighting = next.await;
        Observed {
            concerning: sighting.concerning,
            node: self.topology.nodes[sighting.node as usize].name,
            what: sighting.what,
            message: sighting.message,
            age_us: self.world.now().saturating_sub(sighting.at) / 1_000,
        }
    }

    pub(super) fn places(&self, taps: &BTreeSet<Tap>) -> anyhow::Result<Vec<Place>> {
        taps.iter().map(|tap| self.place(tap)).collect()
    }

    /// The connections that lead through a tap.
    pub(super) fn place(&self, tap: &Tap) -> anyhow::Result<Place> {
        for peer in &tap.peers {
            self.host(peer)?;
        }
        let at = usize::from(self.index(&tap.node)?);
        let node = vec![at];
        let peers: Vec<usize> =
            self.peers(tap).iter().map(|peer| self.host(peer)).collect::<Result<_, _>>()?;
        let port = tap.port;
        Ok(match tap.side {
            Side::Inbound => Place { at, callers: peers, callees: node, port },
            Side::Outbound => Place { at, callers: node, callees: peers, port },
        })
    }
}
