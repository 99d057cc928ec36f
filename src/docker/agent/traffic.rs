//! What an agent is asked about connections and bandwidth.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{ANSWER_WITHIN, Agent, ask, unexpected};
use crate::agent::protocol::{Answer, Cap, Command, PortProbe, Severed, Speed};
use crate::cluster::{FaultId, Link};

impl Agent {
    /// Tries a TCP connection over each link, to this port where it leads.
    ///
    /// Each returns as soon as it was answered or counted by our tables, or at the bound.
    pub async fn probe_port(
        &self,
        links: BTreeSet<Link>,
        port: u16,
        bound: Duration,
    ) -> anyhow::Result<Vec<PortProbe>> {
        let within = bound * links.len() as u32 + ANSWER_WITHIN;
        let command = Command::ProbePort { links, port, bound_ms: bound.as_millis() as u64 };
        match ask(&self.questions, command, within).await? {
            Answer::ProbePort { probes } => Ok(probes),
            answer => unexpected("probe-port", &answer),
        }
    }

    /// Closes the live TCP connections of these links, with this port at one end if one is given.
    pub async fn sever(&self, links: BTreeSet<Link>, port: Option<u16>) -> anyhow::Result<Severed> {
        match self.ask(Command::Sever { links, port }).await? {
            Answer::Sever { severed } => Ok(severed),
            answer => unexpected("sever", &answer),
        }
    }

    /// Caps each of these links; the caps as the kernel then shows them.
    pub async fn throttle(
        &self,
        fault: FaultId,
        links: BTreeSet<Link>,
        bytes_per_second: u64,
    ) -> anyhow::Result<Vec<Cap>> {
        match self.ask(Command::Throttle { fault, links, bytes_per_second }).await? {
            Answer::Throttle { caps } => Ok(caps),
            answer => unexpected("throttle", &answer),
        }
    }

    /// Takes back exactly those caps; the packets they met, or `None` where none was in force.
    pub async fn unthrottle(&self, fault: FaultId) -> anyhow::Result<Option<u64>> {
        match self.ask(Command::Unthrottle { fault }).await? {
            Answer::Unthrottle { packets } => Ok(packets),
            answer => unexpected("unthrottle", &answer),
        }
    }

    /// How fast each link carries a burst that would take a while at this rate.
    pub async fn measure(
        &self,
        links: BTreeSet<Link>,
        bytes_per_second: u64,
    ) -> anyhow::Result<Vec<Speed>> {
        match self.ask(Command::Measure { links, bytes_per_second }).await? {
            Answer::Measure { speeds } => Ok(speeds),
            answer => unexpected("measure", &answer),
        }
    }
}
