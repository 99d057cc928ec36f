//! A whole in memory: a ZooKeeper, controllers and pretended kvrocks nodes, with the addresses of the
//! recordings.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::data_node::{self, Memory, Told};
use super::desk::Desk;
use super::zookeeper::Zookeeper;
use crate::http::{HttpError, Method, Request, Response, send};
use crate::reference::controller::{Config, serve};
use crate::reference::testing::{self, Machine, Process};
use crate::reference::{ControllerVariant, NodeVariant, kvrocks};

const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 99);

pub fn address(last: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, last)
}

pub struct Lab {
    pub lab: Rc<testing::Lab>,
    pub zookeeper: Rc<Zookeeper>,
    variant: ControllerVariant,
    machines: RefCell<BTreeMap<u8, Machine>>,
    processes: RefCell<BTreeMap<u8, Process>>,
    skews: RefCell<BTreeMap<u8, Rc<Cell<i64>>>>,
    nodes: RefCell<BTreeMap<u8, Memory>>,
}

impl Lab {
    pub fn new(variant: ControllerVariant) -> Lab {
        Lab {
            lab: testing::Lab::new(),
            zookeeper: Zookeeper::start(),
            variant,
            machines: RefCell::default(),
            processes: RefCell::default(),
            skews: RefCell::default(),
            nodes: RefCell::default(),
        }
    }

    fn start<F>(&self, last: u8, serve: impl FnOnce(testing::Place) -> F)
    where
        F: Future<Output = anyhow::Result<()>> + 'static,
    {
        let mut machines = self.machines.borrow_mut();
        let machine = machines.entry(last).or_insert_with(|| self.lab.machine(address(last)));
        self.processes.borrow_mut().insert(last, machine.start(serve));
    }

    /// Of its two ZooKeeper servers the first is never there.
    pub fn start_controller(&self, last: u8) {
        let yaml = format!(
            "addr: \"10.0.0.{last}:9379\"\nstorage_type: zookeeper\n\
             zookeeper: {{addrs: [\"10.0.0.9:2181\", \"10.0.0.10:2181\"]}}\n\
             controller: {{failover: {{ping_interval_seconds: 1, max_ping_count: 3}}}}\n"
        );
        let config = Config::parse(self.variant, &yaml).expect("sound");
        let skew_ms = self.skew(last);
        let zookeeper = self.zookeeper.clone();
        self.start(last, |place| {
            serve(Desk { place, zookeeper, address: address(last), skew_ms }, config)
        });
    }

    fn skew(&self, last: u8) -> Rc<Cell<i64>> {
        self.skews.borrow_mut().entry(last).or_default().clone()
    }

    /// Puts this machine's wall clock ahead.
    pub fn set_skew_ms(&self, last: u8, skew_ms: i64) {
        self.skew(last).set(skew_ms);
    }

    pub fn start_node(&self, last: u8) {
        let fresh = || Rc::new(RefCell::new(Told { version: -1, ..Told::default() }));
        let memory = self.nodes.borrow_mut().entry(last).or_insert_with(fresh).clone();
        self.start(last, |place| data_node::serve(place, address(last), memory));
    }

    /// A real one of ours, of which `node` knows nothing.
    pub fn start_kvrocks(&self, last: u8) {
        let pairs = [
            ("port", "6666"),
            ("cluster-enabled", "yes"),
            ("persist-cluster-nodes-enabled", "yes"),
            ("migrate-type", "raw-key-value"),
        ];
        let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let config = kvrocks::Config::from_pairs(NodeVariant::AsShipped, pairs).expect("sound");
        self.start(last, |place| kvrocks::serve(place, config));
    }

    pub fn node(&self, last: u8) -> Memory {
        self.nodes.borrow()[&last].clone()
    }

    pub async fn kill(&self, last: u8) {
        self.processes.borrow_mut().remove(&last).expect("a running process").kill();
        self.zookeeper.died(address(last));
        // Its tasks end when they are next looked at.
        sleep_ms(1).await;
    }

    /// Nothing passes between these machines any more; 10 is ZooKeeper.
    pub fn cut(&self, one: u8, other: u8) {
        self.lab.network.hold(address(one), address(other));
        self.lab.network.hold(address(other), address(one));
        if other == 10 {
            self.zookeeper.cut(address(one));
        }
    }

    pub fn join(&self, one: u8, other: u8) {
        self.lab.network.release(address(one), address(other));
        self.lab.network.release(address(other), address(one));
        if other == 10 {
            self.zookeeper.join(address(one));
        }
    }

    pub fn raw_log(&self, last: u8) -> Vec<String> {
        self.processes.borrow()[&last].log()
    }

    pub fn log(&self, last: u8) -> Vec<Value> {
        let lines = self.raw_log(last);
        lines.iter().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// Messages of a controller's log.
    pub fn messages(&self, last: u8) -> Vec<String> {
        let message = |line: &Value| line["msg"].as_str().expect("a message").to_owned();
        self.log(last).iter().map(message).collect()
    }

    pub fn has_said(&self, last: u8, message: &str) -> usize {
        self.messages(last).iter().filter(|said| *said == message).count()
    }

    pub async fn ask(
        &self,
        last: u8,
        method: Method,
        target: &str,
        body: &str,
    ) -> Result<Response, HttpError> {
        let to = SocketAddrV4::new(address(last), 9379);
        let stream = self.lab.network.connect(CLIENT, to).await;
        let stream = stream.map_err(|error| HttpError::NotSent(error.to_string()))?;
        let request = Request::new(method, to.to_string(), target).with_json(body.to_owned());
        send(stream, request).await
    }

    pub async fn get(&self, last: u8, target: &str) -> Response {
        self.ask(last, Method::GET, target, "").await.expect("an answer")
    }

    pub async fn post(&self, last: u8, target: &str, body: &str) -> Response {
        self.try_post(last, target, body).await.expect("an answer")
    }

    pub async fn try_post(
        &self,
        last: u8,
        target: &str,
        body: &str,
    ) -> Result<Response, HttpError> {
        self.ask(last, Method::POST, target, body).await
    }

    /// Two controllers of which 22 leads, and four nodes.
    pub async fn six(variant: ControllerVariant) -> Lab {
        let lab = Lab::new(variant);
        (31..=34).for_each(|last| lab.start_node(last));
        lab.start_controller(22);
        lab.until("22 leads", || lab.has_said(22, LEADS) == 1).await;
        lab.start_controller(21);
        lab.until_listening(21).await;
        lab
    }

    pub async fn until_listening(&self, last: u8) {
        let to = SocketAddrV4::new(address(last), 9379);
        while self.lab.network.connect(CLIENT, to).await.is_err() {
            sleep_ms(10).await;
        }
    }

    /// The six with a cluster `ns0/c0` of two shards that all nodes know.
    pub async fn with_cluster(variant: ControllerVariant) -> Lab {
        let lab = Lab::six(variant).await;
        lab.create_cluster().await;
        lab.until_pushed(1).await;
        lab
    }

    pub async fn create_cluster(&self) {
        self.post(22, "/api/v1/namespaces", r#"{"namespace":"ns0"}"#).await;
        let body = r#"{"name":"c0","nodes":["10.0.0.31:6666","10.0.0.32:6666","10.0.0.33:6666","10.0.0.34:6666"],"replicas":2}"#;
        let answer = self.post(22, "/api/v1/namespaces/ns0/clusters", body).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
    }

    /// Until all four nodes have this version or a higher one.
    pub async fn until_pushed(&self, version: i64) {
        let has = |last| self.node(last).borrow().version >= version;
        self.until("all nodes have the version", || (31..=34).all(has)).await;
    }

    pub fn version(&self) -> i64 {
        self.document()["version"].as_i64().expect("a version")
    }

    /// The cluster as ZooKeeper has it.
    pub fn document(&self) -> Value {
        let text = self.zookeeper.text("/kvrocks/metadata/ns0/cluster/c0");
        serde_json::from_str(&text).expect("a document")
    }

    /// Waits for something that must come within two minutes.
    pub async fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let late = tokio::time::Instant::now() + Duration::from_secs(120);
        while !is_so() {
            let lines = || self.processes.borrow().values().map(Process::log).collect::<Vec<_>>();
            assert!(tokio::time::Instant::now() < late, "never: {what}: {:#?}", lines());
            sleep_ms(10).await;
        }
    }
}

pub const LEADS: &str = "Became the leader, resume the controller";
pub const LOST: &str = "Lost the leader, suspend the controller";
pub const C0: &str = "/api/v1/namespaces/ns0/clusters/c0";

pub async fn sleep_ms(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}
