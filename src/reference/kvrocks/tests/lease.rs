//! The variant `lease`: who keeps a master writing, and who does not.

use super::fleet::{CONTROLLER, Peer, address, with_fleet};
use crate::reference::NodeVariant;

const LEASE: &[(&str, &str)] = &[("lease-ms", "2500")];
const OVER: &str = "-CLUSTERDOWN The node has not heard a controller for too long";

async fn probe(controller: &mut Peer) {
    assert!(controller.ask("CLUSTER INFO").await.contains("cluster_state:ok"));
}

#[test]
fn a_master_writes_as_long_as_a_controller_probes_it_on_a_connection_that_it_keeps() {
    with_fleet(NodeVariant::Lease, LEASE, async |fleet| {
        // Only told its topology, it has nobody's word yet.
        assert_eq!(fleet.ask(1, "SET k2 v").await, OVER);
        assert_eq!(fleet.ask(1, "GET k2").await, "(nil)", "reads need none");
        let mut controller = fleet.connect_from(CONTROLLER, 1).await;
        probe(&mut controller).await;
        for second in 0..10 {
            fleet.pass(1000).await;
            probe(&mut controller).await;
            assert_eq!(fleet.ask(1, "SET k2 v").await, "OK", "second {second}");
        }
        fleet.pass(1400).await;
        assert_eq!(fleet.ask(1, "SET k2 v").await, "OK");
        fleet.pass(200).await;
        assert_eq!(fleet.ask(1, "SET k2 v").await, OVER);
        let mut peer = fleet.connect(1).await;
        assert_eq!(peer.ask("MULTI").await, "OK");
        assert_eq!(peer.ask("INCR {k2}n").await, OVER);
        probe(&mut controller).await;
        fleet.pass(10).await;
        probe(&mut controller).await;
        assert_eq!(fleet.ask(1, "SET k2 v").await, "OK");
    });
}

#[test]
fn whoever_only_looks_once_keeps_nobody_writing() {
    with_fleet(NodeVariant::Lease, LEASE, async |fleet| {
        for _ in 0..5 {
            let mut view = fleet.connect(1).await;
            probe(&mut view).await;
            assert_eq!(view.ask("INFO replication").await.lines().next(), Some("# Replication"));
            assert_eq!(fleet.ask(1, "SET k2 v").await, OVER);
            fleet.pass(500).await;
        }
    });
}

#[test]
fn a_master_that_hears_and_is_not_heard_stops_writing() {
    with_fleet(NodeVariant::Lease, LEASE, async |fleet| {
        let mut controller = fleet.connect_from(CONTROLLER, 1).await;
        probe(&mut controller).await;
        fleet.pass(100).await;
        probe(&mut controller).await;
        fleet.lab.network.hold(address(1), CONTROLLER);
        // It hears one more, and answers it; then the controller gives the connection up.
        assert_eq!(controller.ask("CLUSTER INFO").await, "(silence)");
        assert_eq!(fleet.ask(1, "SET k2 v").await, "OK");
        fleet.pass(1700).await;
        assert_eq!(fleet.ask(1, "SET k2 v").await, OVER);
    });
}

#[test]
fn the_other_variants_need_no_controller() {
    with_fleet(NodeVariant::AsShipped, LEASE, async |fleet| {
        fleet.pass(60_000).await;
        assert_eq!(fleet.ask(1, "SET k2 v").await, "OK");
    });
}
