//! Which interface carries a node's traffic, and which of the host's is its other end.
//!
//! It only looks. Of the host's interfaces none is ever named but a veth of which the kernel itself says
//! that its other end is in that very container.

use std::fmt;
use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;

use anyhow::{Context, bail, ensure};

use crate::agent::attribute::{self, Attributes, dig, find, take};
use crate::agent::netlink::Exchange;

const GET_LINK: u16 = 18;
const GET_ADDRESS: u16 = 22;
const GET_NAMESPACE: u16 = 90;

const LINK_HEADER_LENGTH: usize = 16;
const ADDRESS_HEADER_LENGTH: usize = 8;
const NAMESPACE_HEADER_LENGTH: usize = 4;

const NAME: u16 = 3;
const PEER: u16 = 5;
const KIND: [u16; 2] = [18, 1];
const PEER_NAMESPACE: u16 = 37;

/// An interface, by its number in its namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    pub index: i32,
    pub name: String,
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

struct Veth {
    interface: Interface,
    peer: i32,
    peer_namespace: Option<i32>,
}

/// The interface of this namespace that has the address: a container's own end of its veth.
pub fn with_address(inside: &mut Exchange, address: Ipv4Addr) -> anyhow::Result<Interface> {
    Ok(veth_with_address(inside, address)?.interface)
}

/// The host's end of the veth whose other end, in the container's `namespace`, has the address.
pub fn host_end(
    host: &mut Exchange,
    inside: &mut Exchange,
    namespace: &File,
    address: Ipv4Addr,
) -> anyhow::Result<Interface> {
    let own = veth_with_address(inside, address)?;
    let host_end = veth(host, own.peer).context("look at the host's end of a node's veth")?;
    let name = &host_end.interface;
    ensure!(
        host_end.peer == own.interface.index,
        "{name} of the host leads to interface {}, expected {} of the node with {address}",
        host_end.peer,
        own.interface.index
    );
    let leads_to = host_end.peer_namespace;
    let wanted = namespace_number(host, namespace)?;
    ensure!(
        leads_to == Some(wanted),
        "{name} of the host leads to network {leads_to:?}, expected that of the node with {address}, \
         {wanted}"
    );
    Ok(host_end.interface)
}

fn veth_with_address(inside: &mut Exchange, address: Ipv4Addr) -> anyhow::Result<Veth> {
    let mut request = [0; ADDRESS_HEADER_LENGTH];
    request[0] = libc::AF_INET as u8;
    let addresses = inside.dump(GET_ADDRESS, &request).context("list a node's addresses")?;
    let index = addresses.iter().find_map(|body| {
        let attributes = body.get(ADDRESS_HEADER_LENGTH..)?;
        let local = find(attributes, 2).or_else(|| find(attributes, 1))?;
        (local == address.octets()).then(|| take::<4>(body, 4).map(i32::from_ne_bytes))?
    });
    let index = index.with_context(|| format!("no interface of the node has {address}"))?;
    veth(inside, index)
}

fn veth(exchange: &mut Exchange, index: i32) -> anyhow::Result<Veth> {
    let mut request = [0; LINK_HEADER_LENGTH];
    request[4..8].copy_from_slice(&index.to_ne_bytes());
    let body = exchange.get(GET_LINK, &request);
    let body = body.with_context(|| format!("look at interface {index}"))?;
    let attributes = body.get(LINK_HEADER_LENGTH..).unwrap_or_default();
    let name = find(attributes, NAME).map(attribute::text).unwrap_or_default();
    let kind = dig(attributes, &KIND).map(attribute::text).unwrap_or_default();
    if kind != "veth" {
        bail!("interface {name} is of kind {kind:?}, expected a veth");
    }
    let number = |kind| Some(attribute::native(find(attributes, kind)?)? as i32);
    let peer = number(PEER).with_context(|| format!("veth {name} has no other end"))?;
    let interface = Interface { index, name };
    Ok(Veth { interface, peer, peer_namespace: number(PEER_NAMESPACE) })
}

/// What the host's kernel calls a namespace. Looking at a veth that leads there makes the number.
fn namespace_number(host: &mut Exchange, namespace: &File) -> anyhow::Result<i32> {
    let asked = Attributes::new().native(3, namespace.as_raw_fd() as u32);
    let request = [&[0; NAMESPACE_HEADER_LENGTH], asked.as_bytes()].concat();
    let body = host.get(GET_NAMESPACE, &request).context("ask for a node's network")?;
    let number = body.get(NAMESPACE_HEADER_LENGTH..).and_then(|attributes| find(attributes, 1));
    let number = number.and_then(attribute::native).context("a network without a number")?;
    Ok(number as i32)
}
