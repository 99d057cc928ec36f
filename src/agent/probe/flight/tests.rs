//! What a round says of its links, by what went out, came in and was counted.

use super::*;

fn link(from: &str, to: &str) -> Link {
    Link { from: from.into(), to: to.into() }
}

/// a→b and b→a, each sent once.
fn both_ways() -> Flight {
    let mut flight = Flight::new(&[link("a", "b"), link("b", "a")].into());
    flight.sent(0, Ok(32));
    flight.sent(1, Ok(32));
    flight
}

fn passages(flight: Flight, dropped: u64) -> Vec<String> {
    let report = flight.report(dropped, Duration::ZERO);
    report.links.iter().map(|probe| format!("{} {}", probe.link, probe.passage)).collect()
}

#[test]
fn packets_survive_the_wire_and_others_are_refused() {
    let packet = Packet { round: u64::MAX - 1, link: 3, attempt: 5 };
    assert_eq!(Packet::decode(&packet.encode()), Some(packet));
    assert_eq!(Packet::decode(&packet.encode()[..31]), None);
    assert_eq!(Packet::decode(&[0; 32]), None);
}

#[test]
fn a_link_is_open_where_a_packet_came_out() {
    let mut flight = both_ways();
    flight.arrived(0, 1, &"b".into(), 40);
    flight.arrived(1, 1, &"a".into(), 41);
    assert!(flight.is_settled(0));
    assert_eq!(passages(flight, 0), ["a→b open", "b→a open"]);
}

#[test]
fn one_way_is_cut_once_the_missing_packet_is_counted() {
    let mut flight = both_ways();
    flight.arrived(1, 1, &"a".into(), 41);
    assert!(!flight.is_settled(0));
    assert!(flight.is_settled(1));
    assert_eq!(passages(flight, 1), ["a→b cut", "b→a open"]);
}

#[test]
fn what_nobody_counted_is_silent_and_not_cut() {
    assert_eq!(passages(both_ways(), 0), ["a→b silent", "b→a silent"]);
    assert_eq!(passages(both_ways(), 1), ["a→b silent", "b→a silent"]);
    assert_eq!(passages(both_ways(), 2), ["a→b cut", "b→a cut"]);
}

#[test]
fn a_packet_that_comes_out_elsewhere_opens_nothing() {
    let mut flight = both_ways();
    flight.arrived(0, 1, &"a".into(), 40);
    flight.arrived(7, 1, &"b".into(), 40);
    assert_eq!(flight.missing().len(), 2);
}

#[test]
fn a_doubled_packet_counts_once() {
    let mut flight = both_ways();
    flight.arrived(0, 1, &"b".into(), 40);
    flight.arrived(0, 1, &"b".into(), 45);
    assert!(!flight.is_settled(0));
}

#[test]
fn a_link_whose_sender_was_refused_is_never_cut() {
    let mut flight = Flight::new(&[link("a", "b")].into());
    flight.sent(0, Err(io::Error::from_raw_os_error(libc::EPERM)));
    assert!(!flight.is_settled(0));
    let report = flight.report(0, Duration::ZERO);
    assert_eq!(report.links[0].passage, Passage::Silent);
    assert_eq!(report.links[0].error.as_deref(), Some("Operation not permitted (os error 1)"));
}
