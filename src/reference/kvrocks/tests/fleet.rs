//! Nodes on machines in memory, and what a client hears of them.

use std::cell::RefCell;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;
use std::time::Duration;

use crate::reference::NodeVariant;
use crate::reference::kvrocks::{Config, serve};
use crate::reference::testing::{Conversation, Lab, Machine, Process, on_paused_clock};
use crate::resp::Value;

pub const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

pub const CONTROLLER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 21);

/// A reply must come within this, or there is none.
const PATIENCE: Duration = Duration::from_millis(900);

/// Three nodes: 1 is master of 0-8191 with 3 as its slave, 2 is master of the rest.
pub struct Fleet {
    pub lab: Rc<Lab>,
    pub variant: NodeVariant,
    pairs: Vec<(String, String)>,
    machines: Vec<Machine>,
    processes: RefCell<Vec<Option<Process>>>,
}

/// The address of a node, from 1.
pub fn address(node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, 40 + node as u8)
}

/// The id of a node.
pub fn id(node: usize) -> String {
    node.to_string().repeat(40)
}

/// A topology: the masters with their slots, and who are their slaves.
pub fn topology(masters: &[(usize, &str)], slaves: &[(usize, usize)]) -> String {
    let masters = masters
        .iter()
        .map(|(node, slots)| format!("{} {} 6666 master - {slots}\n", id(*node), address(*node)));
    let slaves = slaves
        .iter()
        .map(|(node, of)| format!("{} {} 6666 slave {}\n", id(*node), address(*node), id(*of)));
    masters.chain(slaves).collect()
}

pub fn usual() -> String {
    topology(&[(1, "0-8191"), (2, "8192-16383")], &[(3, 1)])
}

/// Runs a test with three nodes that have the usual topology at version 2.
pub fn with_fleet<T>(
    variant: NodeVariant,
    config: &[(&str, &str)],
    test: impl AsyncFnOnce(Fleet) -> T,
) -> T {
    on_paused_clock(async {
        let fleet = Fleet::start(variant, config).await;
        fleet.tell_all(&usual(), 2).await;
        fleet.until(3, "INFO replication", "master_link_status:up").await;
        test(fleet).await
    })
}

impl Fleet {
    /// Three nodes that know nothing but their ids.
    pub async fn start(variant: NodeVariant, config: &[(&str, &str)]) -> Fleet {
        let lab = Lab::new();
        let pairs = config.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let machines = (1..=3).map(|node| lab.machine(address(node))).collect();
        let fleet = Fleet {
            lab: lab.clone(),
            variant,
            pairs: pairs.collect(),
            machines,
            processes: RefCell::new(vec![None, None, None]),
        };
        for node in 1..=3 {
            fleet.run(node).await;
            assert_eq!(fleet.say(node, &["CLUSTERX", "SETNODEID", &id(node)]).await, "OK");
        }
        fleet
    }

    /// Starts a node's process.
    pub async fn run(&self, node: usize) {
        let config = Config::from_pairs(self.variant, self.pairs.clone()).expect("sound");
        let process = self.machine(node).start(|place| serve(place, config));
        self.processes.borrow_mut()[node - 1] = Some(process);
        // It must have its turn before anybody connects.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
    }

    pub fn kill(&self, node: usize) {
        let process = self.processes.borrow_mut()[node - 1].take();
        process.expect("it runs").kill();
    }

    pub fn machine(&self, node: usize) -> &Machine {
        &self.machines[node - 1]
    }

    /// The lines of a node's log that have these words.
    pub fn log(&self, node: usize, words: &str) -> Vec<String> {
        let processes = self.processes.borrow();
        let lines = processes[node - 1].as_ref().map(Process::log).unwrap_or_default();
        lines.into_iter().filter(|line| line.contains(words)).collect()
    }

    /// A connection of its own.
    pub async fn connect(&self, node: usize) -> Peer {
        self.connect_from(CLIENT, node).await
    }

    pub async fn connect_from(&self, from: Ipv4Addr, node: usize) -> Peer {
        let to = SocketAddrV4::new(address(node), 6666);
        Peer(self.lab.converse(from, to).await.ok())
    }

    /// What a node answers on a new connection.
    pub async fn say(&self, node: usize, words: &[&str]) -> String {
        self.connect(node).await.say(words).await
    }

    /// The same, with words between spaces.
    pub async fn ask(&self, node: usize, request: &str) -> String {
        self.connect(node).await.ask(request).await
    }

    pub async fn tell(&self, node: usize, nodes: &str, version: i64) -> String {
        // Long enough for a slave that drops a dead master.
        let mut peer = self.connect(node).await;
        let words = ["CLUSTERX", "SETNODES", nodes, &version.to_string()];
        peer.say_within(&words, Duration::from_secs(5)).await
    }

    pub async fn tell_all(&self, nodes: &str, version: i64) {
        for node in 1..=3 {
            if self.processes.borrow()[node - 1].is_some() {
                assert_eq!(self.tell(node, nodes, version).await, "OK");
            }
        }
    }

    /// Waits until the answer has these words.
    pub async fn until(&self, node: usize, request: &str, words: &str) {
        let mut last = String::new();
        for _ in 0..30_000 {
            last = self.ask(node, request).await;
            if last.contains(words) {
                return;
            }
            self.pass(1).await;
        }
        panic!("{request} at {node}: waited for `{words}`, at last came `{last}`");
    }

    /// Lets so many milliseconds pass.
    pub async fn pass(&self, ms: u64) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    /// A slave has all that its master has.
    pub async fn settle(&self, master: usize, slave: usize) {
        let info = self.ask(master, "INFO replication").await;
        let last = info.lines().find(|line| line.starts_with("master_repl_offset"));
        let last = last.expect("a sequence").replace("master", "slave");
        self.until(slave, "INFO replication", &last).await;
    }
}

/// One connection to a node, if there is one.
pub struct Peer(Option<Conversation>);

impl Peer {
    pub async fn ask(&mut self, request: &str) -> String {
        self.say(&request.split(' ').collect::<Vec<_>>()).await
    }

    pub async fn say(&mut self, words: &[&str]) -> String {
        self.say_within(words, PATIENCE).await
    }

    /// Sends bytes as they are, and hears nothing.
    pub async fn throw(&mut self, bytes: &[u8]) {
        if let Some(conversation) = &mut self.0 {
            conversation.throw(bytes).await;
        }
    }

    /// The same, if it is taken within a second.
    pub async fn throw_within_a_second(&mut self, bytes: &[u8]) -> bool {
        tokio::time::timeout(Duration::from_secs(1), self.throw(bytes)).await.is_ok()
    }

    /// What comes next, unasked.
    pub async fn hear(&mut self) -> String {
        let Some(conversation) = &mut self.0 else { return "(refused)".to_owned() };
        match tokio::time::timeout(PATIENCE, conversation.hear()).await {
            Ok(Some((value, _))) => told(&value),
            Ok(None) => "(closed)".to_owned(),
            Err(_) => "(silence)".to_owned(),
        }
    }

    pub async fn say_within(&mut self, words: &[&str], patience: Duration) -> String {
        let Some(conversation) = &mut self.0 else { return "(refused)".to_owned() };
        match tokio::time::timeout(patience, conversation.call(words)).await {
            Ok(Some(value)) => told(&value),
            Ok(None) => "(closed)".to_owned(),
            Err(_) => "(silence)".to_owned(),
        }
    }
}

/// A reply as a person would write it down.
pub fn told(value: &Value) -> String {
    match value {
        Value::Simple(text) => text.clone(),
        Value::Error(text) => format!("-{text}"),
        Value::Int(number) => format!(":{number}"),
        Value::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Null | Value::NullArray => "(nil)".to_owned(),
        Value::Array(values) => {
            format!("[{}]", values.iter().map(told).collect::<Vec<_>>().join(" "))
        }
    }
}
