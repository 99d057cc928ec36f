//! TCP sockets as the kernel lists them (`linux/inet_diag.h`), and closing them from outside, whoever's
//! they are: their owner hears ECONNABORTED, the other end RST.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4};

use super::attribute::take;
use super::netlink::Exchange;

const SOCKETS_BY_FAMILY: u16 = 20;
const DESTROY: u16 = 21;

const ID_LENGTH: usize = 48;
/// In the kernel's answer the id follows family, state, timer and retransmissions.
const ID_OFFSET: usize = 4;

/// Bits by the numbers of `linux/tcp_states.h`: all in which both ends may still say something. Neither
/// listeners nor what only waits for late packets.
const LIVE_STATES: u32 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

const LISTENING: u32 = 1 << 10;

/// One end of a connection over IPv4, whichever family its socket was made in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LiveSocket {
    pub local: SocketAddrV4,
    pub remote: SocketAddrV4,
    family: u8,
    /// As the kernel gave it, with the cookie that no other socket has.
    id: [u8; ID_LENGTH],
}

impl LiveSocket {
    /// The same for both ends.
    pub fn connection(&self) -> (SocketAddrV4, SocketAddrV4) {
        (self.local.min(self.remote), self.local.max(self.remote))
    }

    fn decode(body: &[u8]) -> Option<LiveSocket> {
        let [family] = take::<1>(body, 0)?;
        let id = take::<ID_LENGTH>(body, ID_OFFSET)?;
        let port = |at| Some(u16::from_be_bytes(take(&id, at)?));
        let local = SocketAddrV4::new(address(family, take(&id, 4)?)?, port(0)?);
        let remote = SocketAddrV4::new(address(family, take(&id, 20)?)?, port(2)?);
        Some(LiveSocket { local, remote, family, id })
    }
}

impl fmt::Display for LiveSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.local, self.remote)
    }
}

/// A socket of IPv6 may carry IPv4, as all of Java's do.
fn address(family: u8, bytes: [u8; 16]) -> Option<Ipv4Addr> {
    if i32::from(family) == libc::AF_INET {
        return take::<4>(&bytes, 0).map(Ipv4Addr::from);
    }
    Ipv6Addr::from(bytes).to_ipv4_mapped()
}

/// The live sockets in the namespace where the exchange was opened.
pub fn list(exchange: &mut Exchange) -> io::Result<Vec<LiveSocket>> {
    let found = dump(exchange, LIVE_STATES)?;
    Ok(found.iter().filter_map(|body| LiveSocket::decode(body)).collect())
}

/// Where anything listens in the namespace where the exchange was opened.
pub fn listening(exchange: &mut Exchange) -> io::Result<BTreeSet<SocketAddr>> {
    let found = dump(exchange, LISTENING)?;
    Ok(found.iter().filter_map(|body| listener(body)).collect())
}

fn listener(body: &[u8]) -> Option<SocketAddr> {
    let [family] = take::<1>(body, 0)?;
    let port = u16::from_be_bytes(take(body, ID_OFFSET)?);
    let bytes: [u8; 16] = take(body, ID_OFFSET + 4)?;
    let ip = match i32::from(family) == libc::AF_INET {
        true => IpAddr::from(take::<4>(&bytes, 0)?),
        false => IpAddr::from(bytes).to_canonical(),
    };
    Some((ip, port).into())
}

/// Sockets of both families that are in one of these states, as the kernel describes them.
fn dump(exchange: &mut Exchange, states: u32) -> io::Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let any = request(family as u8, states, &[0; ID_LENGTH]);
        found.extend(exchange.dump(SOCKETS_BY_FAMILY, &any)?);
    }
    Ok(found)
}

/// Closes it; false where it was gone already.
pub fn destroy(exchange: &mut Exchange, socket: &LiveSocket) -> io::Result<bool> {
    let this = request(socket.family, u32::MAX, &socket.id);
    match exchange.change(DESTROY, 0, &this) {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(false),
        Err(error) => Err(error),
    }
}

fn request(family: u8, states: u32, id: &[u8; ID_LENGTH]) -> Vec<u8> {
    let mut body = vec![family, libc::IPPROTO_TCP as u8, 0, 0];
    body.extend(states.to_ne_bytes());
    body.extend(id);
    body
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn ipv4_is_seen_in_sockets_of_both_families() {
        let mut id = [0; ID_LENGTH];
        id[..4].copy_from_slice(&[0x1f, 0x90, 0xc0, 0x01]);
        id[4..8].copy_from_slice(&[10, 0, 0, 1]);
        id[20..24].copy_from_slice(&[10, 0, 0, 2]);
        let mut mapped = id;
        mapped[4..20].copy_from_slice(&Ipv4Addr::new(10, 0, 0, 1).to_ipv6_mapped().octets());
        mapped[20..36].copy_from_slice(&Ipv4Addr::new(10, 0, 0, 2).to_ipv6_mapped().octets());
        for (family, id) in [(libc::AF_INET, id), (libc::AF_INET6, mapped)] {
            let body = [&[family as u8, 1, 0, 0], &id[..]].concat();
            let socket = LiveSocket::decode(&body).expect("a socket");
            assert_eq!(socket.to_string(), "10.0.0.1:8080 to 10.0.0.2:49153");
        }
    }

    #[test]
    fn a_listener_is_listed_with_its_address_while_it_listens() {
        for address in ["127.0.0.1:0", "0.0.0.0:0"] {
            let listener = std::net::TcpListener::bind(address).expect("a free port");
            let address = listener.local_addr().expect("an address");
            let subsystem = crate::agent::netlink::Subsystem::SocketDiagnosis;
            let mut exchange = Exchange::open(subsystem).expect("a socket of netlink");
            assert!(listening(&mut exchange).expect("listed").contains(&address));
            drop(listener);
            // A child that another test forked at this moment has the socket too until it executes.
            let deadline = Instant::now() + Duration::from_secs(20);
            while listening(&mut exchange).expect("listed").contains(&address) {
                assert!(Instant::now() < deadline, "{address} is still listed");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let mut any = [0; ID_OFFSET + ID_LENGTH];
        (any[0], any[5]) = (libc::AF_INET6 as u8, 80);
        assert_eq!(listener(&any).expect("a listener").to_string(), "[::]:80");
    }

    #[test]
    fn real_ipv6_and_bodies_cut_short_are_no_ends_of_ours() {
        let six = [&[libc::AF_INET6 as u8, 1, 0, 0], &[0x20; ID_LENGTH][..]].concat();
        assert_eq!(LiveSocket::decode(&six), None);
        for length in 0..ID_OFFSET + ID_LENGTH {
            assert_eq!(LiveSocket::decode(&vec![libc::AF_INET as u8; length]), None);
        }
    }
}
