//! What the kernel is told to shape an interface with, and reading it back: HTB with a class for each
//! capped address and u32 filters that pick by address (`linux/pkt_sched.h`, `linux/pkt_cls.h`).
//!
//! What no filter picks is not shaped at all. Our tree has a handle of its own, by which it is known
//! again: no other is ever changed or removed.

use std::io;
use std::net::Ipv4Addr;

use anyhow::{Context, bail, ensure};

use crate::agent::attribute::{self, Attributes, find, take};
use crate::agent::fault_table::PROBE_PORTS;
use crate::agent::frame::{CREATE, EXCLUSIVE, REPLACE};
use crate::agent::netlink::Exchange;

use super::interface::Interface;
use crate::agent::probe::PROBE_LENGTH;

/// `5347:`, the letters SG.
pub const OURS: u32 = 0x5347_0000;

const NEW_DISCIPLINE: u16 = 36;
const DELETE_DISCIPLINE: u16 = 37;
const GET_DISCIPLINE: u16 = 38;
const NEW_CLASS: u16 = 40;
const DELETE_CLASS: u16 = 41;
const GET_CLASS: u16 = 42;
const NEW_FILTER: u16 = 44;
const DELETE_FILTER: u16 = 45;
const GET_FILTER: u16 = 46;

const ROOT: u32 = 0xffff_ffff;
const HEADER_LENGTH: usize = 20;
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
const STATISTICS: u16 = 7;

const HTB_VERSION: u32 = 3;
const ETHERNET: u8 = 1;
/// What a class may send at once after a pause: 1 ms of its rate, in the kernel's ticks of 64 ns.
const BURST_TICKS: u32 = 1_000_000 / 64;
/// How far classes of one priority take turns; without meaning where each has its own rate.
const QUANTUM_BYTES: u32 = 1514;
/// A queue must take two packets of the largest size that senders hand over at once.
const SMALLEST_QUEUE_BYTES: u64 = 128 * 1024;
/// What waits longer than a quarter of a second is lost, as at a router.
const QUEUE_PER_SECOND: u64 = 4;

/// Which address of a packet a class goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    Source,
    Destination,
}

impl By {
    /// In the IPv4 header.
    fn offset(self) -> i32 {
        match self {
            By::Source => 12,
            By::Destination => 16,
        }
    }
}

/// A class as the kernel shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    pub bytes_per_second: u64,
    /// What has passed.
    pub bytes: u64,
    pub packets: u64,
    /// What found the queue full.
    pub dropped: u64,
}

/// The root discipline of an interface, if it has any but the kernel's default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    pub handle: u32,
    pub kind: String,
}

impl Root {
    pub fn is_ours(&self) -> bool {
        self.handle == OURS && self.kind == "htb"
    }
}

fn header(interface: &Interface, handle: u32, parent: u32, info: u32) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bytes.extend(interface.index.to_ne_bytes());
    for number in [handle, parent, info] {
        bytes.extend(number.to_ne_bytes());
    }
    bytes
}

fn message(header: Vec<u8>, attributes: &Attributes) -> Vec<u8> {
    [header, attributes.as_bytes().to_vec()].concat()
}

/// Bodies about this interface, each as (handle, parent, info, attributes).
fn bodies<'a>(
    found: &'a [Vec<u8>],
    interface: &Interface,
) -> impl Iterator<Item = (u32, u32, u32, &'a [u8])> {
    let index = interface.index;
    found.iter().filter_map(move |body| {
        let number = |at| Some(u32::from_ne_bytes(take(body, at)?));
        (i32::from_ne_bytes(take(body, 4)?) == index).then_some(())?;
        Some((number(8)?, number(12)?, number(16)?, body.get(HEADER_LENGTH..)?))
    })
}

fn kind(attributes: &[u8]) -> String {
    find(attributes, KIND).map(attribute::text).unwrap_or_default()
}

pub fn root(exchange: &mut Exchange, interface: &Interface) -> anyhow::Result<Option<Root>> {
    let found = exchange.dump(GET_DISCIPLINE, &header(interface, 0, 0, 0));
    let found = found.with_context(|| format!("read the queueing of {interface}"))?;
    let root = bodies(&found, interface).find(|(_, parent, ..)| *parent == ROOT);
    let root = root.map(|(handle, .., attributes)| Root { handle, kind: kind(attributes) });
    // The kernel's default has no handle.
    Ok(root.filter(|root| root.handle != 0))
}

/// Puts our tree on an interface that has none. Another's is refused.
pub fn ensure_root(exchange: &mut Exchange, interface: &Interface) -> anyhow::Result<()> {
    match root(exchange, interface)? {
        Some(root) if root.is_ours() => return Ok(()),
        Some(Root { handle, kind }) => bail!(
            "{interface} is shaped by another already ({kind} {:x}:), expected an interface with the \
             kernel's default queueing",
            handle >> 16
        ),
        None => {}
    }
    let mut start: Vec<u8> = Vec::new();
    for number in [HTB_VERSION, 10, 0, 0, 0] {
        start.extend(number.to_ne_bytes());
    }
    let options = Attributes::new().bytes(2, &start);
    let attributes = Attributes::new().text(KIND, "htb").nested(OPTIONS, options);
    let made = message(header(interface, OURS, ROOT, 0), &attributes);
    exchange
        .change(NEW_DISCIPLINE, CREATE | EXCLUSIVE, &made)
        .with_context(|| format!("shape {interface} with HTB"))?;
    pass_probes(exchange, interface)
}

/// Takes our tree away, with all its classes; false where it was gone.
pub fn remove_root(exchange: &mut Exchange, interface: &Interface) -> anyhow::Result<bool> {
    match root(exchange, interface)? {
        Some(root) if root.is_ours() => {}
        _ => return Ok(false),
    }
    exchange
        .change(DELETE_DISCIPLINE, 0, &header(interface, OURS, ROOT, 0))
        .with_context(|| format!("remove our HTB from {interface}"))?;
    let left = root(exchange, interface)?;
    ensure!(left.is_none_or(|root| !root.is_ours()), "our HTB is still on {interface}");
    Ok(true)
}

/// Makes a class, or gives it another rate.
pub fn set_class(
    exchange: &mut Exchange,
    interface: &Interface,
    number: u16,
    bytes_per_second: u64,
) -> anyhow::Result<()> {
    let handle = OURS | u32::from(number);
    let doing = || format!("cap {interface} to {bytes_per_second} B/s");
    let set = message(header(interface, handle, ROOT, 0), &class_attributes(bytes_per_second));
    exchange.change(NEW_CLASS, CREATE | REPLACE, &set).with_context(doing)?;
    let limit = (bytes_per_second / QUEUE_PER_SECOND).max(SMALLEST_QUEUE_BYTES);
    let limit = u32::try_from(limit).unwrap_or(u32::MAX);
    let queue = Attributes::new().text(KIND, "bfifo").bytes(OPTIONS, &limit.to_ne_bytes());
    let queue = message(header(interface, 0, handle, 0), &queue);
    exchange.change(NEW_DISCIPLINE, CREATE | REPLACE, &queue).with_context(doing)
}

fn class_attributes(bytes_per_second: u64) -> Attributes {
    let low = u32::try_from(bytes_per_second).unwrap_or(u32::MAX);
    let mut parameters = Vec::new();
    for _rate_then_ceiling in 0..2 {
        // No table of costs by size: the kernel computes them for a known kind of link.
        parameters.extend([0, ETHERNET, 0, 0, 0, 0, 0, 0]);
        parameters.extend(low.to_ne_bytes());
    }
    for number in [BURST_TICKS, BURST_TICKS, QUANTUM_BYTES, 0, 0] {
        parameters.extend(number.to_ne_bytes());
    }
    let exact = bytes_per_second.to_ne_bytes();
    let options = Attributes::new().bytes(1, &parameters).bytes(6, &exact).bytes(7, &exact);
    Attributes::new().text(KIND, "htb").nested(OPTIONS, options)
}

pub fn remove_class(
    exchange: &mut Exchange,
    interface: &Interface,
    number: u16,
) -> anyhow::Result<()> {
    let class = header(interface, OURS | u32::from(number), 0, 0);
    let removed = exchange.change(DELETE_CLASS, 0, &class);
    removed.with_context(|| format!("take a cap from {interface}"))
}

pub fn class(
    exchange: &mut Exchange,
    interface: &Interface,
    number: u16,
) -> anyhow::Result<Option<Class>> {
    let found = exchange.dump(GET_CLASS, &header(interface, 0, 0, 0));
    let found = found.with_context(|| format!("read the caps of {interface}"))?;
    let handle = OURS | u32::from(number);
    let ours = bodies(&found, interface).find(|(found, ..)| *found == handle);
    Ok(ours.and_then(|(.., attributes)| decode_class(attributes)))
}

fn decode_class(attributes: &[u8]) -> Option<Class> {
    let options = find(attributes, OPTIONS)?;
    let long = |value: &[u8], at| Some(u64::from_ne_bytes(take(value, at)?));
    let short = |value: &[u8], at| Some(u64::from(u32::from_ne_bytes(take(value, at)?)));
    // Only a rate too large for the old field has the new one.
    let bytes_per_second = match find(options, 6) {
        Some(exact) => long(exact, 0)?,
        None => short(find(options, 1)?, 8)?,
    };
    let statistics = find(attributes, STATISTICS)?;
    let basic = find(statistics, 1)?;
    let dropped = find(statistics, 3).and_then(|queue| short(queue, 8)).unwrap_or(0);
    Some(Class { bytes_per_second, bytes: long(basic, 0)?, packets: short(basic, 8)?, dropped })
}

/// A filter's place in line is its class's number, so that it can be removed alone.
fn filter_info(number: u16) -> u32 {
    u32::from(number) << 16 | u32::from((libc::ETH_P_IP as u16).to_be())
}

/// Part of an IPv4 packet, in four bytes at an offset.
struct Key {
    offset: i32,
    mask: u32,
    value: u32,
}

fn add_filter(
    exchange: &mut Exchange,
    interface: &Interface,
    place: u16,
    keys: &[Key],
    class: u32,
) -> io::Result<()> {
    // Ends at the first match; so many keys.
    let mut selector = vec![1, 0, keys.len() as u8, 0];
    selector.resize(16, 0);
    for key in keys {
        selector.extend(key.mask.to_be_bytes());
        selector.extend(key.value.to_be_bytes());
        selector.extend(key.offset.to_ne_bytes());
        selector.extend(0u32.to_ne_bytes());
    }
    let options = Attributes::new().native(1, class).bytes(5, &selector);
    let attributes = Attributes::new().text(KIND, "u32").nested(OPTIONS, options);
    let added = message(header(interface, 0, OURS, filter_info(place)), &attributes);
    exchange.change(NEW_FILTER, CREATE | EXCLUSIVE, &added)
}

/// Sends what comes from or goes to an address through a class.
pub fn pick_address(
    exchange: &mut Exchange,
    interface: &Interface,
    number: u16,
    by: By,
    address: Ipv4Addr,
) -> anyhow::Result<()> {
    let key = Key { offset: by.offset(), mask: u32::MAX, value: address.to_bits() };
    let added = add_filter(exchange, interface, number, &[key], OURS | u32::from(number));
    added.with_context(|| format!("pick {address} on {interface}"))
}

/// Lets probes of links pass beside all caps: they tell whether a link is open, not how busy it is. The
/// bursts that measure caps are of another size, and are capped.
fn pass_probes(exchange: &mut Exchange, interface: &Interface) -> anyhow::Result<()> {
    let header = |length: Option<u16>| {
        let (mask, value) = length.map_or((0, 0), |length| (0xffff, u32::from(length)));
        Key { offset: 0, mask: 0xff00_0000 | mask, value: 0x4500_0000 | value }
    };
    let protocol = |number: i32| Key { offset: 8, mask: 0x00ff_0000, value: (number as u32) << 16 };
    let first = u32::from(*PROBE_PORTS.start());
    let ports = |shift: u32| Key { offset: 20, mask: 0xfff8 << shift, value: first << shift };
    let probe = (PROBE_LENGTH + 28) as u16;
    for (place, keys) in (1..).zip([
        [header(Some(probe)), protocol(libc::IPPROTO_UDP), ports(0)],
        [header(None), protocol(libc::IPPROTO_TCP), ports(16)],
        [header(None), protocol(libc::IPPROTO_TCP), ports(0)],
    ]) {
        let added = add_filter(exchange, interface, place, &keys, OURS);
        added.with_context(|| format!("let probes pass on {interface}"))?;
    }
    Ok(())
}

/// Lower ones are the places of the filters for probes.
pub const FIRST_CLASS: u16 = 8;

pub fn remove_filter(
    exchange: &mut Exchange,
    interface: &Interface,
    number: u16,
) -> anyhow::Result<()> {
    let removed = header(interface, 0, OURS, filter_info(number));
    exchange
        .change(DELETE_FILTER, 0, &removed)
        .with_context(|| format!("take a filter from {interface}"))
}

/// The address by which a class is picked.
pub fn filter_address(
    exchange: &mut Exchange,
    interface: &Interface,
    number: u16,
    by: By,
) -> io::Result<Option<Ipv4Addr>> {
    let found = exchange.dump(GET_FILTER, &header(interface, 0, OURS, filter_info(number)))?;
    let class = OURS | u32::from(number);
    let address = bodies(&found, interface).find_map(|(.., attributes)| {
        let options = find(attributes, OPTIONS)?;
        (find(options, 1).and_then(attribute::native) == Some(class)).then_some(())?;
        let selector = find(options, 5)?;
        let is_whole = take(selector, 16)? == u32::MAX.to_be_bytes();
        let is_there = take(selector, 24)? == by.offset().to_ne_bytes();
        (is_whole && is_there).then(|| take::<4>(selector, 20).map(Ipv4Addr::from))?
    });
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mask_picks_the_ports_of_probes_and_no_others() {
        let picked = (0..=u16::MAX).filter(|port| port & 0xfff8 == *PROBE_PORTS.start());
        assert!(picked.eq(PROBE_PORTS));
    }

    #[test]
    fn a_class_is_read_as_it_was_set() {
        for rate in [1_000, 12_500_000, 100_000_000] {
            let statistics =
                Attributes::new().bytes(1, &[[7u8, 0, 0, 0], [0; 4], [3, 0, 0, 0]].concat());
            let set = class_attributes(rate).nested(STATISTICS, statistics);
            let read = decode_class(set.as_bytes()).expect("a class");
            let wanted = Class { bytes_per_second: rate, bytes: 7, packets: 3, dropped: 0 };
            assert_eq!(read, wanted);
        }
        assert_eq!(decode_class(class_attributes(1_000).as_bytes()), None, "without statistics");
        assert_eq!(decode_class(&[]), None);
    }
}
