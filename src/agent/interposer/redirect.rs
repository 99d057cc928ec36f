//! The rules that lead a node's connections to its interposer: one table in the node's own namespace.
//!
//! ```text
//! table ip sg_<run>_tap
//! chain inbound   { nat, prerouting: not ours, TCP to the port[, from the peer] → count, redirect }
//! chain outbound  { nat, output:     not ours, TCP to the port[, to the peer]   → count, redirect }
//! ```
//!
//! The kernel looks at the first packet of a connection only, so connections that are open already are
//! not redirected. It touches no other table: Docker keeps its own redirections in the same namespace.

use std::net::Ipv4Addr;

use anyhow::{Context, ensure};

use super::armory::ResolvedTap;
use super::socket::MARK;
use crate::agent::netlink::Socket;
use crate::agent::nftables::{
    BaseChain, ChainKind, Expressions, Family, OUTPUT, PREROUTING, TABLE_OWNED, TableChanges,
};
use crate::agent::table_reader;
use crate::cluster::Side;

/// After Docker's own redirections, which are at -100.
const PRIORITY: i32 = -90;

/// The ports at which an interposer listens.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    pub inbound: u16,
    pub outbound: u16,
}

/// The table of one node.
pub struct Redirect {
    socket: Socket,
    pub table: String,
    pub ports: Ports,
    pub owned: bool,
}

impl Redirect {
    /// `socket` must have been opened in the node's namespace.
    pub fn new(socket: Socket, run: &str, ports: Ports) -> Redirect {
        Redirect { socket, table: format!("sg_{run}_tap"), ports, owned: true }
    }

    /// Puts the rules of exactly these taps in force, in one step.
    pub fn install(&mut self, taps: &[&ResolvedTap]) -> anyhow::Result<()> {
        let owned = self.changes(taps, TABLE_OWNED);
        if self.socket.transact(&owned).is_err() {
            // Kernels before 5.12 know no owners; then the namespace's end takes the table away.
            self.socket.transact(&self.changes(taps, 0)).context("redirect to an interposer")?;
        }
        let tables = table_reader::tables(&mut self.socket, Family::Ip, &self.table)?;
        self.owned = *tables.get(&self.table).context("the redirection is not there")?;
        for side in [Side::Inbound, Side::Outbound] {
            let wanted: usize = taps.iter().filter(|tap| tap.tap.side == side).map(rules).sum();
            let found = self.count(side)?;
            ensure!(found == wanted, "{found} rules redirect, expected {wanted}");
        }
        Ok(())
    }

    fn changes(&self, taps: &[&ResolvedTap], flags: u32) -> Vec<crate::agent::frame::Change> {
        let mut table = TableChanges::new(Family::Ip, &self.table)
            .add_table(flags)
            .delete_table()
            .add_table(flags);
        for side in [Side::Inbound, Side::Outbound] {
            table = table.add_base_chain(chain(side));
        }
        for tap in taps {
            let peers = tap.peers.iter().map(|peer| Some(*peer));
            let anybody = tap.peers.is_empty().then_some(None);
            for peer in peers.chain(anybody) {
                table = table.add_rule(chain(tap.tap.side).name, self.rule(tap, peer));
            }
        }
        table.finish()
    }

    fn rule(&self, tap: &ResolvedTap, peer: Option<Ipv4Addr>) -> Expressions {
        let rule = Expressions::new().not_marked(MARK).tcp_to_port(tap.tap.port);
        let (rule, port) = match (tap.tap.side, peer) {
            (Side::Inbound, Some(peer)) => (rule.with_source(peer), self.ports.inbound),
            (Side::Outbound, Some(peer)) => (rule.with_destination(peer), self.ports.outbound),
            (Side::Inbound, None) => (rule, self.ports.inbound),
            (Side::Outbound, None) => (rule, self.ports.outbound),
        };
        rule.count().redirect(port)
    }

    /// How many rules a tap has in force: those of taps before it come first, in `taps`' order.
    pub fn in_force(&mut self, taps: &[&ResolvedTap], tap: &ResolvedTap) -> anyhow::Result<usize> {
        let same_side = taps.iter().filter(|other| other.tap.side == tap.tap.side);
        let before: usize = same_side.take_while(|other| **other != tap).map(rules).sum();
        Ok(self.count(tap.tap.side)?.saturating_sub(before).min(rules(&tap)))
    }

    fn count(&mut self, side: Side) -> anyhow::Result<usize> {
        let name = chain(side).name;
        let found = table_reader::rule_packets(&mut self.socket, Family::Ip, &self.table, name)?;
        Ok(found.iter().flatten().count())
    }

    /// Removes the table; one that is gone already is fine.
    pub fn remove(&mut self) -> anyhow::Result<()> {
        let tables = table_reader::tables(&mut self.socket, Family::Ip, &self.table)?;
        if !tables.contains_key(&self.table) {
            return Ok(());
        }
        let deletion = TableChanges::new(Family::Ip, &self.table).delete_table().finish();
        self.socket.transact(&deletion)?;
        let left = table_reader::tables(&mut self.socket, Family::Ip, &self.table)?;
        ensure!(!left.contains_key(&self.table), "{} is still there", self.table);
        Ok(())
    }
}

/// How many rules a tap takes.
pub fn rules(tap: &&ResolvedTap) -> usize {
    tap.peers.len().max(1)
}

fn chain(side: Side) -> BaseChain<'static> {
    let (name, hook) = match side {
        Side::Inbound => ("inbound", PREROUTING),
        Side::Outbound => ("outbound", OUTPUT),
    };
    BaseChain { name, kind: ChainKind::Nat, hook, priority: PRIORITY }
}
