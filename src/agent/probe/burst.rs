//! How fast a link carries data: a burst of packets over each link at once, and when they came out. Pure.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::agent::attribute::take;
use crate::agent::protocol::Speed;
use crate::cluster::Link;
use crate::op::NodeName;

const MAGIC: &[u8; 16] = b"stormglass burst";
const HEADER_LENGTH: usize = 28;
/// What a packet weighs beside its payload: Ethernet, IPv4 and UDP.
const OVERHEAD_BYTES: u64 = 14 + 20 + 8;

const LARGEST_PAYLOAD: u64 = 1_400;
const SMALLEST_PAYLOAD: u64 = 60;
const FEWEST_PACKETS: u64 = 8;
const MOST_PACKETS: u64 = 2_000;

/// How long a burst should take at the rate at which it is measured.
const AIM: Duration = Duration::from_millis(150);
/// In how many packets of the same size, where they can be that small or large.
const PARTS: u64 = 20;

/// The size of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    pub packets: u64,
    pub payload: u64,
}

impl Burst {
    /// Enough to take [`AIM`] at this rate, as far as sensible numbers of packets allow.
    pub fn at(bytes_per_second: u64) -> Burst {
        let total = (bytes_per_second as u128 * AIM.as_millis() / 1_000) as u64;
        let part = (total / PARTS).saturating_sub(OVERHEAD_BYTES);
        let payload = part.clamp(SMALLEST_PAYLOAD, LARGEST_PAYLOAD);
        let packets = (total / (payload + OVERHEAD_BYTES)).clamp(FEWEST_PACKETS, MOST_PACKETS);
        Burst { packets, payload }
    }

    /// On the wire.
    pub fn bytes(self) -> u64 {
        self.packets * (self.payload + OVERHEAD_BYTES)
    }

    /// What it takes at a rate.
    pub fn takes(self, bytes_per_second: u64) -> Duration {
        Duration::from_nanos(
            (u128::from(self.bytes()) * 1_000_000_000 / u128::from(bytes_per_second.max(1))) as u64,
        )
    }

    pub fn encode(self, round: u64, link: u32) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(round.to_be_bytes());
        bytes.extend(link.to_be_bytes());
        bytes.resize(self.payload as usize, 0);
        bytes
    }
}

/// (round, link) of a burst's packet.
pub fn decode(bytes: &[u8]) -> Option<(u64, u32)> {
    (bytes.len() >= HEADER_LENGTH && bytes.starts_with(MAGIC)).then_some(())?;
    Some((u64::from_be_bytes(take(bytes, 16)?), u32::from_be_bytes(take(bytes, 24)?)))
}

#[derive(Clone, Debug, Default)]
struct Run {
    sent: u64,
    arrived: u64,
    last_after: Duration,
}

/// One burst over each of some links, and how far each has come.
pub struct Bursts {
    burst: Burst,
    links: Vec<Link>,
    runs: BTreeMap<u32, Run>,
}

impl Bursts {
    pub fn new(burst: Burst, links: Vec<Link>) -> Bursts {
        let runs = (0..links.len() as u32).map(|index| (index, Run::default())).collect();
        Bursts { burst, links, runs }
    }

    /// The links over which packets are still to be sent.
    pub fn unsent(&self) -> Vec<(u32, Link)> {
        let unsent = self.runs.iter().filter(|(_, run)| run.sent < self.burst.packets);
        unsent.map(|(index, _)| (*index, self.links[*index as usize].clone())).collect()
    }

    /// One packet more; whether another is to follow.
    pub fn sent(&mut self, index: u32) -> bool {
        let Some(run) = self.runs.get_mut(&index) else { return false };
        run.sent += 1;
        run.sent < self.burst.packets
    }

    pub fn arrived(&mut self, index: u32, at: &NodeName, after: Duration) {
        let Some(run) = self.runs.get_mut(&index) else { return };
        if self.links[index as usize].to == *at {
            run.arrived += 1;
            run.last_after = after;
        }
    }

    pub fn is_over(&self) -> bool {
        self.runs.values().all(|run| run.arrived == self.burst.packets)
    }

    /// `passed` says what went under each link's cap meanwhile, the workload's bytes included.
    pub fn report(self, passed: &[Option<u64>]) -> Vec<Speed> {
        let size = self.burst.payload + OVERHEAD_BYTES;
        let runs = self.links.into_iter().zip(self.runs.into_values()).zip(passed);
        let speed = |((link, run), passed): ((Link, Run), &Option<u64>)| Speed {
            link,
            packets_sent: run.sent,
            bytes_sent: run.sent * size,
            bytes_arrived: run.arrived * size,
            bytes_passed: *passed,
            took_us: run.last_after.as_micros() as u64,
        };
        runs.map(speed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::probe::flight::{PROBE_LENGTH, Packet};

    #[test]
    fn a_burst_takes_about_as_long_as_is_aimed_at_and_never_seconds() {
        for (rate, least_ms, most_ms) in [
            (1_000, 150, 1_000),
            (10_000, 140, 160),
            (50_000, 140, 160),
            (1_000_000, 140, 160),
            (12_500_000, 140, 160),
            (100_000_000, 25, 40),
        ] {
            let burst = Burst::at(rate);
            let takes = burst.takes(rate).as_millis();
            assert!((least_ms..=most_ms).contains(&takes), "{rate} B/s: {burst:?} {takes} ms");
            assert!((FEWEST_PACKETS..=MOST_PACKETS).contains(&burst.packets), "{burst:?}");
        }
    }

    #[test]
    fn a_packet_of_a_burst_is_known_again_and_is_no_probe() {
        let bytes = Burst::at(1_000).encode(7, 3);
        assert_eq!(decode(&bytes), Some((7, 3)));
        assert_eq!(Packet::decode(&bytes), None);
        assert!(SMALLEST_PAYLOAD as usize > PROBE_LENGTH, "caps tell them apart by length");
        assert_eq!(decode(&bytes[..27]), None);
        assert_eq!(decode(&[0; 60]), None);
    }

    #[test]
    fn what_comes_out_elsewhere_is_not_counted() {
        let link = Link { from: "a".into(), to: "b".into() };
        let mut bursts = Bursts::new(Burst { packets: 2, payload: 58 }, vec![link]);
        assert!(bursts.sent(0) && !bursts.sent(0));
        bursts.arrived(0, &"b".into(), Duration::from_millis(1));
        bursts.arrived(0, &"c".into(), Duration::from_millis(2));
        bursts.arrived(9, &"b".into(), Duration::from_millis(3));
        assert!(!bursts.is_over());
        bursts.arrived(0, &"b".into(), Duration::from_millis(4));
        assert!(bursts.is_over() && bursts.unsent().is_empty());
        let [speed] = &bursts.report(&[Some(300)])[..] else { panic!("one link") };
        assert_eq!((speed.bytes_sent, speed.bytes_arrived, speed.took_us), (200, 200, 4_000));
        assert_eq!(speed.bytes_passed, Some(300));
    }
}
