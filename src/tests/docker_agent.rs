//! The agent against a real engine and kernel: it cuts what it should and no more, proves it, and
//! leaves nothing in force however it ends.

mod capped;
mod refused;
pub mod scratch;
mod severed;
pub mod traffic;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bollard::query_parameters::KillContainerOptionsBuilder;
use stormglass::agent::protocol::{Cause, Hook, Passage, ProbeReport, TableSupport};
use stormglass::cluster::{FaultId, Link, Manner, Refusal};
use stormglass::docker::agent::{Agent, AgentPlan, Notice};

use scratch::{containers, with_scratch};
use traffic::Conversation;

const FAULT: FaultId = FaultId(1);
const DROP: Manner = Manner { refusal: Refusal::Drop, port: None };
const BOUND: Duration = Duration::from_millis(250);
const PATIENCE: Duration = Duration::from_secs(20);

fn links(text: &str) -> BTreeSet<Link> {
    let link = |link: &str| {
        let (from, to) = link.split_once('>').expect("from>to");
        Link { from: from.into(), to: to.into() }
    };
    text.split_whitespace().map(link).collect()
}

const ALL: &str = "n1>n2 n2>n1 n1>n3 n3>n1 n2>n3 n3>n2 clients>n1 n1>clients clients>n2 n2>clients";

/// The links of all that are not open, by what became of their packets.
async fn closed(agent: &Agent) -> anyhow::Result<String> {
    Ok(describe(&agent.probe(links(ALL), BOUND).await?))
}

fn describe(report: &ProbeReport) -> String {
    let closed = report.links.iter().filter(|probe| !probe.passage.is_open());
    let closed =
        closed.map(|probe| format!("{}>{} {}", probe.link.from, probe.link.to, probe.passage));
    closed.collect::<Vec<_>>().join(", ")
}

/// Asks again until what is asked for holds.
pub async fn until<F>(what: &str, mut holds: impl FnMut() -> F) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<bool>>,
{
    let holds = async {
        while !holds().await? {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(PATIENCE, holds).await.with_context(|| format!("never: {what}"))?
}

pub async fn next_heal(agent: &Agent) -> anyhow::Result<stormglass::agent::protocol::Healed> {
    let heal = async {
        loop {
            match agent.notice().await.context("no notice")? {
                Notice::Healed(healed) => return anyhow::Ok(healed),
                Notice::Said(_) | Notice::Lost(_) => {}
            }
        }
    };
    tokio::time::timeout(PATIENCE, heal).await.context("never healed")?
}

#[test]
fn cuts_act_exactly_where_they_should_and_are_taken_back() {
    with_scratch("cut", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        println!("agent: {:?}", agent.greeting());
        ensure!(!matches!(agent.greeting().tables, TableSupport::Missing { .. }));
        assert_eq!(closed(&agent).await?, "");

        let halves = links("n1>n2 n2>n1 n1>n3 n3>n1");
        let [table] = &agent.cut(FAULT, halves.clone(), DROP).await?[..] else {
            anyhow::bail!("one table")
        };
        assert_eq!(table.links, halves);
        assert_eq!(table.hooks, [Hook::Forward].into());
        assert_eq!(closed(&agent).await?, "n1>n2 cut, n1>n3 cut, n2>n1 cut, n3>n1 cut");

        // The same fault again replaces what it cut: now one way only.
        agent.cut(FAULT, links("n2>n3"), DROP).await?;
        assert_eq!(closed(&agent).await?, "n2>n3 cut");

        // Another fault beside it, and each goes by itself.
        agent.cut(FaultId(2), links("n3>n2 n2>n3"), DROP).await?;
        assert_eq!(closed(&agent).await?, "n2>n3 cut, n3>n2 cut");
        agent.join(FAULT).await?.context("the first cut is in force")?;
        assert_eq!(closed(&agent).await?, "n2>n3 cut, n3>n2 cut");
        agent.join(FaultId(2)).await?.context("the second cut is in force")?;
        assert_eq!(closed(&agent).await?, "");
        assert_eq!(agent.join(FaultId(2)).await?, None);
        assert_eq!(agent.status().await?, []);

        // Clients only where they are named.
        let cut = agent.cut(FAULT, links("clients>n1 n2>clients"), DROP).await?;
        let [table] = &cut[..] else { anyhow::bail!("one table") };
        assert_eq!(table.hooks, [Hook::Input, Hook::Output].into());
        assert_eq!(closed(&agent).await?, "clients>n1 cut, n2>clients cut");

        let healed = agent.stop().await?;
        assert_eq!(healed.because, Cause::EndOfInput);
        assert_eq!(healed.tallies.len(), 1);
        assert_eq!(
            containers(&scratch.docker, &scratch.run).await?.len(),
            3,
            "the agent's is gone"
        );
        Ok(())
    });
}

#[test]
fn packets_of_the_workload_are_counted_and_probes_are_not() {
    with_scratch("count", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let [n1, n2, n3] = &scratch.nodes[..] else { anyhow::bail!("three nodes") };
        let mut cut_off = Conversation::open(n1, n2)?;
        let mut beside = Conversation::open(n2, n3)?;
        assert_eq!(cut_off.round_trip(b"before")?, b"before");

        let ways = links("n1>n2 n2>n1");
        agent.cut(FAULT, ways.clone(), DROP).await?;
        let report = agent.probe(ways, BOUND).await?;
        assert_eq!(describe(&report), "n1>n2 cut, n2>n1 cut");
        let [tally] = agent.counters().await?[..] else { anyhow::bail!("one table") };
        assert_eq!((tally.packets, tally.probes), (0, report.dropped));

        cut_off.say(b"during")?;
        until("a packet is counted", async || {
            Ok(agent.counters().await?.iter().any(|tally| tally.packets > 0))
        })
        .await?;
        assert_eq!(beside.round_trip(b"as ever")?, b"as ever");
        ensure!(Conversation::open(n2, n1).is_err(), "a new connection over a cut link");
        ensure!(cut_off.heard()?.is_empty(), "words over a cut link");

        let tally = agent.join(FAULT).await?.context("the cut is in force")?;
        ensure!(tally.packets >= 2, "{tally:?}");
        assert_eq!(tally.probes, report.dropped);
        assert_eq!(cut_off.hear(b"during".len())?, b"during", "the same connection goes on");
        agent.stop().await?;
        Ok(())
    });
}

#[test]
fn a_killed_agent_leaves_no_table() {
    with_scratch("killed", |scratch| async move {
        let victim = scratch.agent(&scratch.plan("a")).await?;
        let witness = scratch.agent(&scratch.plan("b")).await?;
        victim.cut(FAULT, links("n1>n2"), DROP).await?;
        assert_eq!(witness.status().await?.len(), 1, "seen by another agent of the run");
        assert_eq!(closed(&witness).await?, "n1>n2 cut");
        if victim.greeting().tables == TableSupport::Owned {
            let left = witness.heal().await?.left;
            assert_eq!(left.len(), 1, "nobody else can remove an owned table: {left:?}");
        }

        let options = KillContainerOptionsBuilder::default().signal("KILL").build();
        let killed = Instant::now();
        scratch.docker.kill_container(victim.container(), Some(options)).await?;
        if victim.greeting().tables != TableSupport::Owned {
            witness.heal().await?;
        }
        until("the table is gone", async || Ok(witness.status().await?.is_empty())).await?;
        println!("SIGKILL of the agent to no table: {:?}", killed.elapsed());
        assert_eq!(closed(&witness).await?, "");
        ensure!(victim.join(FAULT).await.is_err(), "a dead agent answers");
        ensure!(matches!(victim.notice().await, Some(Notice::Lost(_))));
        witness.stop().await?;
        Ok(())
    });
}

#[test]
fn an_orchestrator_that_falls_silent_or_goes_is_healed_after() {
    with_scratch("lease", |scratch| async move {
        let witness = scratch.agent(&scratch.plan("w")).await?;
        let mut plan = scratch.plan("a");
        plan.lease = Duration::from_millis(1500);
        plan.heartbeat = Duration::from_secs(3600);
        let starved = scratch.agent(&plan).await?;
        starved.cut(FAULT, links("n1>n2"), DROP).await?;
        let cut = Instant::now();
        let healed = next_heal(&starved).await?;
        println!("lease of {:?} healed after {:?}", plan.lease, cut.elapsed());
        assert_eq!(healed.because, Cause::LeaseExpired);
        assert_eq!(healed.tallies.iter().map(|tally| tally.fault).collect::<Vec<_>>(), [FAULT]);
        assert_eq!(closed(&witness).await?, "");

        // It serves on, under a new lease.
        starved.cut(FAULT, links("n1>n2"), DROP).await?;
        assert_eq!(witness.status().await?.len(), 1);
        let gone = Instant::now();
        drop(starved);
        until("the table is gone", async || Ok(witness.status().await?.is_empty())).await?;
        println!("end of input to no table: {:?}", gone.elapsed());
        until("its container is gone", async || {
            Ok(containers(&scratch.docker, &scratch.run).await?.len() == 4)
        })
        .await?;
        witness.stop().await?;
        Ok(())
    });
}

#[test]
fn a_steady_heartbeat_keeps_the_lease() {
    with_scratch("beat", |scratch| async move {
        let mut plan = scratch.plan("a");
        plan.lease = Duration::from_millis(1500);
        plan.heartbeat = Duration::from_millis(100);
        let agent = scratch.agent(&plan).await?;
        agent.cut(FAULT, links("n1>n2"), DROP).await?;
        // Nothing is asked meanwhile, and all threads of this runtime are kept busy.
        let until = Instant::now() + plan.lease * 2;
        let workers = 0..tokio::runtime::Handle::current().metrics().num_workers();
        let busy = workers.map(|_| {
            tokio::spawn(async move {
                while Instant::now() < until {
                    std::hint::spin_loop();
                }
            })
        });
        for worker in busy.collect::<Vec<_>>() {
            worker.await?;
        }
        assert_eq!(closed(&agent).await?, "n1>n2 cut");
        assert_eq!(agent.stop().await?.because, Cause::EndOfInput);
        Ok(())
    });
}

#[test]
fn tables_of_another_run_stay() {
    with_scratch("foreign", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let other = AgentPlan::new(&format!("{}-x", scratch.run), &scratch.image);
        let other = scratch.agent(&other).await?;
        other.cut(FAULT, links("n3>n1"), DROP).await?;
        agent.cut(FAULT, links("n1>n2"), DROP).await?;
        assert_eq!(agent.status().await?.len(), 1);
        assert_eq!(agent.heal().await?.left, Vec::<String>::new());
        agent.stop().await?;
        let [table] = &other.status().await?[..] else { anyhow::bail!("the other run's table") };
        assert_eq!(table.links, links("n3>n1"));
        assert_eq!(closed(&other).await?, "n3>n1 cut");
        other.stop().await?;
        Ok(())
    });
}

#[test]
fn a_process_is_seen_frozen_stopped_and_dead() {
    with_scratch("process", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let node = &scratch.nodes[0];
        let facts = async || agent.process(node.pid).await;
        let first = facts().await?.context("a process")?;
        assert_eq!((first.comm.as_str(), first.frozen), ("stormglass", Some(false)));

        scratch.docker.pause_container(&node.container).await?;
        until("frozen", async || Ok(facts().await?.is_some_and(|now| now.frozen == Some(true))))
            .await?;
        // Its network is the kernel's, and answers probes all the same.
        assert_eq!(closed(&agent).await?, "");
        scratch.docker.unpause_container(&node.container).await?;
        until("thawed", async || Ok(facts().await?.is_some_and(|now| now.frozen == Some(false))))
            .await?;
        assert_eq!(facts().await?.context("the same")?.start_ticks, first.start_ticks);

        let options = KillContainerOptionsBuilder::default().signal("TERM").build();
        scratch.docker.kill_container(&node.container, Some(options)).await?;
        until("dead", async || Ok(facts().await?.is_none_or(|now| !now.is_alive()))).await?;
        agent.stop().await?;
        Ok(())
    });
}

#[test]
fn bad_requests_are_refused_with_what_was_expected() {
    with_scratch("refused", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let error = agent.cut(FAULT, links("n1>n9"), DROP).await.expect_err("no such node");
        assert_eq!(
            error.to_string(),
            "node n9 is not enrolled, expected one of: clients, n1, n2, n3"
        );
        let error = agent.cut(FAULT, links("n1>n1"), DROP).await.expect_err("no link");
        ensure!(error.to_string().contains("expected two nodes"), "{error}");
        let error = agent.cut(FAULT, BTreeSet::new(), DROP).await.expect_err("nothing");
        ensure!(error.to_string().contains("expected one link or more"), "{error}");
        let error = agent.probe(links(ALL), Duration::from_secs(60)).await.expect_err("too long");
        ensure!(error.to_string().contains("expected at most 10s"), "{error}");
        assert_eq!(agent.status().await?, []);
        agent.stop().await?;

        let mut plan = scratch.plan("b");
        plan.run = "Not_A_Run".to_owned();
        let error = Agent::start(&scratch.docker, &plan).await.err().context("no such run")?;
        ensure!(format!("{error:#}").contains("expected 1 to 64 of a-z, 0-9 and -"), "{error:#}");
        Ok(())
    });
}

#[test]
fn how_long_a_proven_cut_and_heal_take() {
    with_scratch("time", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let halves = links("n1>n2 n2>n1 n1>n3 n3>n1");
        let (mut cuts, mut joins) = (Vec::new(), Vec::new());
        for _ in 0..50 {
            let started = Instant::now();
            agent.cut(FAULT, halves.clone(), DROP).await?;
            let report = agent.probe(links(ALL), BOUND).await?;
            cuts.push(started.elapsed());
            for probe in &report.links {
                let wanted = if halves.contains(&probe.link) {
                    probe.passage == Passage::Dropped
                } else {
                    probe.passage.is_open()
                };
                ensure!(wanted, "{report:?}");
            }
            let started = Instant::now();
            agent.join(FAULT).await?;
            let open = closed(&agent).await?;
            joins.push(started.elapsed());
            assert_eq!(open, "");
        }
        println!("cut and proven: {}", spread(cuts));
        println!("joined and proven: {}", spread(joins));
        let started = Instant::now();
        agent.stop().await?;
        println!("stopped and removed: {:?}", started.elapsed());
        Ok(())
    });
}

fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    format!("median {:?}, 90 % {:?}, longest {:?}", at(50), at(90), at(100))
}
