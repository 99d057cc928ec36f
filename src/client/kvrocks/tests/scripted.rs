//! Nodes that answer by a script, each request of each connection in turn, over pipes in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use futures::io::{AsyncReadExt, AsyncWriteExt};
use tokio::io::DuplexStream;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt};

use crate::client::kvrocks::{
    Addresses, CasMode, ClientKind, Common, Identity, KvrocksClient, seeds,
};
use crate::cluster::{Client, Node, Role, Topology};
use crate::key_space::KeySpace;
use crate::op::{Call, Completion, NodeName};
use crate::resp::{Decoder, Value};

pub type Pipe = Compat<DuplexStream>;

/// What a node does about one request.
pub enum Say {
    /// These bytes, whatever they are.
    Bytes(Vec<u8>),
    /// These bytes, and the connection is closed.
    Last(Vec<u8>),
    /// Nothing, for ever.
    Silence,
}

pub fn value(value: Value) -> Say {
    let mut bytes = Vec::new();
    value.encode(&mut bytes);
    Say::Bytes(bytes)
}

pub fn error(text: &str) -> Say {
    value(Value::Error(text.to_owned()))
}

pub fn bulk(text: &str) -> Say {
    value(Value::bulk(text.to_owned()))
}

pub fn ok() -> Say {
    value(Value::ok())
}

/// kvrocks1 owns 0-8191 with kvrocks2 as replica, kvrocks3 the rest with kvrocks4.
pub fn slots() -> Say {
    let node = |number: u8| {
        let host = Value::bulk(format!("10.0.0.{number}"));
        Value::Array(vec![host, Value::Int(6666), Value::bulk("id")])
    };
    let range = |first, last, master, replica| {
        Value::Array(vec![Value::Int(first), Value::Int(last), node(master), node(replica)])
    };
    value(Value::Array(vec![range(0, 8191, 1, 2), range(8192, 16383, 3, 4)]))
}

pub fn topology() -> Topology {
    let node = |number: u8| Node {
        name: Role::Kvrocks.node_name(number.into()),
        role: Role::Kvrocks,
        address: [10, 0, 0, number].into(),
    };
    Topology { nodes: (1..=4).map(node).collect() }
}

/// What a node of this name says to these words.
type Script = Box<dyn FnMut(&str, &[&str]) -> Say>;

/// All nodes, and what they were asked.
#[derive(Clone)]
pub struct Nodes {
    script: Rc<RefCell<Script>>,
    pub asked: Rc<RefCell<Vec<String>>>,
    /// Nodes that take no connections.
    pub refusing: Rc<RefCell<Vec<&'static str>>>,
    pub common: Rc<Common>,
}

/// Key 7 of the tests, and its slot.
pub const SLOT: u16 = 449;

impl Nodes {
    /// Nodes that answer `CLUSTER SLOTS` and `READONLY` by themselves, the rest by script.
    pub fn new(mut script: impl FnMut(&str, &[&str]) -> Say + 'static) -> Nodes {
        Nodes::bare(move |node, words| match words {
            ["CLUSTER", "SLOTS"] => slots(),
            ["READONLY"] => ok(),
            _ => script(node, words),
        })
    }

    pub fn bare(script: impl FnMut(&str, &[&str]) -> Say + 'static) -> Nodes {
        Nodes::with_cas(script, CasMode::Command)
    }

    pub fn with_cas(script: impl FnMut(&str, &[&str]) -> Say + 'static, cas: CasMode) -> Nodes {
        let common = Common {
            keys: KeySpace::of_slots([SLOT]),
            addresses: Addresses::of(&topology()),
            seeds: seeds(&topology()),
            cas,
            request_timeout: Duration::from_secs(1),
            budget: Duration::from_secs(4),
            kept: RefCell::new(BTreeMap::new()),
        };
        Nodes {
            script: Rc::new(RefCell::new(Box::new(script))),
            asked: Rc::default(),
            refusing: Rc::default(),
            common: Rc::new(common),
        }
    }

    pub fn client(
        &self,
        kind: ClientKind,
        home: &str,
    ) -> KvrocksClient<
        Pipe,
        impl Fn(NodeName) -> futures::future::Ready<std::io::Result<Pipe>> + use<>,
    > {
        let nodes = self.clone();
        let dial = move |node: NodeName| futures::future::ready(nodes.dial(node));
        KvrocksClient::new(
            dial,
            self.common.clone(),
            Identity { thread: 3, home: home.into(), kind },
        )
    }

    fn dial(&self, node: NodeName) -> std::io::Result<Pipe> {
        if self.refusing.borrow().contains(&node.as_str()) {
            return Err(std::io::ErrorKind::ConnectionRefused.into());
        }
        let (here, there) = tokio::io::duplex(1 << 20);
        tokio::task::spawn_local(self.clone().serve(node, there.compat()));
        Ok(here.compat())
    }

    async fn serve(self, node: NodeName, mut stream: Pipe) {
        let (mut decoder, mut piece) = (Decoder::default(), [0; 4096]);
        loop {
            while let Some(words) = decoder.next_command().expect("a sound request") {
                let words: Vec<String> =
                    words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let shown = words.join(" ").replace(&self.common.keys.name(7), "k");
                self.asked.borrow_mut().push(format!("{node}: {shown}"));
                let say = (self.script.borrow_mut())(&node, &words);
                match say {
                    Say::Bytes(bytes) => stream.write_all(&bytes).await.expect("a reader"),
                    Say::Last(bytes) => {
                        stream.write_all(&bytes).await.expect("a reader");
                        return;
                    }
                    Say::Silence => std::future::pending().await,
                }
            }
            match stream.read(&mut piece).await {
                Ok(length @ 1..) => decoder.feed(&piece[..length]),
                _ => return,
            }
        }
    }

    /// All that was asked so far; the next question begins anew.
    pub fn take_asked(&self) -> String {
        std::mem::take(&mut *self.asked.borrow_mut()).join("\n")
    }
}

/// Runs a test under a clock that stands still while there is work.
pub fn play<T>(test: impl Future<Output = T>) -> T {
    crate::sim::run(test).expect("a runtime")
}

/// How an operation ended, and its way.
pub fn told(completion: &Completion) -> String {
    let route = completion.route.as_ref().expect("a route");
    let hops = route
        .hops
        .iter()
        .map(|hop| format!("{} +{}ms: {}", hop.node, hop.after_us / 1000, hop.said));
    let mut lines = vec![format!("{:?}", completion.outcome)];
    lines.extend(hops);
    lines.join("\n")
}

/// One operation of a fresh client of this kind at kvrocks1.
pub fn once(kind: ClientKind, call: Call, nodes: &Nodes) -> Completion {
    play(async { nodes.client(kind, "kvrocks1").invoke(&call).await })
}
