//! Tables that refuse with RST, in the nodes' own namespaces: one for each fault and node.
//!
//! Each is owned by a socket that was opened in the namespace and lives here, so it goes with the agent;
//! and with the namespace, if its container ends.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use anyhow::{Context, ensure};

use super::fault_table::{Cut, FaultTables, InForce};
use super::namespace::Inside;
use super::protocol::Tally;
use crate::cluster::FaultId;
use crate::op::NodeName;

pub struct Refusals {
    run: String,
    at: BTreeMap<NodeName, FaultTables>,
    closed: bool,
}

impl Refusals {
    pub fn new(run: &str) -> Refusals {
        Refusals { run: run.to_owned(), at: BTreeMap::new(), closed: false }
    }

    /// From now on nothing is installed any more.
    pub fn close(&mut self) {
        self.closed = true;
        self.at.values_mut().for_each(FaultTables::close);
    }

    /// Puts a fault's tables in force at these nodes, or at none; in place of earlier ones of that fault.
    pub fn install(
        &mut self,
        fault: FaultId,
        cuts: &BTreeMap<NodeName, (&Inside, Cut)>,
    ) -> anyhow::Result<Vec<(NodeName, InForce)>> {
        ensure!(!self.closed, "the agent is ending and installs nothing more");
        for (node, tables) in &mut self.at {
            if !cuts.contains_key(node) {
                tables.remove(fault)?;
            }
        }
        let installed = cuts.iter().map(|(node, (inside, cut))| {
            let in_force = self.tables(node, inside)?.install(fault, cut);
            Ok((*node, in_force.with_context(|| format!("refuse at {node}"))?))
        });
        let installed: anyhow::Result<Vec<_>> = installed.collect();
        installed.inspect_err(|_| {
            // The first error is the one to tell.
            let _ = self.remove(fault);
        })
    }

    fn tables(&mut self, node: &NodeName, inside: &Inside) -> anyhow::Result<&mut FaultTables> {
        Ok(match self.at.entry(*node) {
            Entry::Occupied(tables) => tables.into_mut(),
            Entry::Vacant(place) => {
                ensure!(inside.namespace().is_some(), "{node} is no node: its place is the host's");
                let run = self.run.clone();
                let opened = inside.run(move || FaultTables::open_refusing(&run));
                place.insert(opened.with_context(|| format!("refuse at {node}"))?)
            }
        })
    }

    /// Removes a fault's tables everywhere; what they refused, `None` where there were none.
    pub fn remove(&mut self, fault: FaultId) -> anyhow::Result<Option<Tally>> {
        let removed: Vec<_> = self.at.values_mut().map(|tables| tables.remove(fault)).collect();
        let tallies: anyhow::Result<Vec<Option<Tally>>> = removed.into_iter().collect();
        Ok(Tally::summed(tallies?.into_iter().flatten().collect()).pop())
    }

    /// Removes all of them: what each fault's refused, and which could not be removed.
    pub fn heal(&mut self) -> (Vec<Tally>, Vec<String>) {
        let healed = self.at.iter_mut().map(|(node, tables)| (node, tables.heal()));
        let (mut tallies, mut left) = (Vec::new(), Vec::new());
        for (node, (refused, still)) in healed {
            tallies.extend(refused);
            left.extend(still.into_iter().map(|why| format!("{node}: {why}")));
        }
        (tallies, left)
    }

    /// Removes also what an agent before this one left at a node.
    pub fn sweep(&mut self, node: &NodeName, inside: &Inside) -> anyhow::Result<Vec<String>> {
        Ok(self.tables(node, inside)?.heal().1)
    }

    pub fn in_force(&mut self) -> anyhow::Result<Vec<(NodeName, InForce)>> {
        let mut all = Vec::new();
        for (node, tables) in &mut self.at {
            all.extend(tables.in_force()?.into_iter().map(|table| (*node, table)));
        }
        Ok(all)
    }

    pub fn tallies(&mut self) -> anyhow::Result<Vec<Tally>> {
        let tallies: anyhow::Result<Vec<Vec<Tally>>> =
            self.at.values_mut().map(FaultTables::tallies).collect();
        Ok(tallies?.concat())
    }

    /// How many probes were refused at these two ends of a link so far.
    pub fn probes_at(&mut self, ends: [&NodeName; 2]) -> anyhow::Result<u64> {
        let mut probes = 0;
        for node in ends {
            if let Some(tables) = self.at.get_mut(node) {
                probes += tables.tallies()?.iter().map(|tally| tally.probes).sum::<u64>();
            }
        }
        Ok(probes)
    }
}
