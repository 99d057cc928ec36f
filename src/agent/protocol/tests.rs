//! The lines as they stand on the wire, and that each is read as it was written.

use expect_test::expect;

use super::*;
use crate::cluster::{Mechanism, Refusal};

fn link(from: &str, to: &str) -> Link {
    Link { from: from.into(), to: to.into() }
}

fn requests() -> Vec<Request> {
    let links = BTreeSet::from([link("n1", "n2"), link("n2", "n1")]);
    let node = |place| Enrollment { node: "n1".into(), address: Ipv4Addr::new(10, 9, 0, 2), place };
    let nodes = vec![node(Place::Container { pid: 71 }), node(Place::Host)];
    let manner = Manner { refusal: Refusal::Reset, port: Some(2181) };
    let commands = [
        Command::Hello,
        Command::Enroll { nodes },
        Command::Cut { fault: FaultId(3), links: links.clone(), manner: Manner::default() },
        Command::Cut { fault: FaultId(3), links: links.clone(), manner },
        Command::Join { fault: FaultId(3) },
        Command::Sever { links: links.clone(), port: Some(2181) },
        Command::Throttle { fault: FaultId(3), links: links.clone(), bytes_per_second: 9000 },
        Command::Unthrottle { fault: FaultId(3) },
        Command::Measure { links: links.clone(), bytes_per_second: 9000 },
        Command::ProbePort { links: links.clone(), port: 2181, bound_ms: PROBE_BOUND_MS },
        Command::Heal,
        Command::Counters,
        Command::Probe { links, bound_ms: PROBE_BOUND_MS },
        Command::Ask {
            node: "n1".into(),
            port: 2181,
            send: "ruok".to_owned(),
            enough: 4,
            bound_ms: 500,
        },
        Command::Listening { node: "n1".into() },
        Command::Status,
        Command::Abilities,
        Command::Process { pid: 71 },
        Command::SkewClock { pid: 71, offsets: Offsets { wall_ns: -5, monotonic_ns: 7 } },
        Command::ReadClock { pid: 71 },
        Command::HealClock { pid: 71 },
        Command::TryClocks,
        Command::Heartbeat,
        Command::Bye,
    ];
    (1..).zip(commands).map(|(id, command)| Request { id, command }).collect()
}

fn messages() -> Vec<Message> {
    let tally = Tally { fault: FaultId(3), packets: 12, probes: 4 };
    let table = Table {
        name: "sg_r_f3".to_owned(),
        node: None,
        matched: Matched::Everything,
        owned: true,
        hooks: [Hook::Forward, Hook::Output].into(),
        links: [link("n1", "n2")].into(),
        tally,
    };
    let refusing = Table {
        name: "sg_r_refuse_f3".to_owned(),
        node: Some("n2".into()),
        matched: Matched::Refused { port: Some(2181) },
        ..table.clone()
    };
    let clocks = vec![HealedClock {
        pid: 71,
        comm: "java".to_owned(),
        detoured: true,
        monotonic_ns: 7_000_000,
    }];
    let left = vec!["sg_r_f4".to_owned()];
    let healed =
        Healed { because: Cause::LeaseExpired, tallies: vec![tally], clocks, swept: vec![], left };
    let tables = TableSupport::Unowned { why: "refused".to_owned() };
    let greeting = Greeting {
        version: "0.1.0".to_owned(),
        kernel: "6.18".to_owned(),
        run: "r".to_owned(),
        lease_ms: 5000,
        tables,
    };
    let probes = [Passage::Arrived { after_us: 9 }, Passage::Dropped, Passage::Silent];
    let probes = probes.map(|passage| LinkProbe { link: link("n1", "n2"), passage, error: None });
    let report = ProbeReport { links: probes.to_vec(), sent: 3, dropped: 1, took_us: 77 };
    let process =
        ProcessFacts { state: 'T', start_ticks: 5, comm: "java".to_owned(), frozen: None };
    let offsets = Offsets { wall_ns: -5, monotonic_ns: 7 };
    let shown = [Shown::Read { offsets, error_ns: 3 }, Shown::Unread { why: "paused".to_owned() }];
    let processes = shown.map(|shown| ProcessClock {
        pid: 71,
        start_ticks: 5,
        comm: "java".to_owned(),
        detoured: true,
        ordered: offsets,
        shown,
        wall_calls: 8,
        monotonic_calls: 9,
    });
    let clocks = ClockReport { processes: processes.to_vec(), took_us: 6 };
    let trial = ClockTrial { injection_us: 1, change_us: 2 };
    let how = "tried".to_owned();
    let ability = Ability { mechanism: Mechanism::Shape, acts: true, how };
    let passage = PortPassage::Refused;
    let port_probe = PortProbe { link: link("n1", "n2"), passage, after_us: 90 };
    let severed = Severed { connections: 2, closed: 1, left: vec!["n1:1 to n2:2".to_owned()] };
    let interface = "veth1".to_owned();
    let cap = Cap { link: link("n1", "n2"), bytes_per_second: 9000, interface };
    let speed = Speed {
        link: link("n1", "n2"),
        packets_sent: 20,
        bytes_sent: 2000,
        bytes_arrived: 1900,
        bytes_passed: Some(2500),
        took_us: 150_000,
    };
    let answers = [
        Answer::Hello { greeting },
        Answer::Cut { tables: vec![table, refusing] },
        Answer::Join { tally: Some(tally) },
        Answer::Probe { report },
        Answer::ProbePort { probes: vec![port_probe] },
        Answer::Sever { severed },
        Answer::Throttle { caps: vec![cap] },
        Answer::Unthrottle { packets: Some(7) },
        Answer::Measure { speeds: vec![speed] },
        Answer::Ask { heard: Heard::Said { text: "imok".to_owned() } },
        Answer::Ask { heard: Heard::Silent { why: "refused".to_owned() } },
        Answer::Listening { at: ["0.0.0.0:7777".parse().expect("an address")].into() },
        Answer::Abilities { abilities: vec![ability] },
        Answer::Process { process: Some(process) },
        Answer::SkewClock { report: clocks },
        Answer::TryClocks { trial },
    ];
    let answers = (1..).zip(answers).map(|(id, answer)| Message::Answer { id, answer });
    let failure = Message::Failure { id: 8, error: "no".to_owned() };
    answers.chain([failure, Message::Healed { healed }]).collect()
}

fn lines<T: Serialize>(values: &[T]) -> String {
    let line = |value| serde_json::to_string(value).expect("a value that can be written") + "\n";
    values.iter().map(line).collect()
}

#[test]
fn requests_on_the_wire() {
    expect![[r#"
        {"id":1,"command":{"do":"hello"}}
        {"id":2,"command":{"do":"enroll","nodes":[{"node":"n1","address":"10.9.0.2","place":{"container":{"pid":71}}},{"node":"n1","address":"10.9.0.2","place":"host"}]}}
        {"id":3,"command":{"do":"cut","fault":3,"links":[{"from":"n1","to":"n2"},{"from":"n2","to":"n1"}],"manner":{"refusal":"drop"}}}
        {"id":4,"command":{"do":"cut","fault":3,"links":[{"from":"n1","to":"n2"},{"from":"n2","to":"n1"}],"manner":{"refusal":"reset","port":2181}}}
        {"id":5,"command":{"do":"join","fault":3}}
        {"id":6,"command":{"do":"sever","links":[{"from":"n1","to":"n2"},{"from":"n2","to":"n1"}],"port":2181}}
        {"id":7,"command":{"do":"throttle","fault":3,"links":[{"from":"n1","to":"n2"},{"from":"n2","to":"n1"}],"bytes_per_second":9000}}
        {"id":8,"command":{"do":"unthrottle","fault":3}}
        {"id":9,"command":{"do":"measure","links":[{"from":"n1","to":"n2"},{"from":"n2","to":"n1"}],"bytes_per_second":9000}}
        {"id":10,"command":{"do":"probe-port","links":[{"from":"n1","to":"n2"},{"from":"n2","to":"n1"}],"port":2181,"bound_ms":250}}
        {"id":11,"command":{"do":"heal"}}
        {"id":12,"command":{"do":"counters"}}
        {"id":13,"command":{"do":"probe","links":[{"from":"n1","to":"n2"},{"from":"n2","to":"n1"}],"bound_ms":250}}
        {"id":14,"command":{"do":"ask","node":"n1","port":2181,"send":"ruok","enough":4,"bound_ms":500}}
        {"id":15,"command":{"do":"listening","node":"n1"}}
        {"id":16,"command":{"do":"status"}}
        {"id":17,"command":{"do":"abilities"}}
        {"id":18,"command":{"do":"process","pid":71}}
        {"id":19,"command":{"do":"skew-clock","pid":71,"offsets":{"wall_ns":-5,"monotonic_ns":7}}}
        {"id":20,"command":{"do":"read-clock","pid":71}}
        {"id":21,"command":{"do":"heal-clock","pid":71}}
        {"id":22,"command":{"do":"try-clocks"}}
        {"id":23,"command":{"do":"heartbeat"}}
        {"id":24,"command":{"do":"bye"}}
    "#]].assert_eq(&lines(&requests()));
}

#[test]
fn messages_on_the_wire() {
    expect![[r#"
        {"say":"answer","id":1,"answer":{"to":"hello","greeting":{"version":"0.1.0","kernel":"6.18","run":"r","lease_ms":5000,"tables":{"unowned":{"why":"refused"}}}}}
        {"say":"answer","id":2,"answer":{"to":"cut","tables":[{"name":"sg_r_f3","matched":"everything","owned":true,"hooks":["forward","output"],"links":[{"from":"n1","to":"n2"}],"tally":{"fault":3,"packets":12,"probes":4}},{"name":"sg_r_refuse_f3","node":"n2","matched":{"refused":{"port":2181}},"owned":true,"hooks":["forward","output"],"links":[{"from":"n1","to":"n2"}],"tally":{"fault":3,"packets":12,"probes":4}}]}}
        {"say":"answer","id":3,"answer":{"to":"join","tally":{"fault":3,"packets":12,"probes":4}}}
        {"say":"answer","id":4,"answer":{"to":"probe","report":{"links":[{"link":{"from":"n1","to":"n2"},"passage":{"arrived":{"after_us":9}}},{"link":{"from":"n1","to":"n2"},"passage":"dropped"},{"link":{"from":"n1","to":"n2"},"passage":"silent"}],"sent":3,"dropped":1,"took_us":77}}}
        {"say":"answer","id":5,"answer":{"to":"probe-port","probes":[{"link":{"from":"n1","to":"n2"},"passage":"refused","after_us":90}]}}
        {"say":"answer","id":6,"answer":{"to":"sever","severed":{"connections":2,"closed":1,"left":["n1:1 to n2:2"]}}}
        {"say":"answer","id":7,"answer":{"to":"throttle","caps":[{"link":{"from":"n1","to":"n2"},"bytes_per_second":9000,"interface":"veth1"}]}}
        {"say":"answer","id":8,"answer":{"to":"unthrottle","packets":7}}
        {"say":"answer","id":9,"answer":{"to":"measure","speeds":[{"link":{"from":"n1","to":"n2"},"packets_sent":20,"bytes_sent":2000,"bytes_arrived":1900,"bytes_passed":2500,"took_us":150000}]}}
        {"say":"answer","id":10,"answer":{"to":"ask","heard":{"said":{"text":"imok"}}}}
        {"say":"answer","id":11,"answer":{"to":"ask","heard":{"silent":{"why":"refused"}}}}
        {"say":"answer","id":12,"answer":{"to":"listening","at":["0.0.0.0:7777"]}}
        {"say":"answer","id":13,"answer":{"to":"abilities","abilities":[{"mechanism":"shape","acts":true,"how":"tried"}]}}
        {"say":"answer","id":14,"answer":{"to":"process","process":{"state":"T","start_ticks":5,"comm":"java","frozen":null}}}
        {"say":"answer","id":15,"answer":{"to":"skew-clock","report":{"processes":[{"pid":71,"start_ticks":5,"comm":"java","detoured":true,"ordered":{"wall_ns":-5,"monotonic_ns":7},"shown":{"read":{"offsets":{"wall_ns":-5,"monotonic_ns":7},"error_ns":3}},"wall_calls":8,"monotonic_calls":9},{"pid":71,"start_ticks":5,"comm":"java","detoured":true,"ordered":{"wall_ns":-5,"monotonic_ns":7},"shown":{"unread":{"why":"paused"}},"wall_calls":8,"monotonic_calls":9}],"took_us":6}}}
        {"say":"answer","id":16,"answer":{"to":"try-clocks","trial":{"injection_us":1,"change_us":2}}}
        {"say":"failure","id":8,"error":"no"}
        {"say":"healed","healed":{"because":"lease-expired","tallies":[{"fault":3,"packets":12,"probes":4}],"clocks":[{"pid":71,"comm":"java","detoured":true,"monotonic_ns":7000000}],"left":["sg_r_f4"]}}
    "#]].assert_eq(&lines(&messages()));
}

#[test]
fn what_is_written_is_read() {
    for request in requests() {
        let line = serde_json::to_string(&request).expect("a line");
        assert_eq!(serde_json::from_str::<Request>(&line).expect("a request"), request);
    }
    for message in messages() {
        let line = serde_json::to_string(&message).expect("a line");
        assert_eq!(serde_json::from_str::<Message>(&line).expect("a message"), message);
    }
}

#[test]
fn a_heal_is_told_in_a_sentence() {
    let Some(Message::Healed { healed }) = messages().pop() else { panic!("a heal") };
    expect!["healed f3, clock of 71 (java), monotonic 7 ms ahead until it restarts because the lease expired; left: sg_r_f4"].assert_eq(&healed.to_string());
    let nothing = Healed {
        because: Cause::EndOfInput,
        tallies: vec![],
        clocks: vec![],
        swept: vec![],
        left: vec![],
    };
    expect!["healed nothing because the input ended"].assert_eq(&nothing.to_string());
}
