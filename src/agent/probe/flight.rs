//! One round of probes: which packets went out, which came in, and what that says of each link. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use crate::agent::attribute::take;
use crate::agent::protocol::{LinkProbe, Passage, ProbeReport};
use crate::cluster::Link;
use crate::op::NodeName;

const MAGIC: &[u8; 16] = b"stormglass probe";

/// The bytes of a probe, without headers.
pub const PROBE_LENGTH: usize = 32;

/// What a probe carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub round: u64,
    /// The link's number in this round.
    pub link: u32,
    pub attempt: u32,
}

impl Packet {
    pub fn encode(self) -> [u8; PROBE_LENGTH] {
        let mut bytes = [0; PROBE_LENGTH];
        bytes[..16].copy_from_slice(MAGIC);
        bytes[16..24].copy_from_slice(&self.round.to_be_bytes());
        bytes[24..28].copy_from_slice(&self.link.to_be_bytes());
        bytes[28..].copy_from_slice(&self.attempt.to_be_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Option<Packet> {
        (bytes.len() == PROBE_LENGTH && bytes.starts_with(MAGIC)).then_some(())?;
        let round = u64::from_be_bytes(take(bytes, 16)?);
        let link = u32::from_be_bytes(take(bytes, 24)?);
        let attempt = u32::from_be_bytes(take(bytes, 28)?);
        Some(Packet { round, link, attempt })
    }
}

#[derive(Default)]
struct Track {
    sent: u64,
    /// Attempts that came out at the other end; each once, even if the network doubles packets.
    arrived: BTreeSet<u32>,
    first_after_us: Option<u64>,
    error: Option<String>,
}

/// The links of a round and how far each has come.
pub struct Flight {
    links: Vec<Link>,
    tracks: BTreeMap<u32, Track>,
}

impl Flight {
    pub fn new(links: &BTreeSet<Link>) -> Flight {
        let links: Vec<Link> = links.iter().cloned().collect();
        let tracks = (0..links.len() as u32).map(|index| (index, Track::default())).collect();
        Flight { links, tracks }
    }

    /// The links over which nothing has come yet.
    pub fn missing(&self) -> Vec<(u32, Link)> {
        let missing = self.tracks.iter().filter(|(_, track)| track.arrived.is_empty());
        missing.map(|(index, _)| (*index, self.links[*index as usize].clone())).collect()
    }

    pub fn sent(&mut self, index: u32, result: io::Result<usize>) {
        let Some(track) = self.tracks.get_mut(&index) else { return };
        match result {
            Ok(_) => track.sent += 1,
            Err(error) => track.error = Some(error.to_string()),
        }
    }

    /// A packet came out at a node; it counts only where its link ends there.
    pub fn arrived(&mut self, index: u32, attempt: u32, at: &NodeName, after_us: u64) {
        let Some(track) = self.tracks.get_mut(&index) else { return };
        if self.links[index as usize].to == *at {
            track.arrived.insert(attempt);
            track.first_after_us.get_or_insert(after_us);
        }
    }

    /// Nothing is still to come: every packet has arrived or was dropped by our rules.
    pub fn is_settled(&self, dropped: u64) -> bool {
        let refused = self.tracks.values().any(|track| track.sent == 0);
        !refused && self.unaccounted(dropped) == 0
    }

    fn unaccounted(&self, dropped: u64) -> u64 {
        let arrived: usize = self.tracks.values().map(|track| track.arrived.len()).sum();
        self.count_sent().saturating_sub(arrived as u64 + dropped)
    }

    fn count_sent(&self) -> u64 {
        self.tracks.values().map(|track| track.sent).sum()
    }

    pub fn report(self, dropped: u64, took: Duration) -> ProbeReport {
        let sent = self.count_sent();
        let all_counted = self.unaccounted(dropped) == 0;
        let links = self.links.into_iter().zip(self.tracks.into_values());
        let links = links.map(|(link, track)| {
            let passage = match track.first_after_us {
                Some(after_us) => Passage::Arrived { after_us },
                None if all_counted && track.sent > 0 => Passage::Dropped,
                None => Passage::Silent,
            };
            LinkProbe { link, passage, error: track.error }
        });
        ProbeReport { links: links.collect(), sent, dropped, took_us: took.as_micros() as u64 }
    }
}

#[cfg(test)]
mod tests;
