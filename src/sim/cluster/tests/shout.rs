//! A program for tests that answers lines, mostly in upper case, and does what it is told.

use std::io;
use std::net::SocketAddrV4;
use std::rc::Rc;
use std::time::Duration;

use futures::io::{AsyncReadExt, AsyncWriteExt};

use crate::cluster::{Cluster, Coordination, CreateMode, Role};
use crate::reference::host::{Host, Listener, within};
use crate::rng::Rng;
use crate::sim::program::Program;
use crate::sim::{SimCluster, SimHost, SimSpec, SimStream, Variant};

/// Answers lines in upper case, and a few of them otherwise.
async fn shout(host: SimHost) -> anyhow::Result<()> {
    host.log("starting");
    let mut listener = host.listen(PORT).await?;
    loop {
        let (stream, peer) = listener.accept().await?;
        let talk = talk(host.clone(), stream, peer);
        host.run(async move { drop(talk.await) });
    }
}

pub const PORT: u16 = 6666;
const SECOND: Duration = Duration::from_secs(1);

async fn talk(host: SimHost, mut stream: SimStream, peer: SocketAddrV4) -> io::Result<()> {
    let mut text = String::new();
    let mut buffer = [0; 64];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        text.push_str(&String::from_utf8_lossy(&buffer[..length]));
        while let Some((line, rest)) = text.split_once('\n') {
            let answer = answer(&host, peer, line).await;
            stream.write_all(format!("{answer}\n").as_bytes()).await?;
            text = rest.to_owned();
        }
    }
}

async fn answer(host: &SimHost, peer: SocketAddrV4, line: &str) -> String {
    match line.split_once(' ').unwrap_or((line, "")) {
        ("who", "") => peer.to_string(),
        ("wall", "") => host.wall_ms().to_string(),
        ("sleep", ms) => {
            let before = host.monotonic();
            host.sleep(Duration::from_millis(ms.parse().unwrap_or(0))).await;
            (host.monotonic() - before).as_millis().to_string()
        }
        ("keep", text) => {
            host.disk().append("notes", text.as_bytes()).expect("a disk");
            "kept".to_owned()
        }
        ("notes", "") => {
            let notes = host.disk().read("notes").expect("a disk");
            String::from_utf8(notes.unwrap_or_default()).expect("text")
        }
        ("ask", address) => match relay(host, address.parse().expect("an address")).await {
            Ok(answer) => answer,
            Err(error) => error.kind().to_string(),
        },
        ("lock", server) => lock(host.clone(), server.parse().expect("an address")).await,
        ("luck", purpose) => host.chance(purpose).below(1 << 40).to_string(),
        ("port", port) => match host.listen(port.parse().expect("a port")).await {
            Ok(_listener) => "free".to_owned(),
            Err(error) => error.kind().to_string(),
        },
        ("log", text) => {
            host.log(text);
            "logged".to_owned()
        }
        _ => line.to_uppercase(),
    }
}

/// Asks another node within two seconds.
async fn relay(host: &SimHost, to: SocketAddrV4) -> io::Result<String> {
    let asked = async {
        let mut stream = host.connect(to).await?;
        stream.write_all(b"hello\n").await?;
        line(&mut stream).await
    };
    within(host, 2 * SECOND, asked).await.unwrap_or(Err(io::ErrorKind::TimedOut.into()))
}

/// Keeps an ephemeral znode for as long as the process and its session live.
async fn lock(host: SimHost, server: SocketAddrV4) -> String {
    let session = match host.coordinate(server, Duration::from_secs(6)).await {
        Ok(session) => session,
        Err(error) => return error.to_string(),
    };
    let made = session.create("/lock", b"mine", CreateMode::Ephemeral).await;
    let keeper = host.clone();
    host.run(async move {
        let state = session.state();
        let state = session.changed(state).await;
        keeper.log(&format!("session {state:?}"));
        session.changed(state).await;
    });
    made.map_or_else(|error| error.to_string(), |_| format!("locked by {}", host.wall_ms()))
}

pub async fn line(stream: &mut SimStream) -> io::Result<String> {
    let mut text = Vec::new();
    let mut byte = [0];
    loop {
        match stream.read(&mut byte).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if byte == *b"\n" => return Ok(String::from_utf8_lossy(&text).into_owned()),
            _ => text.push(byte[0]),
        }
    }
}

/// One ZooKeeper server and so many nodes that shout.
pub async fn shouting(nodes: usize, seed: u64) -> SimCluster {
    let mut spec = SimSpec::ensemble(1, Variant::AsShipped, Rng::from_seed(seed));
    spec.services.insert(Role::Kvrocks, nodes);
    let program: Program = Rc::new(|host| Box::pin(shout(host)));
    let cluster = SimCluster::start_with(&spec, Role::Kvrocks, &program).unwrap();
    tokio::time::sleep(5 * SECOND).await;
    cluster
}

pub async fn dial(cluster: &SimCluster, node: &str) -> SimStream {
    cluster.dial(&node.into(), PORT).await.unwrap()
}

pub async fn say(stream: &mut SimStream, words: &str) -> io::Result<String> {
    stream.write_all(format!("{words}\n").as_bytes()).await?;
    line(stream).await
}
