//! What an interposer costs: latency of small requests and throughput of large ones, by the same server
//! directly, through an idle tap and through an armed one, by turns in one run. Needs a Docker engine
//! and root, which enters the node's namespace for the server.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use bollard::Docker;
use bollard::query_parameters::InspectContainerOptions;
use stormglass::agent::within;
use stormglass::cluster::{
    Action, Applied, Cluster, Effect, FaultId, Form, MessageRule, Needs, Role, Side, Tap,
};
use stormglass::docker::{ClusterSpec, DockerCluster, Engine, RunId};

const DIRECT: u16 = 7100;
const IDLE: u16 = 7101;
const ARMED: u16 = 7102;
const WAYS: [(&str, u16); 3] = [("direct", DIRECT), ("idle tap", IDLE), ("armed tap", ARMED)];

const PING: &[u8] = b"*1\r\n$4\r\nPING\r\n";
const PONG: &[u8] = b"+PONG\r\n";
const BATCHES: usize = 40;
const ROUND_TRIPS: usize = 500;

const VALUE_BYTES: usize = 64 * 1024;
const VALUES: usize = 8000;
const THROUGHPUT_ROUNDS: usize = 3;

fn tap(port: u16) -> Tap {
    Tap { node: "zookeeper1".into(), side: Side::Inbound, port, peers: BTreeSet::new() }
}

/// Answers every request, whatever its size: a request is as long as its first byte says.
fn serve(mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut buffer = vec![0; 256 * 1024];
    // Large ones come without a wait for an answer, and end with the connection.
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        if length == PING.len() && stream.write_all(PONG).is_err() {
            return;
        }
    }
    let _ = stream.write_all(PONG);
}

fn listen(pid: u32, port: u16) {
    let bind = move || Ok(TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))?);
    let listener = within(pid, bind).expect("a server in the node's namespace");
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(|| serve(stream));
        }
    });
}

fn connect(address: Ipv4Addr, port: u16) -> TcpStream {
    let stream = TcpStream::connect(SocketAddr::from((address, port))).expect("connected");
    stream.set_nodelay(true).expect("set up");
    stream
}

/// Microseconds of each round trip.
fn round_trips(stream: &mut TcpStream) -> Vec<f64> {
    let mut pong = [0; PONG.len()];
    let one = |_| {
        let started = Instant::now();
        stream.write_all(PING).and_then(|()| stream.read_exact(&mut pong)).expect("answered");
        started.elapsed().as_nanos() as f64 / 1000.0
    };
    (0..ROUND_TRIPS).map(one).collect()
}

fn quantile(values: &mut [f64], of: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * of) as usize]
}

fn latencies(address: Ipv4Addr) {
    let mut connections = WAYS.map(|(_, port)| connect(address, port));
    let mut taken = WAYS.map(|_| Vec::new());
    for _ in 0..BATCHES {
        for (connection, taken) in connections.iter_mut().zip(&mut taken) {
            taken.extend(round_trips(connection));
        }
    }
    let direct = [0.5, 0.99].map(|of| quantile(&mut taken[0], of));
    for ((name, _), taken) in WAYS.iter().zip(&mut taken) {
        let [p50, p99] = [0.5, 0.99].map(|of| quantile(taken, of));
        println!(
            "{name:>9}: round trip p50 {p50:.1} us, p99 {p99:.1} us; added p50 {:.1}, p99 {:.1}",
            p50 - direct[0],
            p99 - direct[1]
        );
    }
}

/// Gbit/s of large requests in one connection.
fn throughput(address: Ipv4Addr, port: u16) -> f64 {
    let mut stream = connect(address, port);
    let head = format!("*3\r\n$3\r\nSET\r\n$1\r\na\r\n${VALUE_BYTES}\r\n");
    let request = [head.as_bytes(), &vec![b'x'; VALUE_BYTES], b"\r\n"].concat();
    let started = Instant::now();
    for _ in 0..VALUES {
        stream.write_all(&request).expect("sent");
    }
    stream.shutdown(std::net::Shutdown::Write).expect("half closed");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("the server has it all");
    assert!(answer.ends_with(PONG), "the server has it all");
    (VALUES * request.len()) as f64 * 8.0 / started.elapsed().as_secs_f64() / 1e9
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let Ok(engine) = Engine::connect().await else {
            return println!("not run: no Docker engine");
        };
        let engine = engine.with_executable(Path::new(env!("CARGO_BIN_EXE_stormglass")));
        let results = std::env::temp_dir().join(format!("stormglass-bench-{}", std::process::id()));
        let spec = ClusterSpec::new(RunId::fresh(), [(Role::Zookeeper, 1)].into(), results);
        let cluster = DockerCluster::up(&engine, &spec, &|_| {}).await.expect("a cluster");
        measure(&cluster, &spec.run).await;
        cluster.down().await.expect("down");
        std::fs::remove_dir_all(&spec.results).expect("our own folder");
    });
}

async fn measure(cluster: &DockerCluster, run: &RunId) {
    let docker = Docker::connect_with_defaults().expect("an engine");
    let hold = format!("sg-{run}-zookeeper1-hold");
    let hold = docker.inspect_container(&hold, None::<InspectContainerOptions>).await;
    let pid = hold.expect("a hold container").state.and_then(|state| state.pid);
    let pid = u32::try_from(pid.expect("a pid")).expect("a pid");
    WAYS.iter().for_each(|(_, port)| listen(pid, *port));
    let taps = BTreeSet::from([tap(IDLE), tap(ARMED)]);
    cluster.prepare(&Needs { taps, ..Needs::default() }).await.expect("taps in place");
    let pattern = "resp never".parse().expect("a pattern");
    let rule = MessageRule { pattern, form: Form::Hold, nth: 1, times: None, delay: None };
    let taps = BTreeSet::from([tap(ARMED)]);
    let fault = FaultId(1);
    let arm = Action::Interpose { fault, taps, effect: Effect::Message(rule) };
    let started = Instant::now();
    let applied = cluster.apply(&arm).await.expect("applied");
    assert!(matches!(applied, Applied::Installed { .. }), "{applied:?}");
    println!("armed and proven in {:.1} ms", started.elapsed().as_secs_f64() * 1000.0);
    let address = cluster.topology().nodes[0].address;
    // The server's own start must not be measured.
    thread::sleep(Duration::from_secs(2));
    latencies(address);
    for (name, port) in WAYS {
        let best = (0..THROUGHPUT_ROUNDS).map(|_| throughput(address, port)).fold(0.0, f64::max);
        println!("{name:>9}: {best:.2} Gbit/s of {VALUE_BYTES}-byte values in one connection");
    }
}
