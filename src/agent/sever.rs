//! Closes the live TCP connections of some links, at every end that is a node, and looks whether they
//! are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddrV4};

use anyhow::Context;

use super::interposer::Guests;
use super::live_socket::{self, LiveSocket};
use super::namespace::Inside;
use super::netlink::{Exchange, Subsystem};
use super::protocol::Severed;

/// A node's namespace, and the peers' addresses to which its connections are to be closed.
pub struct NodeEnd<'a> {
    pub inside: &'a Inside,
    pub local: Ipv4Addr,
    pub peers: BTreeSet<Ipv4Addr>,
    /// Connections that the node's interposer has taken in its place.
    pub guests: Guests,
}

impl NodeEnd<'_> {
    fn has(&self, socket: &LiveSocket, port: Option<u16>) -> bool {
        let is_ours = *socket.local.ip() == self.local && self.peers.contains(socket.remote.ip());
        let ports = [self.meant_for(socket), socket.remote.port()];
        is_ours && port.is_none_or(|port| ports.contains(&port))
    }

    /// The port that the other end believes to be connected to.
    fn meant_for(&self, socket: &LiveSocket) -> u16 {
        let own = socket.local.port();
        if own != self.guests.port {
            return own;
        }
        self.guests.meant_for.get(&socket.remote).copied().unwrap_or(own)
    }
}

/// Closes what is live now; connections made meanwhile stay.
pub fn sever(ends: &[NodeEnd<'_>], port: Option<u16>) -> anyhow::Result<Severed> {
    let mut opened = Vec::new();
    for end in ends {
        let exchange = end.inside.run(|| Exchange::open(Subsystem::SocketDiagnosis))?;
        opened.push((end, exchange, Vec::new()));
    }
    let mut connections: BTreeSet<(SocketAddrV4, SocketAddrV4)> = BTreeSet::new();
    for (end, exchange, victims) in &mut opened {
        let sockets = live_socket::list(exchange).context("list a node's sockets")?;
        victims.extend(sockets.into_iter().filter(|socket| end.has(socket, port)));
        connections.extend(victims.iter().map(LiveSocket::connection));
    }
    let mut closed: BTreeMap<_, u64> = BTreeMap::new();
    for (_, exchange, victims) in &mut opened {
        for victim in victims {
            let destroyed = live_socket::destroy(exchange, victim);
            if destroyed.with_context(|| format!("close the socket {victim}"))? {
                *closed.entry(victim.connection()).or_default() += 1;
            }
        }
    }
    let mut left = Vec::new();
    for (_, exchange, victims) in &mut opened {
        let now = live_socket::list(exchange).context("list a node's sockets again")?;
        let alive = victims.iter().filter(|victim| now.contains(victim));
        left.extend(alive.map(ToString::to_string));
    }
    Ok(Severed { connections: connections.len() as u64, closed: closed.len() as u64, left })
}
