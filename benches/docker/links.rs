//! What faults of links take at the agent: ten nodes cut in halves and joined, the proof over all their
//! links, and how soon all is healed when the orchestrator is killed.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bollard::Docker;
use stormglass::agent::protocol::{Enrollment, PROBE_BOUND_MS, Place};
use stormglass::cluster::{CLIENTS, FaultId, Link, Manner, Refusal};
use stormglass::docker::agent::{Agent, AgentPlan, RUN_LABEL};
use stormglass::docker::self_image;

use super::{EXECUTABLE, median};

const NODES: usize = 10;
const ROUNDS: usize = 200;
const KILLS: usize = 10;
const FAULT: FaultId = FaultId(1);
const BOUND: Duration = Duration::from_millis(PROBE_BOUND_MS);

/// Tells this program that it is the orchestrator to be killed, and for which run.
pub const VICTIM: &str = "STORMGLASS_BENCH_VICTIM";
const READY: &str = "ready to be killed";

fn docker(arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("docker").args(arguments).output().context("run docker")?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "docker {}: {error}", arguments.join(" "));
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Ten containers that hold a network each, removed when this is dropped.
struct Holds {
    run: String,
}

impl Holds {
    fn up(run: String, image: &str) -> anyhow::Result<Holds> {
        let holds = Holds { run };
        let label = format!("{RUN_LABEL}={}", holds.run);
        docker(&["network", "create", "--label", &label, &holds.run])?;
        for number in 1..=NODES {
            let name = holds.container(number);
            let shared = ["run", "-d", "--label", &label, "--network", &holds.run, "--name", &name];
            docker(&[&shared[..], &[image, self_image::EXECUTABLE, "hold"]].concat())?;
        }
        Ok(holds)
    }

    fn container(&self, number: usize) -> String {
        format!("{}-n{number}", self.run)
    }
}

impl Drop for Holds {
    fn drop(&mut self) {
        for number in 1..=NODES {
            let _ = docker(&["rm", "-f", &self.container(number)]);
        }
        let _ = docker(&["network", "rm", &self.run]);
    }
}

fn nodes(run: &str) -> anyhow::Result<Vec<Enrollment>> {
    let gateway = docker(&["network", "inspect", "-f", "{{(index .IPAM.Config 0).Gateway}}", run])?;
    let address: Ipv4Addr = gateway.parse().context("a network with a gateway")?;
    let mut nodes = vec![Enrollment { node: CLIENTS.into(), address, place: Place::Host }];
    for number in 1..=NODES {
        let name = format!("{run}-n{number}");
        let form = "{{.State.Pid}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
        let shown = docker(&["inspect", "-f", form, &name])?;
        let (pid, address) = shown.split_once(' ').context("a pid and an address")?;
        let place = Place::Container { pid: pid.parse()? };
        nodes.push(Enrollment {
            node: format!("n{number}").into(),
            address: address.parse()?,
            place,
        });
    }
    Ok(nodes)
}

/// All links whose ends are wanted together.
fn links(wanted: impl Fn(usize, usize) -> bool) -> BTreeSet<Link> {
    let pairs = (1..=NODES).flat_map(|from| (1..=NODES).map(move |to| (from, to)));
    let wanted = pairs.filter(|(from, to)| from != to && wanted(*from, *to));
    let name = |number: usize| format!("n{number}").into();
    wanted.map(|(from, to)| Link { from: name(from), to: name(to) }).collect()
}

fn halves() -> BTreeSet<Link> {
    links(|from, to| (from <= NODES / 2) != (to <= NODES / 2))
}

async fn agent(docker: &Docker, run: &str, suffix: &str) -> anyhow::Result<Agent> {
    let image = self_image::ensure(docker, Path::new(EXECUTABLE)).await?;
    let mut plan = AgentPlan::new(run, &image);
    plan.container = format!("{}-{suffix}", plan.container);
    let agent = Agent::start(docker, &plan).await?;
    agent.enroll(nodes(run)?).await?;
    Ok(agent)
}

fn connect() -> anyhow::Result<Docker> {
    Docker::connect_with_defaults().context("find the Docker engine")
}

/// An orchestrator with a partition in force that waits to be killed.
pub async fn be_the_victim(run: &str) -> anyhow::Result<()> {
    let agent = agent(&connect()?, run, "victim").await?;
    agent.cut(FAULT, halves(), Manner::default()).await?;
    println!("{READY}");
    std::future::pending::<()>().await;
    drop(agent);
    Ok(())
}

pub async fn measure() -> anyhow::Result<()> {
    let engine = connect()?;
    let run = format!("bench-{}", std::process::id());
    let image = self_image::ensure(&engine, Path::new(EXECUTABLE)).await?;
    let holds = Holds::up(run, &image)?;
    let agent = agent(&engine, &holds.run, "a").await?;
    for (name, refusal, port) in [
        ("cut", Refusal::Drop, None),
        ("cut of one port", Refusal::Drop, Some(2181)),
        ("refusal", Refusal::Reset, None),
    ] {
        cuts(&agent, name, Manner { refusal, port }).await?;
    }
    proofs(&agent).await?;
    let mut healed = Vec::new();
    for _ in 0..KILLS {
        healed.push(heal_after_kill(&agent, &holds.run).await?);
    }
    println!("SIGKILL of the orchestrator to all healed: {}", spread(healed));
    agent.stop().await?;
    Ok(())
}

async fn cuts(agent: &Agent, name: &str, manner: Manner) -> anyhow::Result<()> {
    let (mut applied, mut healed) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let started = Instant::now();
        agent.cut(FAULT, halves(), manner).await?;
        applied.push(started.elapsed());
        let started = Instant::now();
        agent.join(FAULT).await?;
        healed.push(started.elapsed());
    }
    println!("{name} of {NODES} nodes applied and read back: {}", spread(applied));
    println!("{name} of {NODES} nodes healed and read back: {}", spread(healed));
    Ok(())
}

async fn proofs(agent: &Agent) -> anyhow::Result<()> {
    let (mut packets, mut connections) = (Vec::new(), Vec::new());
    agent.cut(FAULT, halves(), Manner::default()).await?;
    for _ in 0..ROUNDS / 10 {
        let started = Instant::now();
        let report = agent.probe(links(|_, _| true), BOUND).await?;
        packets.push(started.elapsed());
        let open = report.links.iter().filter(|probe| probe.passage.is_open()).count();
        ensure!(open == links(|_, _| true).len() - halves().len(), "{open} links are open");
        let started = Instant::now();
        agent.probe_port(links(|_, _| true), 1, BOUND).await?;
        connections.push(started.elapsed());
    }
    agent.join(FAULT).await?;
    let count = links(|_, _| true).len();
    println!("proof of {count} links by packets: {}", spread(packets));
    println!("proof of {count} links by connections: {}", spread(connections));
    Ok(())
}

async fn heal_after_kill(witness: &Agent, run: &str) -> anyhow::Result<Duration> {
    let mut victim = Command::new(std::env::current_exe()?)
        .env(VICTIM, run)
        .stdout(Stdio::piped())
        .spawn()
        .context("start the victim")?;
    let lines = BufReader::new(victim.stdout.take().context("its output")?).lines();
    let is_ready = lines.map_while(Result::ok).any(|line| line == READY);
    ensure!(is_ready && !witness.status().await?.is_empty(), "the victim installed nothing");
    let killed = Instant::now();
    victim.kill().context("kill the victim")?;
    while !witness.status().await?.is_empty() {
        ensure!(killed.elapsed() < Duration::from_secs(10), "never healed");
    }
    let took = killed.elapsed();
    victim.wait().context("reap the victim")?;
    Ok(took)
}

fn spread(times: Vec<Duration>) -> String {
    let ms: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1_000.0).collect();
    let most = ms.iter().copied().fold(0.0, f64::max);
    format!("{:.3} ms (median of {}), at most {most:.3}", median(ms.clone()), ms.len())
}
