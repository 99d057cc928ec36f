//! Who can reach whom under each shape.

use super::*;

const OF_THEIR_OWN: [Shape; 6] = [
    Shape::Halves,
    Shape::MajorityMinority,
    Shape::MajoritiesRing,
    Shape::Bridge,
    Shape::MinorityThird,
    Shape::Random,
];

/// The nodes that a node still hears, itself among them.
fn heard(links: &BTreeSet<Link>, by: usize, nodes: usize) -> BTreeSet<usize> {
    let reaches = |from: &usize| !links.contains(&Link { from: node(*from), to: node(by) });
    (1..=nodes).filter(reaches).collect()
}

fn for_all(shape: Shape, smallest: usize, check: impl Fn(usize, &Plan)) {
    for nodes in 1..=9 {
        for seed in 0..SEEDS {
            match plan(&partition(shape), nodes, Some(1), seed) {
                Ok(plan) => check(nodes, &plan),
                Err(why) => assert!(nodes < smallest, "{shape:?} of {nodes}: {why}"),
            }
        }
    }
}

/// Cut both ways between the targets and the others, and nothing else.
fn assert_two_sides(nodes: usize, plan: &Plan) {
    let inside = plan.targets.len();
    assert_eq!(cut(plan).len(), 2 * inside * (nodes - inside));
    for link in cut(plan) {
        assert_ne!(plan.targets.contains(&link.from), plan.targets.contains(&link.to));
    }
}

#[test]
fn two_sides_are_of_the_size_that_the_shape_says() {
    let sizes = |shape, smallest| {
        let sizes = std::cell::RefCell::new(BTreeSet::new());
        for_all(shape, smallest, |nodes, plan| {
            assert_two_sides(nodes, plan);
            sizes.borrow_mut().insert((nodes, plan.targets.len()));
        });
        sizes.into_inner()
    };
    for (nodes, size) in sizes(Shape::Halves, 2) {
        assert!(size == nodes / 2 || size == nodes.div_ceil(2), "{size} of {nodes}");
    }
    for (nodes, size) in sizes(Shape::MajorityMinority, 3) {
        assert!(size < nodes - size && nodes - size == nodes / 2 + 1, "{size} of {nodes}");
    }
    for (nodes, size) in sizes(Shape::MinorityThird, 2) {
        assert_eq!(size, (nodes / 3).max(1));
    }
    let random = sizes(Shape::Random, 2);
    let of_five: Vec<usize> = random.iter().filter(|(nodes, _)| *nodes == 5).map(|s| s.1).collect();
    assert_eq!(of_five, [1, 2], "every size of the smaller side is drawn");
    assert!(sizes(Shape::Halves, 2).is_superset(&[(5, 2), (5, 3)].into()));
}

#[test]
fn in_a_ring_every_node_hears_a_majority_and_no_two_the_same() {
    for_all(Shape::MajoritiesRing, 3, |nodes, plan| {
        let heard: Vec<_> = (1..=nodes).map(|by| heard(cut(plan), by, nodes)).collect();
        for (position, set) in heard.iter().enumerate() {
            assert!(set.contains(&(position + 1)), "it hears itself");
            assert_eq!(set.len(), nodes / 2 + 1);
        }
        let distinct: BTreeSet<_> = heard.iter().collect();
        assert_eq!(distinct.len(), nodes);
        assert_eq!(plan.targets.len(), nodes);
    });
}

#[test]
fn a_bridge_reaches_both_halves_and_they_reach_only_it() {
    for_all(Shape::Bridge, 3, |nodes, plan| {
        let heard: Vec<_> = (1..=nodes).map(|by| heard(cut(plan), by, nodes)).collect();
        let bridges = heard.iter().filter(|set| set.len() == nodes).count();
        assert_eq!(bridges, 1);
        let one = plan.targets.len();
        assert_eq!(cut(plan).len(), 2 * one * (nodes - 1 - one));
        assert!(one.abs_diff(nodes - 1 - one) <= 1);
    });
}

#[test]
fn too_few_nodes_for_a_shape_are_told() {
    for shape in OF_THEIR_OWN {
        let why = plan(&partition(shape), 1, Some(1), 1).unwrap_err();
        assert_eq!(why, "a partition of 1 node has nobody on one side");
    }
    let isolate_all = fault("{ fault: partition, shape: isolate, target: all }");
    assert!(plan(&isolate_all, 3, None, 1).unwrap_err().contains("nobody on one side"));
}

#[test]
fn one_way_drops_only_what_is_sent_to_the_target() {
    let one_way = fault("{ fault: partition, shape: one-way, target: leader }");
    let plan = plan(&one_way, 3, Some(2), 1).unwrap();
    assert_eq!(*cut(&plan), links(&[("zookeeper1", "zookeeper2"), ("zookeeper3", "zookeeper2")]));
}

#[test]
fn traffic_says_whose_packets_are_cut() {
    let isolate = |traffic: &str| {
        let yaml = format!(
            "{{ fault: partition, shape: isolate, target: zookeeper1, traffic: {traffic} }}"
        );
        cut(&plan(&fault(&yaml), 2, None, 1).unwrap()).clone()
    };
    let nodes = links(&[("zookeeper1", "zookeeper2"), ("zookeeper2", "zookeeper1")]);
    let clients = links(&[("zookeeper1", "clients"), ("clients", "zookeeper1")]);
    assert_eq!(isolate("nodes"), nodes);
    assert_eq!(isolate("clients"), clients);
    assert_eq!(isolate("all"), nodes.union(&clients).cloned().collect());
    let deaf = "{ fault: partition, shape: one-way, target: all, traffic: clients }";
    let inbound = links(&[("clients", "zookeeper1"), ("clients", "zookeeper2")]);
    assert_eq!(*cut(&plan(&fault(deaf), 2, None, 1).unwrap()), inbound);
}

#[test]
fn a_link_is_cut_as_it_is_written() {
    let cut_link = |link: &str, nodes| {
        let fault = fault(&format!("{{ fault: partition, shape: link, link: {link} }}"));
        cut(&plan(&fault, nodes, Some(1), 7).unwrap()).clone()
    };
    assert_eq!(cut_link("follower->leader", 2), links(&[("zookeeper2", "zookeeper1")]));
    assert_eq!(cut_link("one->leader", 2), links(&[("zookeeper2", "zookeeper1")]));
    assert_eq!(cut_link("leader->clients", 3), links(&[("zookeeper1", "clients")]));
    assert_eq!(cut_link("zookeeper2<->all", 3).len(), 4);
    for nodes in 2..=9 {
        let one_to_one = cut_link("one<->one", nodes);
        assert_eq!(one_to_one.len(), 2, "never a node with itself");
    }
}

#[test]
fn refusal_and_port_are_passed_on() {
    let fault =
        fault("{ fault: partition, shape: isolate, target: leader, refusal: reset, port: 2888 }");
    match &plan(&fault, 3, Some(1), 1).unwrap().actions[..] {
        [Action::Cut { manner, .. }] => {
            assert_eq!((manner.refusal, manner.port), (crate::cluster::Refusal::Reset, Some(2888)));
        }
        other => panic!("expected one cut, found {other:?}"),
    }
}

#[test]
fn the_same_seed_draws_the_same_sides_and_others_draw_others() {
    for shape in OF_THEIR_OWN {
        let drawn = |seed| plan(&partition(shape), 7, Some(1), seed).unwrap();
        assert_eq!(drawn(5), drawn(5));
        let all: BTreeSet<_> = (0..SEEDS).map(|seed| cut(&drawn(seed)).clone()).collect();
        assert!(all.len() > 3, "{shape:?}: {}", all.len());
    }
}
