//! Connections under cuts, loss and death, without any server.

use super::*;
use crate::cluster::{FaultId, Manner, Refusal};
use crate::op::{MILLISECOND, SECOND};

const A: Endpoint = Endpoint::Node(0);
const B: Endpoint = Endpoint::Node(1);
const CLIENT: Endpoint = Endpoint::Caller { host: 2, number: 7 };
const PORT: u16 = 1;
const FAULT: FaultId = FaultId(1);
const DROP: Manner = Manner { refusal: Refusal::Drop, port: None };
const RESET: Manner = Manner { refusal: Refusal::Reset, port: None };

/// Each weighs what it says.
impl Wire for u32 {
    fn bytes(&self) -> u64 {
        u64::from(*self)
    }
}

/// A network of two nodes, and all that arrived so far.
struct Lab {
    network: Network<u32>,
    agenda: Agenda<NetworkEvent>,
    now: Nanos,
    log: Vec<(Nanos, Endpoint, String)>,
}

impl Lab {
    fn new() -> Lab {
        let mut network = Network::new(2, &Rng::from_seed(1));
        (0..2).for_each(|node| network.listen(node, PORT));
        Lab { network, agenda: Agenda::default(), now: 0, log: Vec::new() }
    }

    fn connect(&mut self, from: Endpoint, to: Endpoint) -> ConnectionId {
        self.network.connect(&mut self.agenda, self.now, (from, to), PORT)
    }

    fn opened(from: Endpoint, to: Endpoint) -> (Lab, ConnectionId) {
        let mut lab = Lab::new();
        let connection = lab.connect(from, to);
        lab.run(10 * MILLISECOND);
        assert_eq!(lab.seen(), ["Accepted", "Opened"]);
        (lab, connection)
    }

    fn send(&mut self, connection: ConnectionId, from: Endpoint, messages: std::ops::Range<u32>) {
        for message in messages {
            self.network.send(&mut self.agenda, self.now, (connection, from), message);
        }
    }

    fn close(&mut self, connection: ConnectionId, endpoint: Endpoint) {
        self.network.close(&mut self.agenda, self.now, (connection, endpoint));
    }

    fn probe(&mut self, from: usize, to: usize, port: Option<u16>, bytes: u64) -> usize {
        self.network.probe(&mut self.agenda, self.now, Route { from, to, port, bytes })
    }

    fn run(&mut self, span: Nanos) {
        let end = self.now + span;
        while let Some((at, event)) = self.agenda.pop_due(end) {
            if let Some(delivery) = self.network.happen(&mut self.agenda, at, event) {
                let what = match delivery.signal {
                    Signal::Message(number) => number.to_string(),
                    Signal::Accepted { .. } => "Accepted".into(),
                    other => format!("{other:?}"),
                };
                self.log.push((at, delivery.to, what));
            }
        }
        self.now = end;
    }

    /// What arrived since the last look.
    fn seen(&mut self) -> Vec<String> {
        self.log.drain(..).map(|(_, _, what)| what).collect()
    }
}

fn numbers(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}

#[test]
fn messages_of_one_direction_never_overtake() {
    let (mut lab, connection) = Lab::opened(A, B);
    for step in 0..200 {
        lab.send(connection, A, step * 10..(step + 1) * 10);
        lab.run(20_000);
    }
    lab.run(10 * MILLISECOND);
    assert_eq!(lab.seen(), numbers(0..2000));
}

#[test]
fn a_cut_holds_what_is_sent_and_a_retransmission_after_the_heal_delivers_it() {
    let (mut lab, connection) = Lab::opened(A, B);
    assert!(lab.network.link(0, 1).cut(FAULT, DROP));
    assert!(lab.network.link(1, 0).cut(FAULT, DROP));
    let began = lab.now;
    lab.send(connection, A, 0..3);
    lab.run(SECOND);
    assert!(lab.seen().is_empty());
    // Three packets, and retransmissions after 0.2 and 0.6 s.
    assert_eq!(lab.network.link(0, 1).join(FAULT, DROP), Some(5));
    lab.network.link(1, 0).join(FAULT, DROP);
    lab.run(SECOND);
    let at = lab.log[0].0 - began;
    assert_eq!(lab.seen(), numbers(0..3));
    // The next retransmission comes 1.4 s after the first attempt.
    assert!((1_400 * MILLISECOND..1_410 * MILLISECOND).contains(&at), "{at}");
}

#[test]
fn a_cut_of_the_way_back_stalls_the_sender_after_its_window() {
    let (mut lab, connection) = Lab::opened(A, B);
    lab.network.link(1, 0).cut(FAULT, DROP);
    lab.send(connection, A, 0..15);
    lab.run(100 * MILLISECOND);
    assert_eq!(lab.seen(), numbers(0..10));
    let acknowledgements = lab.network.link(1, 0).join(FAULT, DROP);
    assert!(acknowledgements >= Some(10), "{acknowledgements:?}");
    lab.run(SECOND);
    assert_eq!(lab.seen(), numbers(10..15));
}

#[test]
fn a_handshake_needs_both_directions_and_is_repeated() {
    for (from, to) in [(0, 1), (1, 0)] {
        let mut lab = Lab::new();
        lab.network.link(from, to).cut(FAULT, DROP);
        lab.connect(A, B);
        lab.run(2 * SECOND);
        assert!(lab.seen().is_empty());
        // At once and after one second.
        assert_eq!(lab.network.link(from, to).join(FAULT, DROP), Some(2));
        lab.run(2 * SECOND);
        assert_eq!(lab.seen(), ["Accepted", "Opened"]);
    }
}

#[test]
fn a_dead_process_refuses_and_its_connections_close() {
    let (mut lab, connection) = Lab::opened(A, B);
    lab.send(connection, B, 1..2);
    lab.network.process_died(&mut lab.agenda, lab.now, 1);
    lab.run(10 * MILLISECOND);
    assert_eq!(lab.seen(), ["1", "Closed"], "what it had sent comes first");
    lab.connect(A, B);
    lab.run(10 * MILLISECOND);
    assert_eq!(lab.seen(), ["Refused"]);
    lab.network.listen(1, PORT);
    lab.connect(A, B);
    lab.run(10 * MILLISECOND);
    assert_eq!(lab.seen(), ["Accepted", "Opened"]);
}

#[test]
fn a_close_is_held_back_by_a_cut_like_data() {
    let (mut lab, connection) = Lab::opened(A, B);
    lab.network.link(0, 1).cut(FAULT, DROP);
    lab.close(connection, A);
    lab.run(5 * SECOND);
    assert!(lab.seen().is_empty());
    lab.network.link(0, 1).join(FAULT, DROP);
    lab.run(10 * SECOND);
    assert_eq!(lab.seen(), ["Closed"]);
}

#[test]
fn nothing_arrives_at_an_end_that_has_closed() {
    let (mut lab, connection) = Lab::opened(A, B);
    lab.send(connection, B, 0..3);
    lab.close(connection, A);
    lab.send(connection, A, 5..6);
    lab.run(10 * MILLISECOND);
    assert_eq!(lab.seen(), ["Closed"]);
}

#[test]
fn cuts_between_nodes_leave_clients_alone() {
    let mut lab = Lab::new();
    for (from, to) in [(0, 1), (1, 0)] {
        lab.network.link(from, to).cut(FAULT, DROP);
    }
    let connection = lab.connect(CLIENT, B);
    lab.run(10 * MILLISECOND);
    lab.send(connection, CLIENT, 0..2);
    lab.run(10 * MILLISECOND);
    assert_eq!(lab.seen(), ["Accepted", "Opened", "0", "1"]);
    assert_eq!(lab.network.link(0, 1).join(FAULT, DROP), Some(0));
}

#[test]
fn loss_delays_by_whole_retransmission_timeouts() {
    let (mut lab, connection) = Lab::opened(A, B);
    lab.network.link(0, 1).set_latency(100_000, 0);
    lab.network.link(0, 1).set_loss(0.5);
    let began = lab.now;
    lab.send(connection, A, 0..50);
    lab.run(3_600 * SECOND);
    let slowest = lab.log.last().unwrap().0 - began;
    assert_eq!(lab.seen(), numbers(0..50));
    assert!(slowest > 200 * MILLISECOND, "{slowest}");
}

#[test]
fn a_link_cut_twice_stays_cut_until_both_have_joined_it() {
    let (mut lab, connection) = Lab::opened(A, B);
    let second = FaultId(2);
    assert!(lab.network.link(0, 1).cut(FAULT, DROP) && lab.network.link(0, 1).cut(second, DROP));
    assert!(!lab.network.link(0, 1).cut(second, DROP), "the same fault cuts once");
    lab.send(connection, A, 0..1);
    assert_eq!(lab.network.link(0, 1).join(FAULT, DROP), Some(1));
    assert_eq!(lab.network.link(0, 1).join(FAULT, DROP), None);
    assert_eq!(lab.network.link(0, 1).rule(|_| true), Some((second, DROP)));
    lab.run(SECOND);
    assert!(lab.seen().is_empty());
    assert_eq!(lab.network.link(0, 1).join(second, DROP), Some(2));
    lab.run(SECOND);
    assert_eq!(lab.seen(), ["0"]);
}

#[test]
fn probes_show_cuts_and_are_not_counted() {
    let mut lab = Lab::new();
    lab.network.link(0, 1).cut(FAULT, DROP);
    let [there, back] = [(0, 1), (1, 0)].map(|(from, to)| lab.probe(from, to, None, 64));
    lab.run(10 * MILLISECOND);
    assert_eq!(lab.network.probe_fate(there), ProbeFate::Missing);
    assert!(matches!(lab.network.probe_fate(back), ProbeFate::Passed(_)));
    assert_eq!(lab.network.link(0, 1).join(FAULT, DROP), Some(0));
}

#[test]
fn a_cut_that_resets_tells_the_sender_at_once_and_the_other_end_when_it_sends() {
    let (mut lab, connection) = Lab::opened(A, B);
    lab.network.link(0, 1).cut(FAULT, RESET);
    lab.send(connection, A, 0..1);
    lab.run(10 * MILLISECOND);
    assert_eq!(lab.log[0].1, A);
    assert_eq!(lab.seen(), ["Reset"]);
    lab.run(10 * SECOND);
    assert!(lab.seen().is_empty(), "nobody tells the other end");
    lab.send(connection, B, 5..7);
    lab.run(10 * MILLISECOND);
    assert_eq!(lab.log[0].1, B);
    assert_eq!(lab.seen(), ["Reset"]);
    lab.connect(A, B);
    lab.run(10 * MILLISECOND);
    assert_eq!(lab.seen(), ["Refused"]);
    // What A sent, what it would have answered, and the handshake.
    assert_eq!(lab.network.link(0, 1).join(FAULT, RESET), Some(3));
    lab.connect(A, B);
    lab.run(10 * MILLISECOND);
    assert_eq!(lab.seen(), ["Accepted", "Opened"]);
}

#[test]
fn what_a_cut_holds_back_is_refused_once_a_cut_refuses() {
    let (mut lab, connection) = Lab::opened(A, B);
    lab.network.link(0, 1).cut(FAULT, DROP);
    lab.send(connection, A, 0..3);
    lab.run(50 * MILLISECOND);
    lab.network.link(0, 1).cut(FAULT, RESET);
    lab.network.link(0, 1).join(FAULT, DROP);
    lab.run(SECOND);
    assert_eq!(lab.seen(), ["Reset"]);
}

#[test]
fn a_cut_of_a_port_stops_questions_and_answers_of_that_port_only() {
    let (mut lab, connection) = Lab::opened(A, B);
    let other = Manner { port: Some(9), ..DROP };
    let its = Manner { port: Some(1), ..DROP };
    lab.network.link(0, 1).cut(FAULT, other);
    // What B would open to A is not concerned, nor its answers.
    lab.network.link(1, 0).cut(FAULT, its);
    lab.send(connection, A, 0..1);
    lab.send(connection, B, 1..2);
    lab.run(10 * MILLISECOND);
    assert_eq!(lab.seen().len(), 2);
    lab.network.link(0, 1).cut(FAULT, its);
    lab.send(connection, A, 0..1);
    lab.send(connection, B, 1..2);
    lab.run(10 * MILLISECOND);
    assert!(lab.seen().is_empty());
    assert_eq!(lab.network.link(0, 1).join(FAULT, its), Some(2), "one of each direction");
    lab.run(SECOND);
    assert_eq!(lab.seen().len(), 2);
}

#[test]
fn a_severed_connection_is_lost_for_both_with_all_that_is_under_way() {
    let (mut lab, connection) = Lab::opened(A, B);
    lab.send(connection, A, 0..5);
    lab.network.link(0, 1).cut(FAULT, DROP);
    lab.send(connection, A, 5..9);
    let severed = lab.network.sever(&mut lab.agenda, lab.now, (1, 0), None);
    assert_eq!(severed, [connection]);
    assert!(!lab.network.is_live(connection));
    lab.send(connection, A, 0..1);
    lab.send(connection, B, 0..1);
    lab.run(10 * SECOND);
    assert_eq!(lab.seen(), ["Reset", "Reset"]);
    assert!(lab.network.sever(&mut lab.agenda, lab.now, (0, 1), None).is_empty());
    assert!(lab.network.ends(connection).is_none(), "it is forgotten");
}

#[test]
fn a_cap_lets_out_one_packet_after_the_other_in_proportion_to_its_size() {
    let (mut lab, connection) = Lab::opened(A, B);
    assert!(lab.network.link(0, 1).throttle(FAULT, 1_000));
    // Each has 66 bytes of headers.
    let began = lab.now;
    for bytes in [434, 434] {
        lab.send(connection, A, bytes..bytes + 1);
    }
    let probe = lab.probe(0, 1, None, 500);
    lab.run(2 * SECOND);
    let at: Vec<Nanos> =
        lab.log.iter().map(|(at, ..)| (at - began) / (100 * MILLISECOND)).collect();
    assert_eq!(at, [5, 10]);
    let ProbeFate::Passed(took) = lab.network.probe_fate(probe) else { panic!("it is lost") };
    assert_eq!(took / (100 * MILLISECOND), 15);
    assert_eq!(lab.network.link(0, 1).unthrottle(FAULT), Some(2));
}
