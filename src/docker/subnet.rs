//! IPv4 subnets and the choice of a free one. Pure: what is taken is handed in.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subnet {
    network: u32,
    prefix: u8,
}

/// Where free subnets are looked for: a range for tests of networks, then usual private ones.
const POOLS: [Subnet; 3] = [
    Subnet { network: u32::from_be_bytes([198, 18, 0, 0]), prefix: 15 },
    Subnet { network: u32::from_be_bytes([10, 213, 0, 0]), prefix: 16 },
    Subnet { network: u32::from_be_bytes([172, 30, 0, 0]), prefix: 16 },
];

/// A run's network has this length: 254 addresses.
const RUN_PREFIX: u8 = 24;

/// The first node's place in the subnet; the bridge has the first address.
const FIRST_NODE: u32 = 11;

impl Subnet {
    fn size(self) -> u64 {
        1 << (32 - u32::from(self.prefix))
    }

    pub fn overlaps(self, other: Subnet) -> bool {
        let shorter = self.prefix.min(other.prefix);
        let mask = u32::MAX.checked_shl(32 - u32::from(shorter)).unwrap_or(0);
        self.network & mask == other.network & mask
    }

    /// The host's own address on the bridge.
    pub fn gateway(self) -> Ipv4Addr {
        Ipv4Addr::from(self.network + 1)
    }

    /// The address of the node with this index; `None` past the end.
    pub fn node(self, index: usize) -> Option<Ipv4Addr> {
        let place = FIRST_NODE.checked_add(u32::try_from(index).ok()?)?;
        (u64::from(place) < self.size() - 1).then(|| Ipv4Addr::from(self.network + place))
    }
}

impl fmt::Display for Subnet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from(self.network), self.prefix)
    }
}

impl FromStr for Subnet {
    type Err = String;

    fn from_str(text: &str) -> Result<Subnet, String> {
        let wrong = || format!("`{text}` is no IPv4 subnet: expected one such as 10.9.8.0/24");
        let (address, prefix) = text.split_once('/').ok_or_else(wrong)?;
        let address: Ipv4Addr = address.parse().map_err(|_| wrong())?;
        let prefix: u8 = prefix.parse().ok().filter(|prefix| *prefix <= 30).ok_or_else(wrong)?;
        let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
        if u32::from(address) & !mask != 0 {
            return Err(format!("{} (bits after /{prefix} are set)", wrong()));
        }
        Ok(Subnet { network: address.into(), prefix })
    }
}

/// A subnet that meets none of those taken. Different seeds begin the search at different places.
pub fn choose(taken: &[Subnet], seed: u64) -> Option<Subnet> {
    POOLS.iter().find_map(|pool| {
        let count = pool.size() >> (32 - u32::from(RUN_PREFIX));
        (0..count).find_map(|step| {
            let index = (seed % count + step) % count;
            let network = pool.network + ((index as u32) << (32 - u32::from(RUN_PREFIX)));
            let candidate = Subnet { network, prefix: RUN_PREFIX };
            (!taken.iter().any(|other| other.overlaps(candidate))).then_some(candidate)
        })
    })
}

/// The destinations of this host's routes, the default route left out, from `/proc/net/route`.
pub fn parse_routes(table: &str) -> Vec<Subnet> {
    let route = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |index: usize| u32::from_str_radix(fields.get(index)?, 16).ok();
        let (network, mask) = (number(1)?.swap_bytes(), number(7)?.swap_bytes());
        (mask != 0).then_some(Subnet { network, prefix: mask.count_ones() as u8 })
    };
    table.lines().skip(1).filter_map(route).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subnet(text: &str) -> Subnet {
        text.parse().expect("a subnet")
    }

    #[test]
    fn a_free_subnet_meets_none_that_is_taken() {
        let first = choose(&[], 0).expect("all are free");
        assert_eq!(first, subnet("198.18.0.0/24"));
        let next = choose(&[subnet("198.18.0.0/22")], 1).expect("some are free");
        assert_eq!(next, subnet("198.18.4.0/24"));
        let other_pool = choose(&[subnet("198.0.0.0/8")], 3).expect("some are free");
        assert_eq!(other_pool, subnet("10.213.3.0/24"));
        let everything = [subnet("198.18.0.0/15"), subnet("10.0.0.0/8"), subnet("172.16.0.0/12")];
        assert_eq!(choose(&everything, 9), None);
    }

    #[test]
    fn the_search_goes_round() {
        let taken = [subnet("198.19.255.0/24")];
        assert_eq!(choose(&taken, 511), Some(subnet("198.18.0.0/24")));
    }

    #[test]
    fn nodes_have_fixed_places_within_the_subnet() {
        let small = subnet("10.9.8.0/28");
        assert_eq!(small.gateway(), Ipv4Addr::new(10, 9, 8, 1));
        assert_eq!(small.node(0), Some(Ipv4Addr::new(10, 9, 8, 11)));
        assert_eq!(small.node(3), Some(Ipv4Addr::new(10, 9, 8, 14)));
        assert_eq!(small.node(4), None);
    }

    #[test]
    fn routes_are_read_without_the_default_route() {
        let table = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n\
                     eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\n\
                     docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\n";
        assert_eq!(parse_routes(table), [subnet("172.17.0.0/16")]);
    }

    #[test]
    fn what_is_no_subnet_is_refused_with_an_example() {
        for text in ["10.0.0.0", "10.0.0.1/24", "10.0.0.0/31", "a/24", "10.0.0.0/x"] {
            let error = text.parse::<Subnet>().expect_err(text);
            assert!(error.contains("such as 10.9.8.0/24"), "{error}");
        }
    }
}
