//! How fast the simulation is. Prints; it judges no time. Run it in release:
//! `STORMGLASS_SLOW_TESTS=1 cargo test --release --lib sim::tests::throughput -- --nocapture`

use std::rc::Rc;
use std::time::Duration;

use super::tally::{count, dial, tally};
use crate::cluster::{Cluster, Coordination, CreateMode, Role};
use crate::rng::Rng;
use crate::sim::program::Program;
use crate::sim::{ModelSession, SimCluster, SimSpec, SimStream, Variant};

const CLIENTS: usize = 20;
const RATE: f64 = 200.0;
const KEYS: u64 = 10;

async fn one(session: &ModelSession, rng: &mut Rng, scratch: &str) -> usize {
    let key = format!("/registers/{}", rng.below(KEYS));
    let value = rng.below(1_000).to_string();
    let ok = match rng.below(10) {
        0..5 => session.set(scratch, b"", None).await.is_ok() && session.get(&key).await.is_ok(),
        5..9 => session.set(&key, value.as_bytes(), None).await.is_ok(),
        _ => match session.get(&key).await {
            Ok((_, stat)) => session.set(&key, value.as_bytes(), Some(stat.version)).await.is_ok(),
            Err(_) => false,
        },
    };
    usize::from(ok)
}

async fn client(session: ModelSession, mut rng: Rng, seconds: u64, number: usize) -> usize {
    let scratch = format!("/scratch{number}");
    session.create(&scratch, b"", CreateMode::Ephemeral).await.unwrap();
    let end = tokio::time::Instant::now() + Duration::from_secs(seconds);
    let mut done = 0;
    while tokio::time::Instant::now() < end {
        let pause = rng.exponential(CLIENTS as f64 / RATE * 1e6) as u64;
        tokio::time::sleep(Duration::from_micros(pause)).await;
        done += one(&session, &mut rng, &scratch).await;
    }
    done
}

/// Operations done and events performed.
async fn measure(seconds: u64) -> (usize, u64) {
    let spec = SimSpec::ensemble(5, Variant::AsShipped, Rng::from_seed(1));
    let cluster = SimCluster::up(spec).await.unwrap();
    let nodes: Vec<_> = cluster.topology().names().cloned().collect();
    let mut tasks = Vec::new();
    for number in 0..CLIENTS {
        let node = &nodes[number % nodes.len()];
        let session = cluster.connect(node, Duration::from_secs(6)).await.unwrap();
        if number == 0 {
            session.create("/registers", b"", CreateMode::Persistent).await.unwrap();
            for key in 0..KEYS {
                let path = format!("/registers/{key}");
                session.create(&path, b"0", CreateMode::Persistent).await.unwrap();
            }
        }
        let rng = Rng::from_seed(1).fork(&format!("client {number}"));
        tasks.push(tokio::task::spawn_local(client(session, rng, seconds, number)));
    }
    let mut done = 0;
    for task in tasks {
        done += task.await.unwrap();
    }
    (done, cluster.steps())
}

async fn stream_client(mut stream: SimStream, mut rng: Rng, seconds: u64) -> usize {
    let end = tokio::time::Instant::now() + Duration::from_secs(seconds);
    let mut done = 0;
    while tokio::time::Instant::now() < end {
        let pause = rng.exponential(CLIENTS as f64 / RATE * 1e6) as u64;
        tokio::time::sleep(Duration::from_micros(pause)).await;
        done += usize::from(count(&mut stream, &["INCR", "a"]).await.is_some());
    }
    done
}

/// The same with three programs that talk to each other, and clients that talk to them.
async fn measure_programs(seconds: u64) -> (usize, u64) {
    let mut spec = SimSpec::ensemble(1, Variant::AsShipped, Rng::from_seed(1));
    spec.services.insert(Role::Kvrocks, 3);
    let program: Program = Rc::new(|host| Box::pin(tally(host, 3)));
    let cluster = SimCluster::start_with(&spec, Role::Kvrocks, &program).unwrap();
    let cluster = cluster.risen().await.unwrap();
    let nodes: Vec<_> = cluster.topology().names().skip(1).copied().collect();
    let mut tasks = Vec::new();
    for number in 0..CLIENTS {
        let stream = dial(&cluster, &nodes[number % nodes.len()]).await.unwrap();
        let rng = Rng::from_seed(1).fork(&format!("client {number}"));
        tasks.push(tokio::task::spawn_local(stream_client(stream, rng, seconds)));
    }
    let mut done = 0;
    for task in tasks {
        done += task.await.unwrap();
    }
    (done, cluster.steps())
}

fn tell<F: Future<Output = (usize, u64)>>(what: &str, measure: impl FnOnce(u64) -> F) {
    let slow = std::env::var_os("STORMGLASS_SLOW_TESTS").is_some();
    let seconds = if slow { 600 } else { 5 };
    let began = std::time::SystemTime::now();
    let (done, events) = crate::sim::run(measure(seconds)).unwrap();
    let took = began.elapsed().unwrap_or_default().as_secs_f64();
    println!(
        "{what}: {seconds} simulated seconds, {done} operations, {events} events in {took:.2} s: \
         {:.0} simulated seconds, {:.0} operations and {:.0} events a second",
        seconds as f64 / took,
        done as f64 / took,
        events as f64 / took
    );
    assert!(done as u64 > seconds * 150, "{done} operations were done in {seconds} s");
}

#[test]
fn simulated_seconds_per_second() {
    tell("an ensemble of five", measure);
    tell("three programs", measure_programs);
}
