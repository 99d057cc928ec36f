//! A controller of a kvrocks cluster: the topology is kept in ZooKeeper, one of several controllers leads,
//! probes the nodes, tells them the topology, replaces dead masters and follows migrations.
//!
//! It does as kvrocks-controller 1.2.0 does, defects and all: a follower carries out what it redirects, a
//! leader without ZooKeeper goes on believing in itself, metadata are written without compare-and-set, and
//! failures are counted in the leader's memory only. What is in ZooKeeper can be read and written by both.
//! Where a [`ControllerVariant`](super::ControllerVariant) differs, `store/writing.rs` says how.

mod checker;
mod config;
mod document;
mod election;
mod engine;
mod failure;
mod leadership;
mod lease;
mod log;
mod nodes;
mod office;
mod promotion;
mod rest;
mod slots;
mod store;
#[cfg(test)]
mod tests;
mod topology;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use futures::lock::Mutex;

use crate::reference::ControllerVariant;
use crate::reference::host::Host;
use crate::rng::Rng;

pub use config::{Config, ConfigError};

use document::Node;
use engine::Engine;
use leadership::Leadership;
use log::Log;
use nodes::Nodes;
use store::{Key, Store};

/// One controller: what its parts share.
struct Shared<H: Host> {
    host: H,
    config: Rc<Config>,
    log: Rc<Log<H>>,
    engine: Rc<Engine<H>>,
    leadership: Rc<Leadership<H>>,
    store: Store<H>,
    nodes: Nodes<H>,
    chance: RefCell<Rng>,
    /// One request to migrate at a time, by cluster.
    migrations: RefCell<BTreeMap<Key, Rc<Mutex<()>>>>,
}

impl<H: Host> Shared<H> {
    /// A node with an id that nobody has.
    fn new_node(&self, addr: &str, role: &str, password: &str) -> Node {
        Node {
            addr: addr.to_owned(),
            created_at: self.host.wall_ms() / 1000,
            id: letters(&mut self.chance.borrow_mut(), 40),
            password: password.to_owned(),
            role: role.to_owned(),
        }
    }
}

/// So many letters and digits.
fn letters(chance: &mut Rng, count: usize) -> String {
    const KNOWN: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    (0..count).map(|_| char::from(KNOWN[chance.below(62) as usize])).collect()
}

/// Serves until the process ends. Clients are taken as soon as a leader is known, whoever it is.
pub async fn serve<H: Host>(host: H, config: Config) -> anyhow::Result<()> {
    let config = Rc::new(config);
    let log = Rc::new(Log::new(host.clone()));
    let engine = Rc::new(Engine::new(host.clone(), config.clone(), log.clone()));
    let (leadership, changes) = Leadership::new(host.clone(), &config.addr.to_string());
    let leadership = Rc::new(leadership);
    let (store, events) =
        Store::new(engine.clone(), leadership.clone(), config.clone(), log.clone());
    let nodes = Nodes::new(host.clone());
    let purpose = format!("node ids of a start at {}", host.wall_ms());
    let chance = RefCell::new(host.chance(&purpose));
    let shared = Rc::new(Shared {
        host: host.clone(),
        config: config.clone(),
        log,
        engine: engine.clone(),
        leadership: leadership.clone(),
        store,
        nodes,
        chance,
        migrations: RefCell::default(),
    });
    host.run(engine.clone().keep_session());
    match config.variant {
        ControllerVariant::WallClockLease => host.run(lease::hold(shared.clone())),
        _ => host.run(election::stand(host.clone(), config, engine, leadership)),
    }
    office::run(&shared, changes, events).await;
    rest::serve(shared).await
}
