//! Topologies read, told and kept, against what the real program answered.

use super::*;

const IDS: [char; 3] = ['1', '2', '3'];

fn id(digit: char) -> String {
    digit.to_string().repeat(ID_LENGTH)
}

fn sample() -> String {
    let [one, two, three] = IDS.map(id);
    format!(
        "{one} 10.0.0.41 6666 master - 0-8191\n{three} 10.0.0.43 6666 slave {one}\n\
         {two} 10.0.0.42 6666 master - 8192-16383"
    )
}

fn topology() -> Topology {
    Topology::read(&sample(), 2).expect("sound")
}

#[test]
fn slots_have_the_owners_that_were_told() {
    let topology = topology();
    let owner = |slot| topology.owner(slot).map(Member::address);
    assert_eq!(owner(0).as_deref(), Some("10.0.0.41:6666"));
    assert_eq!(owner(8192).as_deref(), Some("10.0.0.42:6666"));
    assert_eq!(topology.size(), 2);
    assert_eq!(topology.replicas(&id('1')).count(), 1);
    let some = Topology::read(&format!("{} h 1 master - 5 7-9", id('1')), 0).expect("sound");
    assert_eq!((some.assigned(), some.owner(6)), (4, None));
}

#[test]
fn bad_lines_are_refused_as_the_real_one_refuses_them() {
    let [one, two, _] = IDS.map(id);
    for (nodes, error) in [
        ("garbage".to_owned(), BadTopology::Nodes),
        (String::new(), BadTopology::Nodes),
        (
            format!("{one} h 1 master - 0-8191\n{two} h 1 master - 8191-16383"),
            BadTopology::Overlapped,
        ),
        (format!("{one} h 1 master - 0-20000"), BadTopology::OutOfRange),
        ("short h 1 master - 0".to_owned(), BadTopology::Id),
        (format!("{one} h 0 master - 0"), BadTopology::Port),
        (format!("{one} h 1 queen - 0"), BadTopology::Role),
        (format!("{one} h 1 slave {two} 0"), BadTopology::Nodes),
        (format!("{one} h 1 master - 0\n{one} h 1 master - 1"), BadTopology::Nodes),
    ] {
        assert_eq!(Topology::read(&nodes, 1), Err(error), "{nodes}");
    }
    assert_eq!(Topology::read(&sample(), -1), Err(BadTopology::Version));
}

#[test]
fn one_slot_is_given_with_the_next_version_only() {
    let mut topology = topology();
    let slots = SlotRange::parse("5000").expect("a slot");
    assert_eq!(topology.give(slots, &id('2'), 2), Err(BadTopology::Version));
    assert_eq!(topology.give(slots, &id('9'), 3), Err(BadTopology::NoSuchNode));
    assert_eq!(topology.give(slots, &id('3'), 3), Err(BadTopology::NotAMaster));
    assert_eq!(topology.give(slots, &id('2'), 3), Ok(()));
    assert_eq!(topology.version(), 3);
    let runs: Vec<String> = topology.slots_of(&id('1')).map(|run| run.to_string()).collect();
    assert_eq!(runs, ["0-4999", "5001-8191"]);
    let runs: Vec<String> = topology.slots_of(&id('2')).map(|run| run.to_string()).collect();
    assert_eq!(runs, ["5000", "8192-16383"]);
}

#[test]
fn it_comes_back_from_the_file_and_a_torn_file_is_told() {
    let saved = Saved { id: Some(id('1')), topology: topology() };
    let text = saved.write();
    assert!(text.starts_with(&format!("version 2\nid {}\nnode {} 10.0.0.41", id('1'), id('1'))));
    assert_eq!(Saved::read(&text), Ok(saved));
    for cut in 0..text.len() {
        // No panic, and never another topology of the same cluster taken for a whole one.
        if let Ok(read) = Saved::read(&text[..cut]) {
            assert!(read.topology.members().len() <= 3);
        }
    }
    let error = Saved::read("version 1\nfoo\n").expect_err("no line of it");
    assert_eq!(
        error.to_string(),
        "line 2: expected `version N`, `id X` or `node ...`, found `foo`"
    );
}

#[test]
fn info_and_nodes_are_told_byte_by_byte() {
    let [one, two, three] = IDS.map(id);
    let topology = topology();
    assert_eq!(topology.told_info().len(), 201);
    let moving = format!(" [5000->-{two}]");
    assert_eq!(
        topology.told_nodes(&one, &moving, 1795958556388),
        format!(
            "{two} 10.0.0.42:6666@16666 master - 1795958556387 1795958556388 2 connected 8192-16383\n\
             {three} 10.0.0.43:6666@16666 slave {one} 1795958556387 1795958556388 2 connected\n\
             {one} 10.0.0.41:6666@16666 myself,master - 1795958556387 1795958556388 2 connected \
             0-8191 [5000->-{two}]\n"
        )
    );
}
