//! Proof on the wire: packets from one node's namespace to another's address, and what became of them.
//!
//! One UDP socket per node, made inside the node's namespace and bound to its address. A link is open
//! if a packet sent from the one socket comes out of the other: no reply is needed, so each direction
//! is seen alone. A link is surely cut once our own rules have counted every packet that is missing,
//! so a cut is proven without waiting for silence.

mod burst;
mod connection;
mod flight;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, bail};

use super::fault_table::PROBE_PORTS;
use super::namespace::Inside;
use super::protocol::{Enrollment, Place, PortProbe, ProbeReport, Speed};
use crate::cluster::Link;
use crate::op::NodeName;
use burst::{Burst, Bursts};
use connection::{Attempt, Counted};
pub use flight::PROBE_LENGTH;
use flight::{Flight, Packet};

/// A link that stays silent is tried this often within the bound.
const ATTEMPTS: u32 = 5;
/// How much longer than expected a burst may take.
const SLACK: Duration = Duration::from_millis(200);
/// Receivers are looked after in between, so that their buffers never overflow.
const SENT_AT_ONCE: usize = 32;
const WAIT: Duration = Duration::from_millis(1);

/// A node with our socket in its namespace.
struct Member {
    place: Place,
    address: Ipv4Addr,
    socket: UdpSocket,
    inside: Inside,
}

/// The nodes that can be probed.
pub struct Prober {
    members: BTreeMap<NodeName, Member>,
    /// Tells this round's packets from those of rounds before and of other agents.
    round: u64,
}

impl Default for Prober {
    fn default() -> Prober {
        let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Prober { members: BTreeMap::new(), round: started.as_nanos() as u64 }
    }
}

impl Prober {
    pub fn enroll(&mut self, node: Enrollment) -> anyhow::Result<()> {
        let Enrollment { node, address, place } = node;
        let enrolled = || format!("enroll {node}");
        let inside = Inside::of(place).with_context(enrolled)?;
        let socket = inside.run(move || open_socket(address)).with_context(enrolled)?;
        self.members.insert(node, Member { place, address, socket, inside });
        Ok(())
    }

    /// Where work for a node is done.
    pub fn inside(&self, node: &NodeName) -> anyhow::Result<&Inside> {
        Ok(&self.member(node)?.inside)
    }

    pub fn nodes(&self) -> impl Iterator<Item = &NodeName> {
        self.members.keys()
    }

    pub fn address(&self, node: &NodeName) -> anyhow::Result<(Ipv4Addr, Place)> {
        let member = self.member(node)?;
        Ok((member.address, member.place))
    }

    pub fn name(&self, address: Ipv4Addr) -> Option<&NodeName> {
        let found = self.members.iter().find(|(_, member)| member.address == address);
        found.map(|(name, _)| name)
    }

    fn member(&self, node: &NodeName) -> anyhow::Result<&Member> {
        match self.members.get(node) {
            Some(member) => Ok(member),
            None => {
                let known: Vec<&str> = self.members.keys().map(|name| &**name).collect();
                bail!("node {node} is not enrolled, expected one of: {}", known.join(", "))
            }
        }
    }

    /// Sends over all links at once; `dropped` counts the probes our tables have dropped so far.
    pub fn probe(
        &mut self,
        links: &BTreeSet<Link>,
        bound: Duration,
        mut dropped: impl FnMut() -> anyhow::Result<u64>,
    ) -> anyhow::Result<ProbeReport> {
        let started = Instant::now();
        self.round = self.round.wrapping_add(1);
        for link in links {
            self.member(&link.from).and(self.member(&link.to))?;
        }
        self.drain(|_, _| ())?;
        let dropped_before = dropped()?;
        let mut flight = Flight::new(links);
        let mut dropped_now = 0;
        for attempt in 1..=ATTEMPTS {
            self.send(&mut flight, attempt)?;
            let deadline = started + bound * attempt / ATTEMPTS;
            loop {
                self.receive(&mut flight, started)?;
                // A table healed meanwhile takes its counter with it.
                dropped_now = dropped()?.saturating_sub(dropped_before);
                if flight.is_settled(dropped_now) {
                    return Ok(flight.report(dropped_now, started.elapsed()));
                }
                if Instant::now() >= deadline {
                    break;
                }
                self.await_packet()?;
            }
        }
        Ok(flight.report(dropped_now, started.elapsed()))
    }

    /// Opens a connection over each link, one after another: so a count tells whose probe it counts.
    ///
    /// `counted` tells how many probes our tables have (dropped, refused) so far.
    pub fn probe_port(
        &mut self,
        links: &BTreeSet<Link>,
        port: u16,
        bound: Duration,
        counted: impl Fn(&Link) -> anyhow::Result<(u64, u64)>,
    ) -> anyhow::Result<Vec<PortProbe>> {
        let mut probes = Vec::new();
        for link in links {
            let started = Instant::now();
            self.round = self.round.wrapping_add(1);
            let counted = || {
                let (dropped, refused) = counted(link)?;
                anyhow::Ok(Counted { dropped, refused })
            };
            let before = counted()?;
            let (from, to) = (self.member(&link.from)?, self.member(&link.to)?);
            let (source, target) = (from.address, SocketAddrV4::new(to.address, port));
            let turn = self.round as usize;
            let attempt = from.inside.run(move || Attempt::start(source, target, turn));
            let attempt = attempt.with_context(|| format!("try {link} at port {port}"))?;
            let passage = attempt.outcome(bound, counted, before)?;
            let after_us = started.elapsed().as_micros() as u64;
            probes.push(PortProbe { link: link.clone(), passage, after_us });
        }
        Ok(probes)
    }

    /// Sends a burst over all links at once that takes a while at this rate, and sees how long it takes.
    ///
    /// `passed` tells for each link what has gone under its cap so far, if it has one.
    pub fn measure(
        &mut self,
        links: Vec<Link>,
        bytes_per_second: u64,
        passed: impl Fn(&Prober, &Link) -> anyhow::Result<Option<u64>>,
    ) -> anyhow::Result<Vec<Speed>> {
        self.round = self.round.wrapping_add(1);
        let burst = Burst::at(bytes_per_second);
        let passed_by_now = |prober: &Prober| -> anyhow::Result<Vec<Option<u64>>> {
            links.iter().map(|link| passed(prober, link)).collect()
        };
        let before = passed_by_now(self)?;
        self.drain(|_, _| ())?;
        let mut bursts = Bursts::new(burst, links.clone());
        let started = Instant::now();
        let deadline = started + burst.takes(bytes_per_second) * 3 + SLACK;
        loop {
            self.send_burst(&mut bursts, burst)?;
            let round = self.round;
            self.drain(|name, bytes| match burst::decode(bytes) {
                Some((found, link)) if found == round => {
                    bursts.arrived(link, name, started.elapsed());
                }
                _ => {}
            })?;
            if bursts.is_over() || Instant::now() >= deadline {
                break;
            }
            self.await_packet()?;
        }
        let passed = before.into_iter().zip(passed_by_now(self)?);
        let passed = passed.map(|(before, after)| Some(after?.saturating_sub(before?)));
        Ok(bursts.report(&passed.collect::<Vec<_>>()))
    }

    /// As much as the senders' buffers take.
    fn send_burst(&self, bursts: &mut Bursts, burst: Burst) -> anyhow::Result<()> {
        for (index, link) in bursts.unsent() {
            let from = self.member(&link.from)?;
            let target = self.member(&link.to)?.socket.local_addr();
            let target = target.context("ask for a probe socket's port")?;
            let bytes = burst.encode(self.round, index);
            for _ in 0..SENT_AT_ONCE {
                match from.socket.send_to(&bytes, target) {
                    Ok(_) if bursts.sent(index) => {}
                    Ok(_) => break,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error).context(format!("send over {link}")),
                }
            }
        }
        Ok(())
    }

    fn send(&self, flight: &mut Flight, attempt: u32) -> anyhow::Result<()> {
        for (index, link) in flight.missing() {
            let from = self.member(&link.from)?;
            let to = self.member(&link.to)?;
            let packet = Packet { round: self.round, link: index, attempt };
            // Each member's port is the one it could get.
            let target = to.socket.local_addr().context("ask for a probe socket's port")?;
            flight.sent(index, from.socket.send_to(&packet.encode(), target));
        }
        Ok(())
    }

    fn receive(&self, flight: &mut Flight, started: Instant) -> anyhow::Result<()> {
        let round = self.round;
        self.drain(|name, bytes| {
            let Some(packet) = Packet::decode(bytes) else { return };
            if packet.round == round {
                let after_us = started.elapsed().as_micros() as u64;
                flight.arrived(packet.link, packet.attempt, name, after_us);
            }
        })
    }

    /// Takes all packets that wait at any member.
    fn drain(&self, mut take: impl FnMut(&NodeName, &[u8])) -> anyhow::Result<()> {
        let mut buffer = [0; 2048];
        for (name, member) in &self.members {
            loop {
                match member.socket.recv_from(&mut buffer) {
                    Ok((length, _)) => take(name, &buffer[..length]),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error).context(format!("receive probes at {name}")),
                }
            }
        }
        Ok(())
    }

    fn await_packet(&self) -> anyhow::Result<()> {
        let waiting = |member: &Member| libc::pollfd {
            fd: member.socket.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let mut waited: Vec<libc::pollfd> = self.members.values().map(waiting).collect();
        // SAFETY: the pointer and count describe `waited`.
        let result = unsafe {
            let count = waited.len() as libc::nfds_t;
            libc::poll(waited.as_mut_ptr(), count, WAIT.as_millis() as i32)
        };
        let error = io::Error::last_os_error();
        if result < 0 && error.kind() != io::ErrorKind::Interrupted {
            return Err(error).context("wait for probes");
        }
        Ok(())
    }
}

/// Binding to the node's own address also shows that this is the node's namespace.
fn open_socket(address: Ipv4Addr) -> anyhow::Result<UdpSocket> {
    for port in PROBE_PORTS {
        match UdpSocket::bind(SocketAddr::from((address, port))) {
            Ok(socket) => {
                socket.set_nonblocking(true).context("set up a probe socket")?;
                return Ok(socket);
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error).context(format!("bind to {address}")),
        }
    }
    bail!("UDP ports {PROBE_PORTS:?} of {address} are all taken, expected a free one for probes")
}
