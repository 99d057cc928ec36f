//! What a fault's table asks of a packet and does with it, and knowing that again when it is read back.

use super::{DROPPED, LINKS, PROBE_PORTS};
use crate::agent::nftables::{Expressions, FROM_PORT, TO_PORT};
use crate::agent::protocol::Matched;
use crate::agent::table_reader::{Outline, outline};

/// The rule at each hook: what it takes goes to the chain that counts.
pub fn hooked(matched: Matched) -> Expressions {
    let linked = Expressions::new().ethertype_ipv4().source_and_destination_in(LINKS);
    let taken = match matched {
        Matched::Everything => linked,
        Matched::AllButTcp => linked.not_tcp(),
        Matched::Port { port } => linked.tcp_ports_at(TO_PORT, port..=port),
        Matched::Refused { port: None } => linked.tcp_without_reset(),
        Matched::Refused { port: Some(port) } => {
            linked.tcp_without_reset().tcp_ports_at(TO_PORT, port..=port)
        }
    };
    taken.jump(DROPPED)
}

/// The rules of the chain that counts: probes first, in any of their forms, the workload last.
pub fn counting(matched: Matched) -> Vec<Expressions> {
    let end = |counted: Expressions| match matched {
        Matched::Refused { .. } => counted.count().reset(),
        _ => counted.count().drop(),
    };
    let probes = [
        Expressions::new().udp_to_ports(PROBE_PORTS),
        Expressions::new().tcp_ports_at(FROM_PORT, PROBE_PORTS),
        Expressions::new().tcp_ports_at(TO_PORT, PROBE_PORTS),
        Expressions::new(),
    ];
    let is_tcp = matches!(matched, Matched::Refused { .. } | Matched::Port { .. });
    probes.into_iter().skip(usize::from(is_tcp)).map(end).collect()
}

/// What rules these are; `None` where they are none of ours.
pub fn read(at_hook: &Outline, counted: &[Outline]) -> Option<Matched> {
    let mut numbers =
        at_hook.iter().filter_map(|(_, compared)| <[u8; 2]>::try_from(&compared[..]).ok());
    let last = numbers.next_back().map(u16::from_be_bytes);
    let with_port = last
        .into_iter()
        .flat_map(|port| [Matched::Port { port }, Matched::Refused { port: Some(port) }]);
    let plain = [Matched::Everything, Matched::AllButTcp, Matched::Refused { port: None }];
    plain.into_iter().chain(with_port).find(|matched| {
        let wanted = counting(*matched);
        outline(hooked(*matched).as_bytes()) == *at_hook
            && wanted.len() == counted.len()
            && wanted.iter().zip(counted).all(|(rule, found)| outline(rule.as_bytes()) == *found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_known_again_and_no_two_are_taken_for_each_other() {
        let all = [
            Matched::Everything,
            Matched::AllButTcp,
            Matched::Port { port: 2888 },
            Matched::Refused { port: None },
            Matched::Refused { port: Some(2181) },
        ];
        for matched in all {
            let at_hook = outline(hooked(matched).as_bytes());
            let mut counted: Vec<Outline> =
                counting(matched).iter().map(|rule| outline(rule.as_bytes())).collect();
            assert_eq!(read(&at_hook, &counted), Some(matched));
            counted.pop();
            assert_eq!(read(&at_hook, &counted), None);
        }
        assert_eq!(read(&Outline::new(), &[]), None);
    }
}
