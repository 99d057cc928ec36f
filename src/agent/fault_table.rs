//! One nftables table per fault, `sg_<run>_<fault>`: installed, read back, counted and removed.
//!
//! It touches no table of another name. A table looks like this:
//!
//! ```text
//! set links      { (source, destination), … }
//! chain forward  { IPv4, (source, destination) in links → dropped }   one for each hook needed
//! chain dropped  { UDP to a probe port: count, drop }  { count, drop }
//! ```
//!
//! Probes and the workload are matched by the same rule and part only to be counted, so what a probe
//! meets is what the workload meets.

use std::collections::BTreeSet;

use anyhow::{Context, bail, ensure};

use super::netlink::Socket;
use super::nftables::{
    ADDRESS_PAIR_LENGTH, BaseChain, Expressions, Family, TABLE_OWNED, TableChanges,
};
use super::protocol::{Hook, TableSupport, Tally};
use super::table_reader::{self, AddressPair};
use crate::cluster::FaultId;

/// Above the ports that kernels hand out by themselves, so that no workload is taken for a probe.
pub const PROBE_PORTS: std::ops::RangeInclusive<u16> = 61977..=61984;

const LINKS: &str = "links";
const DROPPED: &str = "dropped";

/// What a fault's table is to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub hooks: BTreeSet<Hook>,
    pub pairs: BTreeSet<AddressPair>,
}

/// A table as the kernel shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    pub name: String,
    pub owned: bool,
    pub cut: Cut,
    pub tally: Tally,
}

/// The tables of one run.
pub struct FaultTables {
    socket: Socket,
    prefix: String,
    flags: u32,
    support: TableSupport,
    closed: bool,
}

impl FaultTables {
    /// Finds out, by a table that matches nothing, what this kernel can do.
    pub fn open(run: &str) -> anyhow::Result<FaultTables> {
        let mut socket = Socket::open()?;
        let prefix = format!("sg_{run}_");
        let owned = try_table(&mut socket, &prefix, TABLE_OWNED);
        let (flags, support) = match owned {
            Ok(()) => (TABLE_OWNED, TableSupport::Owned),
            Err(error) => match try_table(&mut socket, &prefix, 0) {
                Ok(()) => (0, TableSupport::Unowned { why: format!("{error:#}") }),
                Err(error) => (0, TableSupport::Missing { why: format!("{error:#}") }),
            },
        };
        Ok(FaultTables { socket, prefix, flags, support, closed: false })
    }

    pub fn support(&self) -> &TableSupport {
        &self.support
    }

    /// From now on nothing is installed any more.
    pub fn close(&mut self) {
        self.closed = true;
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Puts a fault's table in force in one transaction, in place of an earlier one of that fault.
    pub fn install(&mut self, fault: FaultId, cut: &Cut) -> anyhow::Result<InForce> {
        ensure!(!self.closed, "the agent is ending and installs nothing more");
        if let TableSupport::Missing { why } = &self.support {
            bail!("this kernel has no nftables for bridges: {why}");
        }
        let name = self.name(fault);
        self.socket.transact(&changes(&name, self.flags, cut))?;
        self.read_back(fault, cut).inspect_err(|_| {
            // What is not as wanted must not stay; the first error is the one to tell.
            let _ = self
                .socket
                .transact(&TableChanges::new(Family::Bridge, &name).delete_table().finish());
        })
    }

    fn read_back(&mut self, fault: FaultId, cut: &Cut) -> anyhow::Result<InForce> {
        let name = self.name(fault);
        let tables = table_reader::tables(&mut self.socket, Family::Bridge, &name)?;
        let owned = *tables.get(&name).with_context(|| format!("{name} is not there"))?;
        let in_force = self.read(&name, fault, owned)?;
        ensure!(in_force.cut == *cut, "{name} is not as installed: {in_force:?}");
        ensure!(owned == (self.flags & TABLE_OWNED != 0), "{name} is not owned as installed");
        for hook in &cut.hooks {
            let rules =
                table_reader::rule_packets(&mut self.socket, Family::Bridge, &name, hook.name())?;
            ensure!(rules.len() == 1, "{name} has {} rules in {}", rules.len(), hook.name());
        }
        Ok(in_force)
    }

    /// Removes a fault's table; `None` where there was none.
    pub fn remove(&mut self, fault: FaultId) -> anyhow::Result<Option<Tally>> {
        let name = self.name(fault);
        if !table_reader::tables(&mut self.socket, Family::Bridge, &name)?.contains_key(&name) {
            return Ok(None);
        }
        let tally = self.tally(&name, fault)?;
        self.delete(&name)?;
        Ok(Some(tally))
    }

    fn delete(&mut self, name: &str) -> anyhow::Result<()> {
        self.socket.transact(&TableChanges::new(Family::Bridge, name).delete_table().finish())?;
        let left = table_reader::tables(&mut self.socket, Family::Bridge, name)?;
        ensure!(!left.contains_key(name), "{name} is still there after its deletion");
        Ok(())
    }

    /// Removes every table of the run: what each had dropped, and which could not be removed.
    pub fn heal(&mut self) -> (Vec<Tally>, Vec<String>) {
        let names = match table_reader::tables(&mut self.socket, Family::Bridge, &self.prefix) {
            Ok(names) => names,
            Err(error) => return (Vec::new(), vec![format!("tables unknown: {error:#}")]),
        };
        let (mut tallies, mut left) = (Vec::new(), Vec::new());
        for name in names.keys() {
            // A table that cannot be counted must go all the same.
            let tally = self.fault(name).map(|fault| {
                let unknown = Tally { fault, packets: 0, probes: 0 };
                self.tally(name, fault).unwrap_or(unknown)
            });
            match self.delete(name) {
                Ok(()) => tallies.extend(tally),
                Err(error) => left.push(format!("{name}: {error:#}")),
            }
        }
        (tallies, left)
    }

    pub fn in_force(&mut self) -> anyhow::Result<Vec<InForce>> {
        let tables = table_reader::tables(&mut self.socket, Family::Bridge, &self.prefix)?;
        let faults = tables.into_iter().filter_map(|(name, owned)| {
            let fault = self.fault(&name)?;
            Some((name, fault, owned))
        });
        let faults: Vec<_> = faults.collect();
        faults.into_iter().map(|(name, fault, owned)| self.read(&name, fault, owned)).collect()
    }

    pub fn tallies(&mut self) -> anyhow::Result<Vec<Tally>> {
        let tables = table_reader::tables(&mut self.socket, Family::Bridge, &self.prefix)?;
        let faults: Vec<_> =
            tables.into_keys().filter_map(|name| Some((self.fault(&name)?, name))).collect();
        faults.into_iter().map(|(fault, name)| self.tally(&name, fault)).collect()
    }

    fn read(&mut self, name: &str, fault: FaultId, owned: bool) -> anyhow::Result<InForce> {
        let hooks = table_reader::hooks(&mut self.socket, name)?;
        let pairs = table_reader::address_pairs(&mut self.socket, name, LINKS)?;
        let tally = self.tally(name, fault)?;
        Ok(InForce { name: name.to_owned(), owned, cut: Cut { hooks, pairs }, tally })
    }

    fn tally(&mut self, name: &str, fault: FaultId) -> anyhow::Result<Tally> {
        match table_reader::rule_packets(&mut self.socket, Family::Bridge, name, DROPPED)?[..] {
            [Some(probes), Some(packets)] => Ok(Tally { fault, packets, probes }),
            ref rules => bail!("{name} counts {rules:?} in {DROPPED}, expected two counters"),
        }
    }

    fn name(&self, fault: FaultId) -> String {
        format!("{}{fault}", self.prefix)
    }

    fn fault(&self, name: &str) -> Option<FaultId> {
        let number = name.strip_prefix(&self.prefix)?.strip_prefix('f')?;
        number.parse().ok().map(FaultId)
    }
}

fn try_table(socket: &mut Socket, prefix: &str, flags: u32) -> anyhow::Result<()> {
    let name = format!("{prefix}trial");
    let nothing = Cut { hooks: Hook::ALL.into(), pairs: BTreeSet::new() };
    let mut all = changes(&name, flags, &nothing);
    all.extend(TableChanges::new(Family::Bridge, &name).delete_table().finish());
    socket.transact(&all)
}

/// Makes, empties and makes again, so that an earlier table of the name is replaced in one step.
fn changes(name: &str, flags: u32, cut: &Cut) -> Vec<super::frame::Change> {
    let pairs: Vec<[u8; ADDRESS_PAIR_LENGTH]> = cut.pairs.iter().copied().map(set_key).collect();
    let (first_port, last_port) = (*PROBE_PORTS.start(), *PROBE_PORTS.end());
    let probes = Expressions::new().udp_to_ports(first_port, last_port).count().drop();
    let table = TableChanges::new(Family::Bridge, name)
        .add_table(flags)
        .delete_table()
        .add_table(flags)
        .add_address_pair_set(LINKS, &pairs)
        .add_chain(DROPPED)
        .add_rule(DROPPED, probes)
        .add_rule(DROPPED, Expressions::new().count().drop());
    let hooked = cut.hooks.iter().fold(table, |table, hook| {
        let matched = Expressions::new().ethertype_ipv4().source_and_destination_in(LINKS);
        table
            .add_base_chain(BaseChain::of_bridge(*hook))
            .add_rule(hook.name(), matched.jump(DROPPED))
    });
    hooked.finish()
}

fn set_key((from, to): AddressPair) -> [u8; ADDRESS_PAIR_LENGTH] {
    let mut key = [0; ADDRESS_PAIR_LENGTH];
    key[..4].copy_from_slice(&from.octets());
    key[4..].copy_from_slice(&to.octets());
    key
}

#[cfg(test)]
mod tests;
