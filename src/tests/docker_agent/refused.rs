//! Cuts of one port and cuts that refuse: seen by real connections, and by nobody beside them.

use std::io::ErrorKind;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use bollard::query_parameters::KillContainerOptionsBuilder;
use stormglass::agent::protocol::{Cause, Hook, Matched, PortPassage, TableSupport};
use stormglass::agent::within;
use stormglass::cluster::{Ability, FaultId, Manner, Mechanism, Refusal};
use stormglass::docker::agent::Agent;

use super::scratch::with_scratch;
use super::traffic::{Conversation, Listening, connect};
use super::{ALL, BOUND, DROP, FAULT, closed, links, next_heal, until};

const PORT: u16 = 7300;
const OTHER_PORT: u16 = 7301;

fn drop_at(port: u16) -> Manner {
    Manner { refusal: Refusal::Drop, port: Some(port) }
}

const RESET: Manner = Manner { refusal: Refusal::Reset, port: None };

fn reset_at(port: u16) -> Manner {
    Manner { port: Some(port), ..RESET }
}

/// The links of all over which connections to this port do not go, and what becomes of them.
async fn closed_at(agent: &Agent, port: u16) -> anyhow::Result<String> {
    let probes = agent.probe_port(links(ALL), port, BOUND).await?;
    let closed = probes.iter().filter(|probe| !probe.passage.is_open());
    let closed =
        closed.map(|probe| format!("{}>{} {}", probe.link.from, probe.link.to, probe.passage));
    Ok(closed.collect::<Vec<_>>().join(", "))
}

async fn passage(agent: &Agent, link: &str, port: u16) -> anyhow::Result<PortPassage> {
    let probes = agent.probe_port(links(link), port, BOUND).await?;
    probes.first().map(|probe| probe.passage).context("one link")
}

#[test]
fn a_cut_of_one_port_leaves_all_others() {
    with_scratch("port", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let [n1, n2, _] = &scratch.nodes[..] else { anyhow::bail!("three nodes") };
        let _listening = Listening::at(n2, &[PORT, OTHER_PORT])?;
        assert_eq!(passage(&agent, "n1>n2", PORT).await?, PortPassage::Accepted);
        assert_eq!(passage(&agent, "n1>n3", PORT).await?, PortPassage::Closed);

        let cut = agent.cut(FAULT, links("n1>n2 n2>clients"), drop_at(PORT)).await?;
        assert_eq!(
            cut.iter().map(|table| table.matched).collect::<Vec<_>>(),
            [Matched::Port { port: PORT }]
        );
        assert_eq!(closed_at(&agent, PORT).await?, "n1>n2 cut, n2>clients cut");
        assert_eq!(closed_at(&agent, OTHER_PORT).await?, "");
        assert_eq!(closed(&agent).await?, "", "no packet but of TCP to the port");
        ensure!(connect(Some(n1), n2, PORT).is_err_and(|kind| kind == ErrorKind::TimedOut));
        ensure!(connect(Some(n1), n2, OTHER_PORT).is_ok());
        ensure!(connect(None, n2, PORT).is_ok(), "clients may still");

        let tally = agent.join(FAULT).await?.context("in force")?;
        ensure!(tally.packets > 0 && tally.probes > 0, "{tally:?}");
        assert_eq!(closed_at(&agent, PORT).await?, "");
        ensure!(connect(Some(n1), n2, PORT).is_ok());
        agent.stop().await?;
        Ok(())
    });
}

#[test]
fn a_refusal_is_heard_by_new_connections_and_by_live_ones() {
    with_scratch("reset", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let [n1, n2, n3] = &scratch.nodes[..] else { anyhow::bail!("three nodes") };
        let _listening = Listening::at(n2, &[PORT])?;
        let mut live = Conversation::open(n1, n2)?;
        let mut beside = Conversation::open(n3, n2)?;

        let halves = links("n1>n2 n2>n1");
        let cut = agent.cut(FAULT, halves.clone(), RESET).await?;
        let places: Vec<Option<&str>> =
            cut.iter().map(|table| table.node.as_ref().map(|node| &**node)).collect();
        assert_eq!(places, [None, Some("n1"), Some("n2")]);
        assert_eq!(agent.status().await?.len(), 3);
        ensure!(
            connect(Some(n1), n2, PORT).is_err_and(|kind| kind == ErrorKind::ConnectionRefused)
        );
        // Refused by our rule where somebody listens and where nobody does.
        assert_eq!(closed_at(&agent, PORT).await?, "n1>n2 refused, n2>n1 refused");
        assert_eq!(closed(&agent).await?, "n1>n2 cut, n2>n1 cut", "the rest vanishes");
        live.say(b"into nothing")?;
        let (speaker, _) = live.errors()?;
        assert_eq!(speaker, ErrorKind::ConnectionReset);
        assert_eq!(beside.round_trip(b"as ever")?, b"as ever");

        let tally = agent.join(FAULT).await?.context("in force")?;
        ensure!(tally.packets >= 2, "a connection and a word: {tally:?}");
        assert_eq!((closed_at(&agent, PORT).await?, closed(&agent).await?), Default::default());
        ensure!(connect(Some(n1), n2, PORT).is_ok());
        assert_eq!(agent.join(FAULT).await?, None);
        agent.stop().await?;
        Ok(())
    });
}

#[test]
fn clients_are_refused_by_the_node_and_the_node_by_itself() {
    with_scratch("reset-client", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let [n1, n2, _] = &scratch.nodes[..] else { anyhow::bail!("three nodes") };
        let _listening = Listening::at(n1, &[PORT, OTHER_PORT])?;
        agent.cut(FAULT, links("clients>n1"), reset_at(PORT)).await?;
        assert_eq!(closed_at(&agent, PORT).await?, "clients>n1 refused");
        assert_eq!(closed_at(&agent, OTHER_PORT).await?, "");
        ensure!(connect(None, n1, PORT).is_err_and(|kind| kind == ErrorKind::ConnectionRefused));
        ensure!(connect(None, n1, OTHER_PORT).is_ok() && connect(Some(n2), n1, PORT).is_ok());
        agent.cut(FAULT, links("n1>clients"), reset_at(PORT)).await?;
        assert_eq!(closed_at(&agent, PORT).await?, "n1>clients refused");
        ensure!(connect(None, n1, PORT).is_ok());
        let [table] = &agent.status().await?[..] else { anyhow::bail!("one table") };
        assert_eq!(
            (table.hooks.clone(), table.links.clone()),
            ([Hook::Output].into(), links("n1>clients"))
        );
        assert_eq!(agent.stop().await?.left, Vec::<String>::new());
        Ok(())
    });
}

#[test]
fn clients_and_nodes_are_cut_apart_each_without_the_other() {
    with_scratch("client-node", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let [n1, n2, _] = &scratch.nodes[..] else { anyhow::bail!("three nodes") };
        let _listening = Listening::at(n1, &[PORT])?;
        let clients = links("clients>n1 n1>clients clients>n2 n2>clients");
        agent.cut(FAULT, clients, DROP).await?;
        let seen = "clients>n1 cut, clients>n2 cut, n1>clients cut, n2>clients cut";
        assert_eq!(closed(&agent).await?, seen);
        ensure!(connect(None, n1, PORT).is_err_and(|kind| kind == ErrorKind::TimedOut));
        ensure!(connect(Some(n2), n1, PORT).is_ok(), "nodes reach each other");
        agent.join(FAULT).await?.context("in force")?;

        agent.cut(FAULT, links("n1>n2 n2>n1"), DROP).await?;
        assert_eq!(closed(&agent).await?, "n1>n2 cut, n2>n1 cut");
        ensure!(connect(None, n1, PORT).is_ok(), "clients reach every node");
        ensure!(connect(Some(n2), n1, PORT).is_err_and(|kind| kind == ErrorKind::TimedOut));
        agent.join(FAULT).await?.context("in force")?;
        assert_eq!(closed(&agent).await?, "");
        ensure!(connect(Some(n2), n1, PORT).is_ok());
        agent.stop().await?;
        Ok(())
    });
}

#[test]
fn rules_of_others_stay_and_a_killed_agents_go() {
    with_scratch("reset-killed", |scratch| async move {
        let victim = scratch.agent(&scratch.plan("a")).await?;
        let witness = scratch.agent(&scratch.plan("b")).await?;
        let node = &scratch.nodes[1];
        let nft = |arguments: &[&str]| {
            within(node.pid, || {
                let shown = Command::new("nft").args(arguments).output()?;
                ensure!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
                Ok(String::from_utf8(shown.stdout)?)
            })
        };
        nft(&[
            "add table ip foreign; add chain ip foreign c { type filter hook input priority 0; }; \
               add rule ip foreign c tcp dport 1234 counter drop",
        ])?;
        let before = nft(&["list", "ruleset"])?;
        victim.cut(FAULT, links("n1>n2"), reset_at(PORT)).await?;
        victim.cut(FaultId(2), links("n3>n2"), RESET).await?;
        ensure!(nft(&["list", "ruleset"])?.contains("reject with tcp reset"));
        assert_eq!(closed_at(&victim, PORT).await?, "n1>n2 refused, n3>n2 refused");

        let options = KillContainerOptionsBuilder::default().signal("KILL").build();
        scratch.docker.kill_container(victim.container(), Some(options)).await?;
        if victim.greeting().tables != TableSupport::Owned {
            until("the victim is dead", async || Ok(victim.counters().await.is_err())).await?;
            witness.heal().await?;
        }
        until("its tables are gone", async || Ok(nft(&["list", "ruleset"])? == before)).await?;
        assert_eq!((closed_at(&witness, PORT).await?, closed(&witness).await?), Default::default());

        witness.cut(FAULT, links("n1>n2"), RESET).await?;
        assert_eq!(witness.heal().await?.left, Vec::<String>::new());
        assert_eq!(nft(&["list", "ruleset"])?, before);
        witness.stop().await?;
        Ok(())
    });
}

#[test]
fn a_silent_orchestrator_loses_refusals_and_caps_too() {
    with_scratch("lease-all", |scratch| async move {
        let witness = scratch.agent(&scratch.plan("w")).await?;
        let mut plan = scratch.plan("a");
        plan.lease = Duration::from_millis(1500);
        plan.heartbeat = Duration::from_secs(3600);
        let starved = scratch.agent(&plan).await?;
        starved.cut(FAULT, links("n1>n2"), reset_at(PORT)).await?;
        starved.throttle(FaultId(2), links("n2>n3 n3>clients"), 100_000).await?;
        assert_eq!(closed_at(&starved, PORT).await?, "n1>n2 refused");
        let healed = next_heal(&starved).await?;
        assert_eq!((healed.because, healed.left), (Cause::LeaseExpired, vec![]));
        let faults: Vec<FaultId> = healed.tallies.iter().map(|tally| tally.fault).collect();
        assert_eq!(faults, [FAULT, FaultId(2)]);
        assert_eq!(closed_at(&witness, PORT).await?, "");
        for speed in witness.measure(links("n2>n3 n3>clients"), 100_000).await? {
            ensure!(speed.of_burst() > 200_000, "still slow: {speed:?}");
        }
        assert_eq!(starved.unthrottle(FaultId(2)).await?, None);
        starved.stop().await?;
        witness.stop().await?;
        Ok(())
    });
}

#[test]
fn what_the_other_tests_need_is_found_able_to_act() {
    with_scratch("able", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let abilities = agent.abilities().await?;
        for Ability { mechanism, acts, how } in &abilities {
            println!("{mechanism}: {acts}: {how}");
        }
        let able = abilities.iter().filter(|ability| ability.acts);
        let able: Vec<Mechanism> = able.map(|ability| ability.mechanism).collect();
        assert_eq!(able, Mechanism::ALL[..6], "all but freezing, which is the engine's");
        // The trials' own faults are gone, and the host's are as they were.
        assert_eq!(agent.status().await?, []);
        assert_eq!(closed(&agent).await?, "");
        let pid = scratch.pid(agent.container()).await?;
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
        assert_eq!(children, "", "a traced child stayed");
        agent.stop().await?;
        Ok(())
    });
}
