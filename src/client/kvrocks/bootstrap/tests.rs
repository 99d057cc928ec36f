//! Making a cluster with controllers and nodes that answer by a script.

use std::cell::RefCell;
use std::rc::Rc;

use expect_test::{Expect, expect};
use futures::io::{AsyncReadExt, AsyncWriteExt};
use serde_json::json;
use tokio::io::DuplexStream;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};

use super::*;
use crate::cluster::Node;
use crate::http::{Received, serve_connection};
use crate::resp::{Decoder, Value};

type Pipe = Compat<DuplexStream>;

/// What a controller of this name says.
type Controller = dyn Fn(&str, &Received) -> Response;

/// What a node of this name says to these words.
type Data = dyn Fn(&str, &[String]) -> Option<Value>;

#[derive(Clone)]
struct Nodes {
    controller: Rc<Controller>,
    data: Rc<Data>,
    asked: Rc<RefCell<Vec<String>>>,
}

fn topology() -> Topology {
    let of = |role: Role, count: u8, base: u8| {
        (1..=count).map(move |number| Node {
            name: role.node_name(number.into()),
            role,
            address: [10, 0, 0, base + number].into(),
        })
    };
    Topology { nodes: of(Role::Controller, 2, 20).chain(of(Role::Kvrocks, 4, 30)).collect() }
}

fn json_answer(status: u16, body: serde_json::Value) -> Response {
    Response::new(status, "application/json; charset=utf-8", body.to_string())
}

fn error(status: u16, message: &str) -> Response {
    json_answer(status, json!({ "error": { "message": message }, "data": null }))
}

fn redirect(to: &str) -> Response {
    let mut response = Response::new(307, "text/html", "<a>");
    response.headers.push(("Location".into(), format!("http://{to}/api/v1/namespaces")));
    response
}

/// The document of a cluster whose second shard ends at this slot.
fn document(last: u16) -> serde_json::Value {
    let shard = |first: u8, slots: String| {
        let node = |number: u8, role: &str| json!({ "addr": format!("10.0.0.{}:6666", 30 + number), "id": "x", "role": role });
        json!({
            "nodes": [node(first, "master"), node(first + 1, "slave")],
            "slot_ranges": [slots], "target_shard_index": -1, "migrating_slot": null
        })
    };
    let shards = [shard(1, "0-8191".into()), shard(3, format!("8192-{last}"))];
    json!({ "data": { "cluster": { "version": 1, "name": "c0", "shards": shards } } })
}

/// The second of two controllers leads, and all is well.
fn sound_controller(name: &str, asked: &Received) -> Response {
    match (name, asked.method.as_str(), asked.path.as_str()) {
        ("controller1", "GET", _) => redirect("10.0.0.22:9379"),
        (_, "GET", "/api/v1/namespaces") => {
            json_answer(200, json!({ "data": { "namespaces": [] } }))
        }
        (_, "GET", _) => json_answer(200, document(16383)),
        _ => json_answer(201, json!({ "data": {} })),
    }
}

fn view(name: &str, words: &[String], version: u64) -> Option<Value> {
    let number: u8 = name.trim_start_matches("kvrocks").parse().ok()?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let flags = if number % 2 == 1 { "myself,master -" } else { "myself,slave x" };
    let text = match words.as_slice() {
        ["CLUSTER", "INFO"] => format!("cluster_current_epoch:{version}\r\n"),
        ["CLUSTER", "NODES"] => format!("x 10.0.0.3{number}:6666@1 {flags} 1 2 1 connected 0-1\n"),
        ["INFO", "replication"] if number % 2 == 1 => "role:master\r\n".to_owned(),
        ["INFO", "replication"] => "role:slave\r\nmaster_link_status:up\r\n".to_owned(),
        _ => return None,
    };
    Some(Value::bulk(text))
}

fn sound_data(name: &str, words: &[String]) -> Option<Value> {
    Some(view(name, words, 1).unwrap_or_else(Value::ok))
}

impl Nodes {
    fn new(
        controller: impl Fn(&str, &Received) -> Response + 'static,
        data: impl Fn(&str, &[String]) -> Option<Value> + 'static,
    ) -> Nodes {
        Nodes { controller: Rc::new(controller), data: Rc::new(data), asked: Rc::default() }
    }

    fn dial(&self, node: NodeName) -> Pipe {
        let (here, there) = tokio::io::duplex(1 << 20);
        let nodes = self.clone();
        tokio::task::spawn_local(async move {
            match node.starts_with("controller") {
                true => nodes.control(node, there.compat()).await,
                false => nodes.serve(node, there.compat()).await,
            }
        });
        here.compat()
    }

    async fn control(self, node: NodeName, stream: Pipe) {
        let answer = |asked: Received| {
            self.asked.borrow_mut().push(format!("{node}: {} {}", asked.method, asked.path));
            std::future::ready((self.controller)(&node, &asked))
        };
        // The client closes first.
        let _ = serve_connection(stream, answer).await;
    }

    async fn serve(self, node: NodeName, mut stream: Pipe) {
        let (mut decoder, mut piece) = (Decoder::default(), [0; 4096]);
        while let Ok(length @ 1..) = stream.read(&mut piece).await {
            decoder.feed(&piece[..length]);
            while let Some(words) = decoder.next_command().expect("a sound request") {
                let words: Vec<String> =
                    words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
                if words[0] == "SET" {
                    self.asked.borrow_mut().push(format!("{node}: SET {}", words[1]));
                }
                let Some(reply) = (self.data)(&node, &words) else {
                    return std::future::pending().await;
                };
                let mut bytes = Vec::new();
                reply.encode(&mut bytes);
                stream.write_all(&bytes).await.expect("a reader");
            }
        }
    }

    fn bootstrap(&self, filler_kib: u32) -> Result<(), BootstrapError> {
        crate::sim::run(async {
            let dial = |node: NodeName| std::future::ready(Ok(self.dial(node)));
            let (topology, keys) = (topology(), KeySpace::of_slots([449, 9000]));
            let wanted = Wanted { topology: &topology, replicas: 2, keys: &keys, filler_kib };
            bootstrap(&dial, &wanted).await
        })
        .expect("a runtime")
    }
}

#[test]
fn the_leader_makes_the_cluster_and_every_shard_gets_data() {
    let nodes = Nodes::new(sound_controller, sound_data);
    assert_eq!(nodes.bootstrap(2), Ok(()));
    expect![[r#"
        controller1: GET /api/v1/namespaces
        controller2: GET /api/v1/namespaces
        controller2: POST /api/v1/namespaces
        controller2: POST /api/v1/namespaces/stormglass/clusters
        controller2: GET /api/v1/namespaces/stormglass/clusters/c0
        kvrocks1: SET {t10790}0:first
        kvrocks1: SET {t13472}filler0
        kvrocks1: SET {t13472}filler1
        kvrocks3: SET {t3342}0:first
        kvrocks3: SET {t2882}filler0
        kvrocks3: SET {t2882}filler1"#]]
    .assert_eq(&nodes.asked.borrow().join("\n"));
}

fn fails(nodes: &Nodes, expected: Expect) {
    let error = nodes.bootstrap(0).expect_err("no cluster");
    expected.assert_eq(&error.to_string());
}

#[test]
fn controllers_that_fail_are_told_as_they_put_it() {
    fails(
        &Nodes::new(|_, _| error(500, "zk: could not connect"), sound_data),
        expect![
            "no controller leads after 30s: controller1 says 500: zk: could not connect, controller2 says 500: zk: could not connect; expected one that answers GET /api/v1/namespaces with 200, look at the controllers' logs"
        ],
    );
    let own = |name: &str| format!("10.0.0.2{}:9379", name.trim_start_matches("controller"));
    let to_itself = move |name: &str, _: &Received| redirect(&own(name));
    fails(
        &Nodes::new(to_itself, sound_data),
        expect![
            "no controller leads after 30s: controller1 redirects to itself (307, controller1 leads), controller2 redirects to itself (307, controller2 leads); expected one that answers GET /api/v1/namespaces with 200, look at the controllers' logs"
        ],
    );
    let refuses = |name: &str, asked: &Received| match asked.path.ends_with("/clusters") {
        true => error(400, "cluster nodes should be divisible by replicas"),
        false => sound_controller(name, asked),
    };
    fails(
        &Nodes::new(refuses, sound_data),
        expect![
            "controller2 does not create a cluster: 400: cluster nodes should be divisible by replicas; look at its log"
        ],
    );
    let breaks = |name: &str, asked: &Received| match asked.method.as_str() {
        "POST" => error(500, "zk: could not connect to a server"),
        _ => sound_controller(name, asked),
    };
    fails(
        &Nodes::new(breaks, sound_data),
        expect![
            "controller2 does not create a namespace: 500: zk: could not connect to a server; look at its log"
        ],
    );
    let shows_nothing = |name: &str, asked: &Received| match asked.path.ends_with("/c0") {
        true => json_answer(200, json!({ "data": null })),
        false => sound_controller(name, asked),
    };
    fails(
        &Nodes::new(shows_nothing, sound_data),
        expect![[
            r#"controller2 does not show the cluster that it created: 200: {"data":null}; look at its log"#
        ]],
    );
}

#[test]
fn a_topology_with_holes_is_refused() {
    let holes = |name: &str, asked: &Received| match asked.path.ends_with("/c0") {
        true => json_answer(200, document(16000)),
        false => sound_controller(name, asked),
    };
    fails(
        &Nodes::new(holes, sound_data),
        expect![
            "the topology that controller2 made leaves slots without an owner: the shards have [0-8191] and [8192-16000]; expected all of 0-16383 to be served"
        ],
    );
}

#[test]
fn a_node_that_never_joins_is_named() {
    let behind = |name: &str, words: &[String]| match name {
        "kvrocks3" => Some(view(name, words, 0).unwrap_or_else(Value::ok)),
        _ => sound_data(name, words),
    };
    fails(
        &Nodes::new(sound_controller, behind),
        expect![
            "kvrocks3 has not joined the cluster after 30s: it says `master, version 0, slots 0-1`; expected it to tell topology version 1, look at its log and at the controllers'"
        ],
    );
    let silent = |name: &str, words: &[String]| match name {
        "kvrocks4" => None,
        _ => sound_data(name, words),
    };
    fails(
        &Nodes::new(sound_controller, silent),
        expect![
            "kvrocks4 has not joined the cluster after 30s: it does not answer in 3s; expected it to tell topology version 1, look at its log and at the controllers'"
        ],
    );
}

#[test]
fn a_node_that_takes_no_data_is_named() {
    let full = |name: &str, words: &[String]| match words[0].as_str() {
        "SET" => Some(Value::Error("ERR IO error: No space left on device".into())),
        _ => sound_data(name, words),
    };
    fails(
        &Nodes::new(sound_controller, full),
        expect![
            "kvrocks1 took no data before the start: ERR IO error: No space left on device; look at its log"
        ],
    );
}

#[test]
fn what_was_done_by_a_try_without_an_answer_is_not_done_again() {
    let count = RefCell::new(0);
    let flaky = move |name: &str, asked: &Received| match asked.path.ends_with("/clusters") {
        true => {
            *count.borrow_mut() += 1;
            match *count.borrow() {
                1 => error(500, "zk: connection closed"),
                _ => error(409, "node: already exists: [10.0.0.31:6666]"),
            }
        }
        false => sound_controller(name, asked),
    };
    assert_eq!(Nodes::new(flaky, sound_data).bootstrap(0), Ok(()));
}
