//! Interposers: transparent proxies in the namespaces of nodes that act on single messages.
//!
//! Redirections lead connections of a tapped port to the node's own interposer, which connects on to
//! where they were meant to go and passes everything on until a rule is armed. A client of a server that
//! is down is accepted by the kernel and then reset, where it would else be refused; one whose server
//! does not answer sees an open connection without answers. A server sees the node's own address as its
//! peer. Only new connections are redirected. Rules count matches over all connections of a node. When
//! all is taken back, connections through an interposer are reset.

mod armory;
mod flow;
mod redirect;
mod relay;
mod shared;
mod socket;
mod station;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

pub use armory::{ResolvedTap, Sighting};
use shared::Arrival;
pub use socket::MARK;
pub use station::Guests;
use station::Station;

use super::namespace;
use super::protocol::{Passed, Place, Spent, Tally, TapState};
use crate::cluster::{Concerning, Effect};
use crate::op::NodeName;

const POLL: Duration = Duration::from_micros(500);

/// How a probe goes.
pub struct Route {
    /// In whose namespace it is opened, and with which of its addresses.
    pub place: Place,
    pub from: Ipv4Addr,
    pub to: SocketAddr,
    pub within: Duration,
}

/// The interposers of a run, by node.
pub struct Interposers {
    run: String,
    sightings: SyncSender<Sighting>,
    stations: BTreeMap<NodeName, Station>,
}

impl Interposers {
    /// What they see goes to `sightings`; what finds no room there is not told.
    pub fn new(run: &str, sightings: SyncSender<Sighting>) -> Interposers {
        Interposers { run: run.to_owned(), sightings, stations: BTreeMap::new() }
    }

    /// Puts an interposer in a node's namespace where there is none, and redirects to it.
    pub fn tap(
        &mut self,
        node: NodeName,
        pid: u32,
        taps: Vec<ResolvedTap>,
    ) -> anyhow::Result<Vec<TapState>> {
        if !self.stations.contains_key(&node) {
            let station = Station::open(node, pid, &self.run, self.sightings.clone());
            let station = station.with_context(|| format!("place an interposer in {node}"))?;
            self.stations.insert(node, station);
        }
        let station = self.station(node)?;
        station.tap(taps.clone()).with_context(|| format!("tap {node}"))?;
        taps.iter().map(|tap| state(station, tap)).collect()
    }

    fn station(&mut self, node: NodeName) -> anyhow::Result<&mut Station> {
        let known: Vec<String> = self.stations.keys().map(NodeName::to_string).collect();
        self.stations.get_mut(&node).with_context(|| {
            format!("{node} has no interposer, expected one of: {}", known.join(", "))
        })
    }

    /// Arms the interposers of these taps' nodes; all of them, or none.
    pub fn arm(
        &mut self,
        concerning: Concerning,
        taps: Vec<ResolvedTap>,
        effect: &Effect,
    ) -> anyhow::Result<()> {
        let mut by_node: BTreeMap<NodeName, Vec<ResolvedTap>> = BTreeMap::new();
        for tap in taps {
            let station = self.station(tap.tap.node)?;
            ensure!(station.taps.contains(&tap), "{} is not tapped", tap.tap);
            by_node.entry(tap.tap.node).or_default().push(tap);
        }
        for (node, taps) in by_node {
            let armed = self.station(node)?.arm(concerning, taps, effect.clone());
            if let Err(error) = armed {
                // The first error is the one to tell.
                let _ = self.disarm(concerning);
                return Err(error).with_context(|| format!("arm the interposer of {node}"));
            }
        }
        Ok(())
    }

    /// `None` where nothing was armed.
    pub fn disarm(&mut self, concerning: Concerning) -> anyhow::Result<Option<Spent>> {
        let mut total: Option<Spent> = None;
        for (node, station) in &self.stations {
            let spent = station.disarm(concerning);
            let spent = spent.with_context(|| format!("disarm the interposer of {node}"))?;
            total = match (total, spent) {
                (Some(total), Some(spent)) => Some(total.and(spent)),
                (total, spent) => total.or(spent),
            };
        }
        Ok(total)
    }

    /// Opens a connection that should pass a tap, from this address at this place.
    pub fn probe(&mut self, tap: &ResolvedTap, route: &Route) -> anyhow::Result<Passed> {
        let station = self.station(tap.tap.node)?;
        let started = Instant::now();
        let open = || Ok(socket::open_from(route.from, route.to, route.within)?);
        let opened = match route.place {
            Place::Host => open(),
            Place::Container { pid } => namespace::within(pid, open),
        };
        let opened = opened.context("make a probe's socket")?;
        // One that is reset at once has been there all the same, and one that failed may have been.
        let passed = follow(station, opened.client, started, route.within)?;
        Ok(match opened.connected {
            Err(error) if passed == Passed::Around => Passed::Failed { error: error.to_string() },
            _ => passed,
        })
    }

    /// What a node's interposer has taken in; nothing where there is none.
    pub fn guests(&self, node: &NodeName) -> anyhow::Result<Guests> {
        let guests = self.stations.get(node).map(Station::guests);
        guests.unwrap_or_else(|| Ok(Guests::default()))
    }

    /// Where the interposer at a node listens itself, if there is one.
    pub fn ports(&self, node: &NodeName) -> Vec<u16> {
        self.stations.get(node).map_or(Vec::new(), |station| station.ports().to_vec())
    }

    /// A tap's rules as the kernel shows them.
    pub fn state(&mut self, tap: &ResolvedTap) -> anyhow::Result<TapState> {
        state(self.station(tap.tap.node)?, tap)
    }

    /// Takes everything back; what faults had done, and what is left.
    pub fn heal(&mut self) -> (Vec<Tally>, Vec<String>) {
        let (mut hits, mut left) = (BTreeMap::new(), Vec::new());
        for (_, station) in std::mem::take(&mut self.stations) {
            let (spent, remains) = station.close();
            left.extend(remains);
            for (concerning, spent) in spent {
                if let Concerning::Fault(fault) = concerning {
                    *hits.entry(fault).or_insert(0) += spent.hits;
                }
            }
        }
        let tally = |(fault, packets)| Tally { fault, packets, probes: 0 };
        (hits.into_iter().map(tally).collect(), left)
    }
}

fn state(station: &mut Station, tap: &ResolvedTap) -> anyhow::Result<TapState> {
    let taps: Vec<ResolvedTap> = station.taps.clone();
    let rules = station.redirect.in_force(&taps.iter().collect::<Vec<_>>(), tap)?;
    Ok(TapState {
        tap: tap.tap.clone(),
        table: station.redirect.table.clone(),
        owned: station.redirect.owned,
        rules,
        wanted: redirect::rules(&tap),
    })
}

/// Asks the interposer until it knows what became of a connection.
fn follow(
    station: &Station,
    client: SocketAddr,
    started: Instant,
    within: Duration,
) -> anyhow::Result<Passed> {
    loop {
        let arrival = station.arrival(client)?;
        match arrival {
            Some(Arrival::Connected) => {
                return Ok(Passed::Through { after_us: started.elapsed().as_micros() as u64 });
            }
            Some(Arrival::Refused) => return Ok(Passed::Refused),
            Some(Arrival::Waiting) if started.elapsed() > within => return Ok(Passed::Unanswered),
            None if started.elapsed() > within => return Ok(Passed::Around),
            Some(Arrival::Waiting) | None => std::thread::sleep(POLL),
        }
    }
}
