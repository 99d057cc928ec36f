//! kvrocks nodes, their controllers and ZooKeeper in containers: real software's layout, our own servers.

mod bad;
mod desk;
mod faults;
mod heal;
mod official;
mod schedules;

use std::time::Instant;

use stormglass::cluster::{Action, Cluster, NodeState, Role};
use stormglass::resp::Value;

use crate::docker_cluster::harness::{Scratch, with_engine};
use desk::{apply, controller, form, kvrocks, must_be, own_key, resp, settled, seven};

#[test]
fn seven_services_come_up_and_take_a_write() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let started = Instant::now();
        let cluster = scratch.up_by(&seven(&scratch)).await;
        let up = started.elapsed();
        form(&cluster).await;
        let formed = started.elapsed();
        settled(&cluster).await;
        must_be(resp(&cluster, kvrocks(1), &["SET", &own_key(1), "1"]).await, &Value::ok());
        let written = started.elapsed();
        println!("up after {up:?}, formed after {formed:?}, the first write after {written:?}");

        let view = cluster.view().await;
        println!("{view:#?}");
        assert_eq!(view.leaders(Role::Controller).count(), 1);
        let masters: Vec<_> = view.leaders(Role::Kvrocks).copied().collect();
        assert_eq!(masters, [kvrocks(1), kvrocks(3)]);
        let slots = [1, 3].map(|number| view.nodes[&kvrocks(number)].slots.as_deref());
        assert_eq!(slots, [Some("0-8191"), Some("8192-16383")]);
        assert!(cluster.images().iter().filter(|image| image.is_reference()).count() == 2);
        scratch.down(cluster).await;
        let log = std::fs::read_to_string(scratch.log("kvrocks1")).expect("a log");
        assert!(!log.is_empty(), "it tells what it does");
    });
}

#[test]
fn a_node_that_was_killed_has_kept_its_data_and_its_topology() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let cluster = scratch.up_by(&seven(&scratch)).await;
        form(&cluster).await;
        settled(&cluster).await;
        let (node, key) = (kvrocks(1), own_key(1));
        for (number, action) in [Action::Kill { node }, Action::Stop { node }].iter().enumerate() {
            let value = number.to_string();
            must_be(resp(&cluster, node, &["SET", &key, &value]).await, &Value::ok());
            apply(&cluster, action).await;
            assert_eq!(cluster.view().await.nodes[&node].state, NodeState::Down);
            apply(&cluster, &action.undo().expect("an inverse")).await;
            // Before it is deposed it is the master that it was.
            must_be(resp(&cluster, node, &["GET", &key]).await, &Value::bulk(value));
        }
        scratch.down(cluster).await;
    });
}

#[test]
fn supervised_services_of_every_role_crash_and_are_back_at_once() {
    with_engine(|engine| async move {
        let scratch = Scratch::new(engine);
        let mut spec = seven(&scratch);
        spec.needs.supervised = true;
        let cluster = scratch.up_by(&spec).await;
        form(&cluster).await;
        settled(&cluster).await;
        must_be(resp(&cluster, kvrocks(1), &["SET", &own_key(1), "1"]).await, &Value::ok());
        for node in [kvrocks(1), controller(1), controller(2)] {
            let proof = apply(&cluster, &Action::Crash { node }).await;
            println!("{node} crashed and answering in {} ms", proof.took_us / 1000);
        }
        settled(&cluster).await;
        must_be(resp(&cluster, kvrocks(1), &["GET", &own_key(1)]).await, &Value::bulk("1"));
        scratch.down(cluster).await;
    });
}
