//! Which ports there are and what they speak: faults of the wire that no port could show.

use crate::cluster::{Pattern, Protocol, Role, Side, Tap, Topology};
use crate::nemesis::fault::{Fault, FaultKind};
use crate::nemesis::needs::{possible_taps, watched_nodes, watched_taps};
use crate::nemesis::target::Roster;
use crate::nemesis::trigger::Sought;
use crate::op::NodeName;

/// Why a fault or its trigger names a port or a protocol that nothing here has: the field, and why.
pub fn fault_flaw(fault: &Fault, roster: Roster) -> Option<(&'static str, String)> {
    let topology = roster.topology;
    let pattern = fault.message.as_ref().filter(|_| fault.fault == FaultKind::Message);
    let deaf = || {
        let pattern = pattern.filter(|_| fault.port.is_none())?;
        let nobody = |target| fault.pool(target, roster).is_empty();
        fault.aims().any(nobody).then(|| ("message", unspoken(pattern, topology)))
    };
    let tapped = || {
        let taps = possible_taps(fault, roster);
        taps.iter().find_map(|tap| tap_flaw(tap, pattern, topology))
    };
    let cut = || fault.port.and_then(|port| port_flaw(port, topology));
    let first = deaf().or_else(tapped).or_else(cut).or_else(|| trigger_flaw(fault, roster));
    first.or_else(|| session_flaw(fault, roster))
}

/// Sessions are held, and znodes kept, by ZooKeeper's servers alone.
fn session_flaw(fault: &Fault, roster: Roster) -> Option<(&'static str, String)> {
    let watches = fault.when.as_ref().is_some_and(|when| when.znode.is_some());
    if watches && roster.topology.with_role(Role::Zookeeper).next().is_none() {
        return Some(("znode", "there is no ZooKeeper here that could have a znode".into()));
    }
    let target = fault.target.as_ref().filter(|_| fault.fault == FaultKind::ExpireSession)?;
    let holds_none = |name: &NodeName| roster.role_of(name) != Some(Role::Zookeeper);
    let other = fault.pool(target, roster).into_iter().find(holds_none)?;
    let message = format!(
        "{other} holds no sessions, ZooKeeper's servers do; expected one of them, such as \
         one:zookeeper (the nemesis `resign` ends the session of a controller that leads)"
    );
    Some(("target", message))
}

fn trigger_flaw(fault: &Fault, roster: Roster) -> Option<(&'static str, String)> {
    let when = fault.when.as_ref()?;
    let Some(Sought::Request(pattern)) = &when.message else { return None };
    let topology = roster.topology;
    let is_deaf = watched_taps(watched_nodes(when, roster), pattern, topology).is_empty();
    is_deaf.then(|| ("message", unspoken(pattern, topology)))
}

fn unspoken(pattern: &Pattern, topology: &Topology) -> String {
    let spoken: Vec<String> = roles(topology).map(served).collect();
    let (protocol, spoken) = (pattern.protocol, spoken.join(", "));
    format!("no node here speaks {protocol} with its clients; {spoken}")
}

/// What is wrong with an interposer there, and with this pattern at it.
pub fn tap_flaw(
    tap: &Tap,
    pattern: Option<&Pattern>,
    topology: &Topology,
) -> Option<(&'static str, String)> {
    let role_of = |name| topology.node(name).map(|node| node.role);
    let servers: Vec<Role> = match tap.side {
        Side::Inbound => role_of(&tap.node).into_iter().collect(),
        Side::Outbound if tap.peers.is_empty() => roles(topology).collect(),
        Side::Outbound => tap.peers.iter().filter_map(|peer| role_of(peer)).collect(),
    };
    let port = tap.port;
    let Some(server) = servers.iter().copied().find(|role| listens(*role, port)) else {
        return Some(("port", nobody_listens(port, servers.into_iter())));
    };
    let (client_port, protocol) = server.client_port();
    let speaks = (port == client_port).then_some(protocol);
    let pattern = pattern.filter(|pattern| speaks != Some(pattern.protocol))?;
    Some(("message", wrong_protocol(pattern, port, server, speaks)))
}

fn wrong_protocol(pattern: &Pattern, port: u16, server: Role, speaks: Option<Protocol>) -> String {
    match speaks {
        Some(protocol) => format!(
            "port {port} of {server} speaks {protocol}, not {}; expected a request such as \
             `zookeeper set /sg/*` in that protocol",
            pattern.protocol
        ),
        None => format!(
            "members of {server} speak a protocol of their own on port {port}, in which single \
             messages cannot be told apart; {}, and faults of kind toxic hit any port",
            served(server)
        ),
    }
}

/// What is wrong with a port that something is cut or severed at.
pub fn port_flaw(port: u16, topology: &Topology) -> Option<(&'static str, String)> {
    let is_known = roles(topology).any(|role| listens(role, port));
    (!is_known).then(|| ("port", nobody_listens(port, roles(topology))))
}

fn roles(topology: &Topology) -> impl Iterator<Item = Role> {
    Role::ALL.into_iter().filter(|role| topology.with_role(*role).next().is_some())
}

fn listens(role: Role, port: u16) -> bool {
    role.client_port().0 == port || role.peer_ports().contains(&port)
}

fn served(role: Role) -> String {
    let (port, protocol) = role.client_port();
    format!("{role} speaks {protocol} with its clients on port {port}")
}

fn nobody_listens(port: u16, servers: impl Iterator<Item = Role>) -> String {
    let ports = servers.map(|role| {
        let peers: Vec<String> = role.peer_ports().iter().map(u16::to_string).collect();
        format!("{} for clients and {} for members", role.client_port().0, peers.join(", "))
    });
    let ports: std::collections::BTreeSet<String> = ports.collect();
    let ports: Vec<String> = ports.into_iter().collect();
    format!("nothing listens on port {port}; expected {}", ports.join("; "))
}
