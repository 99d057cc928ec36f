//! A kvrocks node as far as a controller can tell: it takes topologies and says what a test lets it say.

use std::cell::RefCell;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;

use futures::io::{AsyncReadExt, AsyncWriteExt};

use crate::reference::host::{Host, Listener};
use crate::reference::testing::{MemoryStream, Place};
use crate::resp::{Decoder, Value};

#[derive(Default)]
pub struct Told {
    pub id: String,
    pub version: i64,
    /// As `SETNODES` brought them.
    pub lines: String,
    pub sequence: u64,
    /// What it migrates: slot, destination, state.
    pub migration: Option<(String, String, String)>,
    /// Answers this to `CLUSTER INFO`.
    pub says: Option<String>,
    pub is_paused: bool,
    /// Versions that it was told, in order.
    pub pushes: Vec<i64>,
}

pub type Memory = Rc<RefCell<Told>>;

impl Told {
    /// What was told of the node with this id: address, port, role and so on.
    fn line(&self, id: &str) -> Option<Vec<&str>> {
        let mut lines = self.lines.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        lines.find(|fields| fields[0] == id)
    }

    pub fn role(&self) -> &str {
        self.line(&self.id).map_or("master", |fields| fields[3])
    }

    fn cluster_nodes(&self) -> String {
        let line = |line: &str| {
            let fields: Vec<&str> = line.split(' ').collect();
            let [id, ip, port, role, master, slots @ ..] = &fields[..] else { panic!("{line}") };
            let slots = slots.join(" ");
            let version = self.version;
            format!("{id} {ip}:{port}@16666 {role} {master} 0 0 {version} connected {slots}\n")
        };
        self.lines.lines().map(line).collect()
    }

    fn cluster_info(&self) -> String {
        let version = self.version;
        let mut text = format!("cluster_state:ok\r\ncluster_current_epoch:{version}\r\n");
        if let Some((slot, to, state)) = &self.migration {
            text += &format!(
                "migrating_slot(s): {slot}\r\ndestination_node: {to}\r\nmigrating_state: {state}\r\n"
            );
        }
        text
    }

    fn answer(&mut self, words: &[String]) -> Value {
        let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
        if lower[..] == ["cluster", "info"] && self.says.is_some() {
            return Value::Error(self.says.clone().unwrap_or_default());
        }
        match lower[..] {
            ["cluster", _] if self.version < 0 => {
                Value::Error("CLUSTERDOWN The cluster is not initialized".to_owned())
            }
            ["cluster", "info"] => Value::bulk(self.cluster_info()),
            ["cluster", "nodes"] => Value::bulk(self.cluster_nodes()),
            ["info"] => Value::bulk(format!(
                "# Replication\r\nrole:{}\r\n# Keyspace\r\nsequence:{}\r\n",
                self.role(),
                self.sequence
            )),
            ["clusterx", "setnodeid", _] => {
                self.id = words[2].clone();
                Value::ok()
            }
            ["clusterx", "setnodes", _, version] => {
                let version = version.parse().expect("a version");
                self.pushes.push(version);
                if version < self.version {
                    return Value::Error("ERR Invalid cluster version".to_owned());
                }
                if version > self.version {
                    (self.version, self.lines) = (version, words[2].clone());
                }
                Value::ok()
            }
            ["clusterx", "migrate", slot, _] => {
                self.migration = Some((slot.to_owned(), words[3].clone(), "start".to_owned()));
                Value::ok()
            }
            _ => Value::Error(format!("ERR unknown command {words:?}")),
        }
    }
}

pub async fn serve(place: Place, address: Ipv4Addr, memory: Memory) -> anyhow::Result<()> {
    let mut listener = place.listen(6666).await?;
    assert!(!address.is_unspecified());
    loop {
        let (stream, _) = listener.accept().await?;
        place.run(converse(place.clone(), stream, memory.clone()));
    }
}

async fn converse(place: Place, mut stream: MemoryStream, memory: Memory) {
    let (mut decoder, mut piece) = (Decoder::default(), vec![0; 4096]);
    loop {
        while let Ok(Some(words)) = decoder.next_command() {
            let words: Vec<String> =
                words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
            while memory.borrow().is_paused {
                place.sleep(Duration::from_millis(10)).await;
            }
            let mut bytes = Vec::new();
            memory.borrow_mut().answer(&words).encode(&mut bytes);
            if stream.write_all(&bytes).await.is_err() {
                return;
            }
        }
        match stream.read(&mut piece).await {
            Ok(count @ 1..) => decoder.feed(&piece[..count]),
            _ => return,
        }
    }
}
