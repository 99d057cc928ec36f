//! Bandwidth caps on links: installed, read back from the kernel, composed and removed.
//!
//! A link that leads to a node is capped where the host hands the node its packets: at the host's end of
//! the node's veth. A link that leads to the clients is capped where it leaves the node, inside the node's
//! namespace, since the host's own interfaces are never touched. On each such interface stands one tree of
//! ours with a class for each capped address; several faults on one link make one class with the least of
//! their rates. The tree goes with the last of them, and with the container.

mod htb;
mod interface;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use super::namespace::Inside;
use super::netlink::{Exchange, Subsystem};
use super::protocol::Cap;
use crate::cluster::{FaultId, Link};
use crate::op::NodeName;
use htb::By;
use interface::Interface;

/// A cap below it could not be proven in reasonable time, one above it not at all.
pub const RATES: std::ops::RangeInclusive<u64> = 1_000..=100_000_000;

/// A node with what is needed to find its interfaces.
pub struct Site<'a> {
    pub node: NodeName,
    pub address: Ipv4Addr,
    pub inside: &'a Inside,
}

/// One link to be capped: where, and by which address.
pub struct Spot<'a> {
    pub link: Link,
    pub site: &'a Site<'a>,
    pub by: By,
    pub address: Ipv4Addr,
}

impl<'a> Spot<'a> {
    /// `None` where neither end is a node.
    pub fn of(link: &Link, from: &'a Site<'a>, to: &'a Site<'a>) -> Option<Spot<'a>> {
        let (site, by, address) = match (from.inside, to.inside) {
            (_, Inside::Container(_)) => (to, By::Source, from.address),
            (Inside::Container(_), Inside::Host) => (from, By::Destination, to.address),
            (Inside::Host, Inside::Host) => return None,
        };
        Some(Spot { link: link.clone(), site, by, address })
    }
}

/// One class: an address capped by one fault or several.
struct Capped {
    number: u16,
    rates: BTreeMap<FaultId, Rate>,
}

struct Rate {
    bytes_per_second: u64,
    /// Packets of the class that this fault did not hit: from before it, and probes.
    not_hit: u64,
}

impl Capped {
    fn least(&self) -> Option<u64> {
        self.rates.values().map(|rate| rate.bytes_per_second).min()
    }
}

/// One interface with our tree.
struct Shaper {
    exchange: Exchange,
    interface: Interface,
    by: By,
    capped: BTreeMap<Ipv4Addr, Capped>,
}

/// All caps in force.
#[derive(Default)]
pub struct Caps {
    shapers: BTreeMap<(NodeName, By), Shaper>,
    closed: bool,
}

impl Caps {
    /// From now on nothing is installed any more.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Caps each of these links, or none. The same fault again replaces its caps.
    pub fn install(
        &mut self,
        fault: FaultId,
        spots: &[Spot<'_>],
        bytes_per_second: u64,
    ) -> anyhow::Result<Vec<Cap>> {
        ensure!(!self.closed, "the agent is ending and installs nothing more");
        ensure!(
            RATES.contains(&bytes_per_second),
            "a cap of {bytes_per_second} B/s, expected {} to {}",
            RATES.start(),
            RATES.end()
        );
        self.remove(fault)?;
        let caps = spots.iter().map(|spot| {
            let cap = self.shaper(spot)?.cap(fault, spot, bytes_per_second);
            cap.with_context(|| format!("cap {}", spot.link))
        });
        let caps: anyhow::Result<Vec<Cap>> = caps.collect();
        caps.inspect_err(|_| {
            // The first error is the one to tell.
            let _ = self.remove(fault);
        })
    }

    fn shaper(&mut self, spot: &Spot<'_>) -> anyhow::Result<&mut Shaper> {
        Ok(match self.shapers.entry((spot.site.node, spot.by)) {
            Entry::Occupied(shaper) => shaper.into_mut(),
            Entry::Vacant(place) => place.insert(Shaper::open(spot.site, spot.by)?),
        })
    }

    /// Takes back what a fault installed: the packets that it hit, `None` where nothing was in force.
    pub fn remove(&mut self, fault: FaultId) -> anyhow::Result<Option<u64>> {
        let mut hit = None;
        let mut failure = None;
        for shaper in self.shapers.values_mut() {
            match shaper.uncap(fault) {
                Ok(packets) => {
                    hit = packets.map_or(hit, |packets| Some(hit.unwrap_or(0) + packets))
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        self.shapers.retain(|_, shaper| !shaper.capped.is_empty());
        failure.map_or(Ok(hit), Err)
    }

    /// Removes every tree: the packets that each fault hit, and what could not be removed.
    pub fn heal(&mut self) -> (BTreeMap<FaultId, u64>, Vec<String>) {
        let (mut hit, mut left) = (BTreeMap::new(), Vec::new());
        for (_, mut shaper) in std::mem::take(&mut self.shapers) {
            shaper.count_hits(&mut hit);
            if let Err(error) = shaper.remove_tree() {
                left.push(format!("{}: {error:#}", shaper.interface));
            }
        }
        (hit, left)
    }

    /// Removes our trees from a node's interfaces, whoever put them there; from which there were any.
    pub fn sweep(&mut self, site: &Site<'_>) -> anyhow::Result<Vec<String>> {
        let mut swept = Vec::new();
        for by in [By::Source, By::Destination] {
            let mut shaper = Shaper::open(site, by)?;
            if htb::remove_root(&mut shaper.exchange, &shaper.interface)? {
                swept.push(format!("the caps on {} of {}", shaper.interface, site.node));
            }
        }
        Ok(swept)
    }

    /// The bytes that have passed under a link's cap so far; `None` where it has none.
    pub fn passed(&mut self, spot: &Spot<'_>) -> anyhow::Result<Option<u64>> {
        let Some(shaper) = self.shapers.get_mut(&(spot.site.node, spot.by)) else {
            return Ok(None);
        };
        let Some(capped) = shaper.capped.get(&spot.address) else { return Ok(None) };
        let class = htb::class(&mut shaper.exchange, &shaper.interface, capped.number)?;
        Ok(class.map(|class| class.bytes))
    }

    /// So many packets through a link's cap were probes.
    pub fn discount(&mut self, spot: &Spot<'_>, packets: u64) {
        let shaper = self.shapers.get_mut(&(spot.site.node, spot.by));
        let capped = shaper.and_then(|shaper| shaper.capped.get_mut(&spot.address));
        for rate in capped.into_iter().flat_map(|capped| capped.rates.values_mut()) {
            rate.not_hit += packets;
        }
    }
}

impl Shaper {
    fn open(site: &Site<'_>, by: By) -> anyhow::Result<Shaper> {
        let Some(namespace) = site.inside.namespace() else {
            bail!("{} is no node: the host's own interfaces are never shaped", site.node);
        };
        let finding = || format!("find the interface of {}", site.node);
        let mut inside = site.inside.run(|| Exchange::open(Subsystem::Route))?;
        let (exchange, interface) = match by {
            By::Source => {
                let mut host = Exchange::open(Subsystem::Route)?;
                let found = interface::host_end(&mut host, &mut inside, namespace, site.address);
                (host, found.with_context(finding)?)
            }
            By::Destination => {
                let found = interface::with_address(&mut inside, site.address);
                (inside, found.with_context(finding)?)
            }
        };
        Ok(Shaper { exchange, interface, by, capped: BTreeMap::new() })
    }

    fn cap(
        &mut self,
        fault: FaultId,
        spot: &Spot<'_>,
        bytes_per_second: u64,
    ) -> anyhow::Result<Cap> {
        htb::ensure_root(&mut self.exchange, &self.interface)?;
        let address = spot.address;
        let number = match self.capped.get(&address) {
            Some(capped) => capped.number,
            None => self.free_number()?,
        };
        let before = htb::class(&mut self.exchange, &self.interface, number)?;
        let not_hit = before.map_or(0, |class| class.packets);
        let fresh = || Capped { number, rates: BTreeMap::new() };
        let capped = self.capped.entry(address).or_insert_with(fresh);
        capped.rates.insert(fault, Rate { bytes_per_second, not_hit });
        let least = capped.least().unwrap_or(bytes_per_second);
        htb::set_class(&mut self.exchange, &self.interface, number, least)?;
        if before.is_none() {
            htb::pick_address(&mut self.exchange, &self.interface, number, self.by, address)?;
        }
        self.read_back(&spot.link, address, least)
    }

    fn free_number(&self) -> anyhow::Result<u16> {
        let taken: BTreeSet<u16> = self.capped.values().map(|capped| capped.number).collect();
        let free = (htb::FIRST_CLASS..u16::MAX).find(|number| !taken.contains(number));
        free.with_context(|| format!("{} has all the caps that it can have", self.interface))
    }

    fn read_back(&mut self, link: &Link, address: Ipv4Addr, wanted: u64) -> anyhow::Result<Cap> {
        let number = self.capped.get(&address).map_or(0, |capped| capped.number);
        let class = htb::class(&mut self.exchange, &self.interface, number)?;
        let rate = class.context("its class is not there")?.bytes_per_second;
        ensure!(rate == wanted, "its class has {rate} B/s, expected {wanted}");
        let picked = htb::filter_address(&mut self.exchange, &self.interface, number, self.by)
            .context("read its filter back")?;
        ensure!(picked == Some(address), "its class gets {picked:?}, expected {address}");
        let interface = self.interface.name.clone();
        Ok(Cap { link: link.clone(), bytes_per_second: rate, interface })
    }

    fn uncap(&mut self, fault: FaultId) -> anyhow::Result<Option<u64>> {
        let mut hit = BTreeMap::new();
        self.count_hits(&mut hit);
        let addresses: Vec<Ipv4Addr> = self.capped.keys().copied().collect();
        for address in addresses {
            let Some(capped) = self.capped.get_mut(&address) else { continue };
            if capped.rates.remove(&fault).is_none() {
                continue;
            }
            let number = capped.number;
            if let Some(least) = capped.least() {
                htb::set_class(&mut self.exchange, &self.interface, number, least)?;
            } else {
                self.capped.remove(&address);
                if !self.capped.is_empty() {
                    htb::remove_filter(&mut self.exchange, &self.interface, number)?;
                    htb::remove_class(&mut self.exchange, &self.interface, number)?;
                }
            }
        }
        if self.capped.is_empty() {
            self.remove_tree()?;
        }
        Ok(hit.get(&fault).copied())
    }

    /// Adds to each fault's the packets that met its caps here.
    fn count_hits(&mut self, hit: &mut BTreeMap<FaultId, u64>) {
        for capped in self.capped.values() {
            let class = htb::class(&mut self.exchange, &self.interface, capped.number);
            // A class that cannot be counted must go all the same.
            let packets = class.ok().flatten().map_or(0, |class| class.packets + class.dropped);
            for (fault, rate) in &capped.rates {
                *hit.entry(*fault).or_default() += packets.saturating_sub(rate.not_hit);
            }
        }
    }

    /// An interface that went with its container took the tree with it.
    fn remove_tree(&mut self) -> anyhow::Result<()> {
        match htb::remove_root(&mut self.exchange, &self.interface) {
            Err(error) if is_gone(&error) => Ok(()),
            removed => removed.map(|_| ()),
        }
    }
}

/// Caps an interface of our own namespace and sends a burst over it, from and to the loopback address; its
/// bytes a second.
pub fn trial(index: i32) -> anyhow::Result<u64> {
    const RATE: u64 = 500_000;
    const PACKETS: usize = 30;
    let interface = Interface { index, name: "a trial's interface".to_owned() };
    let mut exchange = Exchange::open(Subsystem::Route)?;
    htb::ensure_root(&mut exchange, &interface)?;
    htb::set_class(&mut exchange, &interface, htb::FIRST_CLASS, RATE)?;
    let address = Ipv4Addr::LOCALHOST;
    htb::pick_address(&mut exchange, &interface, htb::FIRST_CLASS, By::Source, address)?;
    let to = UdpSocket::bind((address, 0)).context("bind to loopback")?;
    let from = UdpSocket::bind((address, 0)).context("bind to loopback")?;
    to.set_read_timeout(Some(Duration::from_secs(1))).context("set up a socket")?;
    let target = to.local_addr().context("ask for a port")?;
    let started = Instant::now();
    let mut buffer = [0; 1_000];
    for _ in 0..PACKETS {
        from.send_to(&buffer, target).context("send over a capped interface")?;
    }
    for _ in 0..PACKETS {
        to.recv(&mut buffer).context("receive over a capped interface")?;
    }
    let speed = (PACKETS * buffer.len()) as f64 / started.elapsed().as_secs_f64();
    ensure!(speed <= RATE as f64 * 2.0, "a burst went at {speed:.0} B/s, expected about {RATE}");
    htb::remove_root(&mut exchange, &interface)?;
    Ok(speed as u64)
}

fn is_gone(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<std::io::Error>();
    cause.and_then(std::io::Error::raw_os_error) == Some(libc::ENODEV)
}
