//! One nftables table per fault, `sg_<run>_<fault>`: installed, read back, counted and removed.
//!
//! It touches no table of another name. A table looks like this:
//!
//! ```text
//! set links      { (source, destination), … }
//! chain forward  { IPv4, (source, destination) in links, … → dropped }   one for each hook needed
//! chain dropped  { a probe: count, drop }  { count, drop }
//! ```
//!
//! Probes and the workload are matched by the same rule and part only to be counted, so what a probe
//! meets is what the workload meets. Tables that drop stand in the bridge family, one for the whole
//! cluster. Tables that refuse stand in a node's namespace, since few kernels' bridges can refuse.

mod rule;

use std::collections::BTreeSet;

use anyhow::{Context, bail, ensure};

use super::netlink::Socket;
use super::nftables::{ADDRESS_PAIR_LENGTH, BaseChain, Family, TABLE_OWNED, TableChanges};
use super::protocol::{Hook, Matched, TableSupport, Tally};
use super::table_reader::{self, AddressPair};
use crate::cluster::FaultId;

/// Above the ports that kernels hand out by themselves, so that no workload is taken for a probe. One mask
/// picks them: their last three bits are any.
pub const PROBE_PORTS: std::ops::RangeInclusive<u16> = 61976..=61983;

const LINKS: &str = "links";
const DROPPED: &str = "dropped";

/// What a fault's table is to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub hooks: BTreeSet<Hook>,
    pub pairs: BTreeSet<AddressPair>,
    pub matched: Matched,
}

/// A table as the kernel shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    pub name: String,
    pub owned: bool,
    pub cut: Cut,
    pub tally: Tally,
}

/// The tables of one run in one namespace and family.
pub struct FaultTables {
    socket: Socket,
    family: Family,
    prefix: String,
    flags: u32,
    support: TableSupport,
    closed: bool,
}

impl FaultTables {
    /// Those that drop, at the bridges of the calling thread's namespace.
    pub fn open(run: &str) -> anyhow::Result<FaultTables> {
        FaultTables::of(Family::Bridge, format!("sg_{run}_"))
    }

    /// Those that refuse, in the calling thread's namespace.
    pub fn open_refusing(run: &str) -> anyhow::Result<FaultTables> {
        FaultTables::of(Family::Ip, format!("sg_{run}_refuse_"))
    }

    /// Finds out, by a table that matches nothing, what this kernel can do.
    fn of(family: Family, prefix: String) -> anyhow::Result<FaultTables> {
        let mut socket = Socket::open()?;
        let owned = try_table(&mut socket, family, &prefix, TABLE_OWNED);
        let (flags, support) = match owned {
            Ok(()) => (TABLE_OWNED, TableSupport::Owned),
            Err(error) => match try_table(&mut socket, family, &prefix, 0) {
                Ok(()) => (0, TableSupport::Unowned { why: format!("{error:#}") }),
                Err(error) => (0, TableSupport::Missing { why: format!("{error:#}") }),
            },
        };
        Ok(FaultTables { socket, family, prefix, flags, support, closed: false })
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
            bail!("this kernel has no nftables of family {:?}: {why}", self.family);
        }
        let name = self.name(fault);
        self.socket.transact(&changes(self.family, &name, self.flags, cut))?;
        self.read_back(fault, cut).inspect_err(|_| {
            // What is not as wanted must not stay; the first error is the one to tell.
            let _ = self
                .socket
                .transact(&TableChanges::new(self.family, &name).delete_table().finish());
        })
    }

    fn read_back(&mut self, fault: FaultId, cut: &Cut) -> anyhow::Result<InForce> {
        let name = self.name(fault);
        let tables = table_reader::tables(&mut self.socket, self.family, &name)?;
        let owned = *tables.get(&name).with_context(|| format!("{name} is not there"))?;
        let in_force = self.read(&name, fault, owned)?;
        ensure!(in_force.cut == *cut, "{name} is not as installed: {in_force:?}");
        ensure!(owned == (self.flags & TABLE_OWNED != 0), "{name} is not owned as installed");
        Ok(in_force)
    }

    /// Removes a fault's table; `None` where there was none.
    pub fn remove(&mut self, fault: FaultId) -> anyhow::Result<Option<Tally>> {
        let name = self.name(fault);
        if !table_reader::tables(&mut self.socket, self.family, &name)?.contains_key(&name) {
            return Ok(None);
        }
        let tally = self.tally(&name, fault)?;
        self.delete(&name)?;
        Ok(Some(tally))
    }

    fn delete(&mut self, name: &str) -> anyhow::Result<()> {
        self.socket.transact(&TableChanges::new(self.family, name).delete_table().finish())?;
        let left = table_reader::tables(&mut self.socket, self.family, name)?;
        ensure!(!left.contains_key(name), "{name} is still there after its deletion");
        Ok(())
    }

    /// Removes every table of the run: what each had dropped, and which could not be removed.
    pub fn heal(&mut self) -> (Vec<Tally>, Vec<String>) {
        let names = match table_reader::tables(&mut self.socket, self.family, &self.prefix) {
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
        let tables = table_reader::tables(&mut self.socket, self.family, &self.prefix)?;
        let faults = tables.into_iter().filter_map(|(name, owned)| {
            let fault = self.fault(&name)?;
            Some((name, fault, owned))
        });
        let mut in_force = Vec::new();
        for (name, fault, owned) in faults.collect::<Vec<_>>() {
            let read = self.read(&name, fault, owned);
            in_force.extend(self.unless_gone(&name, read)?);
        }
        Ok(in_force)
    }

    /// A table of another agent may go while it is read.
    fn unless_gone<T>(&mut self, name: &str, read: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) => {
                let there = table_reader::tables(&mut self.socket, self.family, name)?;
                if there.contains_key(name) { Err(error) } else { Ok(None) }
            }
        }
    }

    pub fn tallies(&mut self) -> anyhow::Result<Vec<Tally>> {
        let tables = table_reader::tables(&mut self.socket, self.family, &self.prefix)?;
        let faults: Vec<_> =
            tables.into_keys().filter_map(|name| Some((self.fault(&name)?, name))).collect();
        let mut tallies = Vec::new();
        for (fault, name) in faults {
            let tally = self.tally(&name, fault);
            tallies.extend(self.unless_gone(&name, tally)?);
        }
        Ok(tallies)
    }

    fn read(&mut self, name: &str, fault: FaultId, owned: bool) -> anyhow::Result<InForce> {
        let (socket, family) = (&mut self.socket, self.family);
        let hooks = table_reader::hooks(socket, family, name)?;
        let pairs = table_reader::address_pairs(socket, family, name, LINKS)?;
        let counted = table_reader::outlines(socket, family, name, DROPPED)?;
        let mut matched = BTreeSet::new();
        for hook in &hooks {
            let at_hook = table_reader::outlines(socket, family, name, hook.name())?;
            matched.insert(match &at_hook[..] {
                [at_hook] => rule::read(at_hook, &counted),
                _ => None,
            });
        }
        let matched = match Vec::from_iter(matched)[..] {
            [Some(matched)] => matched,
            _ => bail!("{name} has other rules than were installed: {counted:?}"),
        };
        let tally = self.tally(name, fault)?;
        Ok(InForce { name: name.to_owned(), owned, cut: Cut { hooks, pairs, matched }, tally })
    }

    /// The last rule that counts is the workload's, those before it are the probes'.
    fn tally(&mut self, name: &str, fault: FaultId) -> anyhow::Result<Tally> {
        let counted = table_reader::rule_packets(&mut self.socket, self.family, name, DROPPED)?;
        match counted.iter().copied().collect::<Option<Vec<u64>>>().as_deref() {
            Some([probes @ .., packets]) => {
                Ok(Tally { fault, packets: *packets, probes: probes.iter().sum() })
            }
            _ => bail!("{name} counts {counted:?} in {DROPPED}, expected a counter in each rule"),
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

fn try_table(socket: &mut Socket, family: Family, prefix: &str, flags: u32) -> anyhow::Result<()> {
    let name = format!("{prefix}trial");
    let nothing = match family {
        Family::Bridge => (Hook::ALL.to_vec(), Matched::Everything),
        _ => (vec![Hook::Input, Hook::Output], Matched::Refused { port: None }),
    };
    let hooks = nothing.0.into_iter().collect();
    let nothing = Cut { hooks, pairs: BTreeSet::new(), matched: nothing.1 };
    let mut all = changes(family, &name, flags, &nothing);
    all.extend(TableChanges::new(family, &name).delete_table().finish());
    socket.transact(&all)
}

/// Makes, empties and makes again, so that an earlier table of the name is replaced in one step.
fn changes(family: Family, name: &str, flags: u32, cut: &Cut) -> Vec<super::frame::Change> {
    let pairs: Vec<[u8; ADDRESS_PAIR_LENGTH]> = cut.pairs.iter().copied().map(set_key).collect();
    let table = TableChanges::new(family, name)
        .add_table(flags)
        .delete_table()
        .add_table(flags)
        .add_address_pair_set(LINKS, &pairs)
        .add_chain(DROPPED);
    let counting = rule::counting(cut.matched).into_iter();
    let counting = counting.fold(table, |table, rule| table.add_rule(DROPPED, rule));
    let hooked = cut.hooks.iter().fold(counting, |table, hook| {
        let chain = BaseChain::first_at(family, *hook);
        table.add_base_chain(chain).add_rule(hook.name(), rule::hooked(cut.matched))
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
