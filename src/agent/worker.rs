//! Does what requests ask, one after another, and answers.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::ensure;

use super::fault_table::{Cut, InForce};
use super::probe::Prober;
use super::process;
use super::protocol::{
    Answer, Cause, Command, Enrollment, Greeting, Hook, Message, Place, Request, Table,
};
use super::session::Session;

mod tapping;
use crate::cluster::{FaultId, Link};
use crate::op::NodeName;

/// A probe holds up the requests behind it.
const LONGEST_PROBE: Duration = Duration::from_secs(10);

pub struct Worker<'a> {
    session: &'a Session,
    run: &'a str,
    prober: Prober,
}

impl<'a> Worker<'a> {
    pub fn new(session: &'a Session, run: &'a str) -> Worker<'a> {
        Worker { session, run, prober: Prober::default() }
    }

    pub fn handle(&mut self, request: Request) {
        let id = request.id;
        let message = match self.answer(request.command) {
            Ok(answer) => Message::Answer { id, answer },
            Err(error) => Message::Failure { id, error: format!("{error:#}") },
        };
        self.session.say(&message);
    }

    fn answer(&mut self, command: Command) -> anyhow::Result<Answer> {
        Ok(match command {
            Command::Hello => Answer::Hello { greeting: self.greet()? },
            Command::Enroll { nodes } => self.enroll(nodes)?,
            Command::Cut { fault, links } => self.cut(fault, &links)?,
            Command::Join { fault } => Answer::Join { tally: self.session.tables().remove(fault)? },
            Command::Heal => Answer::Heal { healed: self.session.heal(Cause::Asked) },
            Command::Counters => Answer::Counters { tallies: self.session.tables().tallies()? },
            Command::Probe { links, bound_ms } => self.probe(&links, bound_ms)?,
            Command::Tap { taps } => Answer::Tap { taps: self.tap(taps)? },
            Command::Arm { concerning, taps, effect } => self.arm(concerning, taps, &effect)?,
            Command::Disarm { concerning } => {
                Answer::Disarm { spent: self.session.interposers().disarm(concerning)? }
            }
            Command::ProbeTap { tap, with, bound_ms } => self.probe_tap(tap, with, bound_ms)?,
            Command::Status => Answer::Status { tables: self.status()? },
            Command::Process { pid } => Answer::Process { process: process::facts(pid)? },
            Command::Heartbeat => Answer::Heartbeat,
            Command::Bye => {
                self.session.end(Cause::Asked);
                Answer::Bye
            }
        })
    }

    fn greet(&self) -> anyhow::Result<Greeting> {
        Ok(Greeting {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease")?.trim().to_owned(),
            run: self.run.to_owned(),
            lease_ms: self.session.lease.length().as_millis() as u64,
            tables: self.session.tables().support().clone(),
        })
    }

    fn enroll(&mut self, nodes: Vec<Enrollment>) -> anyhow::Result<Answer> {
        for node in nodes {
            self.prober.enroll(node)?;
        }
        Ok(Answer::Enroll)
    }

    fn cut(&mut self, fault: FaultId, links: &BTreeSet<Link>) -> anyhow::Result<Answer> {
        let cut = self.plan(links)?;
        let in_force = self.session.tables().install(fault, &cut)?;
        Ok(Answer::Cut { table: self.name(in_force) })
    }

    /// Turns names into addresses, and finds the hooks that these links pass.
    fn plan(&self, links: &BTreeSet<Link>) -> anyhow::Result<Cut> {
        ensure!(!links.is_empty(), "a cut of no links cannot act, expected one link or more");
        let mut cut = Cut { hooks: BTreeSet::new(), pairs: BTreeSet::new() };
        for link in links {
            let (from, from_place) = self.prober.address(&link.from)?;
            let (to, to_place) = self.prober.address(&link.to)?;
            ensure!(from != to, "link {link} begins and ends at {from}, expected two nodes");
            cut.pairs.insert((from, to));
            cut.hooks.insert(match (from_place, to_place) {
                (Place::Host, _) => Hook::Output,
                (_, Place::Host) => Hook::Input,
                _ => Hook::Forward,
            });
        }
        Ok(cut)
    }

    fn probe(&mut self, links: &BTreeSet<Link>, bound_ms: u64) -> anyhow::Result<Answer> {
        let bound = Duration::from_millis(bound_ms);
        ensure!(bound <= LONGEST_PROBE, "bound {bound:?}, expected at most {LONGEST_PROBE:?}");
        let session = self.session;
        let report = self.prober.probe(links, bound, || {
            Ok(session.tables().tallies()?.iter().map(|tally| tally.probes).sum())
        })?;
        Ok(Answer::Probe { report })
    }

    fn status(&self) -> anyhow::Result<Vec<Table>> {
        let in_force = self.session.tables().in_force()?;
        Ok(in_force.into_iter().map(|table| self.name(table)).collect())
    }

    fn name(&self, in_force: InForce) -> Table {
        let InForce { name, owned, cut, tally } = in_force;
        let links = cut.pairs.into_iter();
        let links = links.map(|(from, to)| Link { from: self.node(from), to: self.node(to) });
        Table { name, owned, hooks: cut.hooks, links: links.collect(), tally }
    }

    fn node(&self, address: Ipv4Addr) -> NodeName {
        self.prober.name(address).cloned().unwrap_or_else(|| address.to_string().into())
    }
}
