//! A small program for tests: it counts in RESP, keeps its counts on its disk, asks its neighbour now and
//! then, and holds a session with ZooKeeper.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use futures::io::{AsyncReadExt, AsyncWriteExt};

use crate::cluster::{Cluster, Coordination, CreateMode, SessionEvent};
use crate::op::NodeName;
use crate::reference::host::{Host, Listener, within};
use crate::resp::{Decoder, Value, encode_command};
use crate::sim::{SimCluster, SimHost, SimStream};

const PORT: u16 = 6666;
const FILE: &str = "counts";
const SECOND: Duration = Duration::from_secs(1);

/// Counts by key, each increment on the disk before it is acknowledged.
struct Counts {
    host: SimHost,
    by_key: RefCell<BTreeMap<String, i64>>,
}

impl Counts {
    fn load(host: SimHost) -> anyhow::Result<Counts> {
        let mut by_key = BTreeMap::new();
        let text = host.disk().read(FILE)?.unwrap_or_default();
        for key in String::from_utf8(text)?.lines() {
            *by_key.entry(key.to_owned()).or_insert(0) += 1;
        }
        Ok(Counts { host, by_key: RefCell::new(by_key) })
    }

    fn answer(&self, words: &[Bytes]) -> Value {
        let word = |index: usize| words.get(index).map(|word| String::from_utf8_lossy(word));
        let key = || word(1).unwrap_or_default().into_owned();
        match word(0).as_deref() {
            Some("INCR") => {
                let written = self.host.disk().append(FILE, format!("{}\n", key()).as_bytes());
                let mut counts = self.by_key.borrow_mut();
                let count = counts.entry(key()).or_insert(0);
                *count += i64::from(written.is_ok());
                Value::Int(*count)
            }
            Some("GET") => Value::Int(self.by_key.borrow().get(&key()).copied().unwrap_or(0)),
            Some("INFO") => Value::bulk("role:master\r\n"),
            _ => Value::Error("CLUSTERDOWN The cluster is not initialized".to_owned()),
        }
    }
}

/// The program of the node at this address; its neighbour is the next of so many.
pub async fn tally(host: SimHost, nodes: u8) -> anyhow::Result<()> {
    let counts = Rc::new(Counts::load(host.clone())?);
    let mut listener = host.listen(PORT).await?;
    host.run(keep_session(host.clone()));
    host.run(ask_around(host.clone(), nodes));
    loop {
        let (stream, peer) = listener.accept().await?;
        host.log(&format!("{} {peer} connected", host.wall_ms()));
        host.run(serve(Rc::clone(&counts), stream));
    }
}

async fn serve(counts: Rc<Counts>, mut stream: SimStream) {
    let (mut decoder, mut buffer) = (Decoder::default(), [0; 4096]);
    loop {
        while let Ok(Some(words)) = decoder.next_command() {
            let mut reply = Vec::new();
            counts.answer(&words).encode(&mut reply);
            if stream.write_all(&reply).await.is_err() {
                return;
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(length) => decoder.feed(&buffer[..length]),
        }
    }
}

/// Is always there, so that there is something to expire and to cut.
async fn keep_session(host: SimHost) {
    let server = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), 2181);
    loop {
        let Ok(session) = host.coordinate(server, 4 * SECOND).await else { continue };
        let made = session.create("/here", b"", CreateMode::EphemeralSequential).await;
        host.log(&format!("session {made:?}"));
        let mut state = session.state();
        while !matches!(state, SessionEvent::Expired | SessionEvent::Closed) {
            state = session.changed(state).await;
        }
    }
}

async fn ask_around(host: SimHost, nodes: u8) {
    let mut chance = host.chance("neighbours");
    loop {
        let node = 101 + chance.below(nodes.into()) as u8;
        let to = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, node), PORT);
        let talk = async {
            let mut stream = host.connect(to).await?;
            for _ in 0..5 {
                ask(&mut stream, &["INCR", "neighbours"]).await?;
                host.sleep(Duration::from_millis(chance.between(1, 300))).await;
            }
            io::Result::Ok(())
        };
        // Whatever becomes of it: it is traffic.
        drop(within(&host, 2 * SECOND, talk).await);
        host.sleep(Duration::from_millis(chance.between(1, 300))).await;
    }
}

pub async fn ask(stream: &mut SimStream, words: &[&str]) -> io::Result<Value> {
    let mut request = Vec::new();
    encode_command(words, &mut request);
    stream.write_all(&request).await?;
    let (mut decoder, mut buffer) = (Decoder::default(), [0; 256]);
    loop {
        if let Some(value) = decoder.next_value().map_err(io::Error::other)? {
            return Ok(value);
        }
        match stream.read(&mut buffer).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            length => decoder.feed(&buffer[..length]),
        }
    }
}

pub async fn dial(cluster: &SimCluster, node: &NodeName) -> io::Result<SimStream> {
    let dialed = tokio::time::timeout(SECOND, cluster.dial(node, PORT)).await;
    dialed.unwrap_or(Err(io::ErrorKind::TimedOut.into()))
}

/// Asks within a second.
pub async fn count(stream: &mut SimStream, words: &[&str]) -> Option<i64> {
    match tokio::time::timeout(SECOND, ask(stream, words)).await {
        Ok(Ok(Value::Int(count))) => Some(count),
        _ => None,
    }
}
