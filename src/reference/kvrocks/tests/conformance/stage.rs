//! Nodes in memory, and connections to them by the names of the recording.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;
use std::time::Duration;

use super::direction::Direction;
use super::row::Row;
use crate::reference::NodeVariant;
use crate::reference::kvrocks::{Config, serve};
use crate::reference::testing::{Conversation, Lab, Machine, Process, Tap};
use crate::resp::Value;

const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const PORT: u16 = 6666;

/// The recording has shorter addresses than the nodes had that were recorded, but the lengths of their
/// strings as they were; so ours have addresses of the first length, shown as recorded.
const RECORDED_NET: &str = "10.0.0.";
const NET: &str = "10.200.100.";

/// Nobody waits longer, in the time of the paused clock.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Stage {
    lab: Rc<Lab>,
    nodes: BTreeMap<String, (Machine, Process)>,
    open: BTreeMap<String, Conversation>,
}

impl Stage {
    pub fn new() -> Stage {
        Stage { lab: Lab::new(), nodes: BTreeMap::new(), open: BTreeMap::new() }
    }

    /// The bytes of the reply to a recorded request, at the time of day of the recording.
    pub async fn ask(&mut self, row: &Row) -> Vec<u8> {
        if let Some(wall_ms) = row.wall_ms() {
            self.lab.set_wall_ms(wall_ms);
        }
        let reply = self.call(&row.conn, &row.request).await.1;
        let text = String::from_utf8(reply).expect("no recorded reply has other bytes");
        text.replace(NET, RECORDED_NET).into_bytes()
    }

    /// Does what comes before a row; an error tells what cannot be done.
    pub async fn direct(&mut self, direction: &Direction) -> Result<(), String> {
        match direction {
            Direction::Start { node, address } => self.start(node, address),
            Direction::New { conn } => drop(self.open.remove(conn)),
            Direction::Wait { ms } => tokio::time::sleep(Duration::from_millis(*ms)).await,
            Direction::Hold { from, to } => {
                self.lab.network.hold(self.address(from), self.address(to));
            }
            Direction::Release { from, to } => {
                self.lab.network.release(self.address(from), self.address(to));
            }
            Direction::Lose { from, to } => {
                self.lab.network.lose(self.address(from), self.address(to));
            }
            Direction::Tap { from, to, hold, words } => self.lab.network.tap(Tap {
                from: self.address(from),
                to: self.address(to),
                words: words.iter().map(|word| as_sent(word)).collect(),
                hold: (self.address(&hold.0), self.address(&hold.1)),
            }),
            Direction::Until { conn, text, request } => {
                let wait = async {
                    while !shown(&self.call(conn, request).await.1).contains(text.as_str()) {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                };
                let heard = tokio::time::timeout(PATIENCE, wait).await;
                return heard.map_err(|_| format!("{request:?} never came to `{text}`"));
            }
            Direction::Fill { conn, prefix, count } => {
                for number in 0..*count {
                    let request =
                        ["SET".to_owned(), format!("{prefix}{number}"), format!("v{number}")];
                    self.say(conn, &request).await?;
                }
            }
            Direction::Say { conn, request } => return self.say(conn, request).await,
        }
        Ok(())
    }

    async fn say(&mut self, conn: &str, request: &[String]) -> Result<(), String> {
        match self.call(conn, request).await {
            (Value::Error(error), _) => Err(format!("{request:?}: {error}")),
            _ => Ok(()),
        }
    }

    /// The last lines of each node's log.
    pub fn logs(&self, lines: usize) -> String {
        let mut told = String::new();
        for (name, (_, process)) in &self.nodes {
            let log = process.log();
            for line in &log[log.len().saturating_sub(lines)..] {
                told.push_str(&format!("{name}: {line}\n"));
            }
        }
        told
    }

    fn start(&mut self, node: &str, address: &str) {
        let address = address.replace(RECORDED_NET, NET);
        let machine = self.lab.machine(address.parse().expect("an address"));
        let pairs = [
            ("port", "6666"),
            ("cluster-enabled", "yes"),
            ("persist-cluster-nodes-enabled", "yes"),
            ("migrate-type", "redis-command"),
        ];
        let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let config = Config::from_pairs(NodeVariant::AsShipped, pairs).expect("sound pairs");
        let process = machine.start(|place| serve(place, config));
        self.nodes.insert(node.to_owned(), (machine, process));
    }

    fn address(&self, node: &str) -> Ipv4Addr {
        self.nodes.get(node).expect("a node that was started").0.address
    }

    async fn call(&mut self, conn: &str, request: &[String]) -> (Value, Vec<u8>) {
        let node = conn.split('-').next().unwrap_or(conn);
        let at = SocketAddrV4::new(self.address(node), PORT);
        if !self.open.contains_key(conn) {
            tokio::task::yield_now().await;
            let opened = self.lab.converse(CLIENT, at).await.expect("the node listens");
            self.open.insert(conn.to_owned(), opened);
        }
        let conversation = self.open.get_mut(conn).expect("it was just opened");
        let words: Vec<String> =
            request.iter().map(|word| word.replace(RECORDED_NET, NET)).collect();
        let heard = tokio::time::timeout(PATIENCE, conversation.call_raw(&words)).await;
        let reply = heard.unwrap_or_else(|_| panic!("{conn}: no reply to {request:?}"));
        reply.unwrap_or_else(|| panic!("{conn}: the connection ended at {request:?}"))
    }
}

fn as_sent(word: &str) -> Vec<u8> {
    format!("${}\r\n{word}\r\n", word.len()).into_bytes()
}

pub fn shown(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}
