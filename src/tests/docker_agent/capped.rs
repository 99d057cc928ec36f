//! Bandwidth caps: felt on the capped link, by nobody else, and gone after.

use std::process::Command;

use anyhow::{Context, ensure};
use bollard::query_parameters::KillContainerOptionsBuilder;
use stormglass::agent::protocol::Speed;
use stormglass::agent::within;
use stormglass::cluster::FaultId;
use stormglass::docker::agent::Agent;

use super::scratch::{Node, Scratch, with_scratch};
use super::{FAULT, closed, links, until};

const RATE: u64 = 200_000;

async fn speed(agent: &Agent, link: &str, rate: u64) -> anyhow::Result<Speed> {
    let speeds = agent.measure(links(link), rate).await?;
    let speed = speeds.into_iter().next().context("one link")?;
    println!("{link} at {rate}: {} B/s {speed:?}", speed.of_all());
    Ok(speed)
}

/// A busy machine may be late once; it is never too fast.
async fn is_capped(agent: &Agent, link: &str, rate: u64) -> anyhow::Result<bool> {
    for _ in 0..5 {
        let speed = speed(agent, link, rate).await?;
        ensure!(speed.bytes_arrived > 0, "nothing came over {link}");
        if speed.of_burst() > rate * 2 {
            return Ok(false);
        }
        if speed.of_all() > rate / 2 {
            return Ok(true);
        }
    }
    anyhow::bail!("{link} is slower than {rate} B/s allows")
}

fn shown(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let shown = Command::new(program).args(arguments).output()?;
    ensure!(shown.status.success(), "{program}: {}", String::from_utf8_lossy(&shown.stderr));
    Ok(String::from_utf8(shown.stdout)?)
}

/// What `tc` shows of a node's own end of its veth.
fn inside(node: &Node) -> anyhow::Result<String> {
    within(node.pid, || shown("tc", &["qdisc", "show", "dev", "eth0"]))
}

/// What `tc` shows of the host's ends of all nodes' veths.
fn outside(scratch: &Scratch) -> anyhow::Result<String> {
    let ends = scratch.nodes.iter().map(|node| {
        let own = within(node.pid, || shown("ip", &["-o", "link", "show", "eth0"]))?;
        let (_, index) = own.split_once("eth0@if").context("an interface with another end")?;
        let (index, _) = index.split_once(':').context("its number")?;
        let all = shown("ip", &["-o", "link"])?;
        let line = all.lines().find(|line| line.starts_with(&format!("{index}: ")));
        let name = line.and_then(|line| line.split([' ', '@']).nth(1)).context("its name")?;
        shown("tc", &["qdisc", "show", "dev", name])
    });
    ends.collect()
}

#[test]
fn a_cap_slows_its_link_only_and_goes_without_trace() {
    with_scratch("cap", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let before = outside(&scratch)?;
        ensure!(!is_capped(&agent, "n1>n2", RATE).await?, "slow without a cap");

        let caps = agent.throttle(FAULT, links("n1>n2 clients>n2 n2>clients"), RATE).await?;
        ensure!(caps.iter().all(|cap| cap.bytes_per_second == RATE), "{caps:?}");
        ensure!(outside(&scratch)? != before, "nothing on the host's end of the veth");
        for link in ["n1>n2", "clients>n2", "n2>clients"] {
            ensure!(is_capped(&agent, link, RATE).await?, "{link} is not slowed");
        }
        for link in ["n2>n1", "n3>n2", "n2>n3", "n1>n3", "clients>n1"] {
            ensure!(!is_capped(&agent, link, RATE).await?, "{link} is slowed");
        }
        assert_eq!(closed(&agent).await?, "");

        let packets = agent.unthrottle(FAULT).await?.context("the cap is in force")?;
        println!("hit {packets} packets");
        for link in ["n1>n2", "clients>n2", "n2>clients"] {
            ensure!(!is_capped(&agent, link, RATE).await?, "{link} is still slowed");
        }
        assert_eq!(outside(&scratch)?, before);
        assert_eq!(agent.unthrottle(FAULT).await?, None);
        agent.stop().await?;
        Ok(())
    });
}

#[test]
fn caps_of_several_faults_compose() {
    with_scratch("caps", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let before = outside(&scratch)?;
        let second = FaultId(2);
        agent.throttle(FAULT, links("n1>n2 n3>n2"), RATE).await?;
        let caps = agent.throttle(second, links("n1>n2"), RATE / 4).await?;
        assert_eq!(caps.iter().map(|cap| cap.bytes_per_second).collect::<Vec<_>>(), [RATE / 4]);
        ensure!(is_capped(&agent, "n1>n2", RATE / 4).await?, "the least counts");
        ensure!(
            !is_capped(&agent, "n3>n2", RATE / 4).await?
                && is_capped(&agent, "n3>n2", RATE).await?
        );
        agent.unthrottle(second).await?.context("in force")?;
        ensure!(
            !is_capped(&agent, "n1>n2", RATE / 4).await?
                && is_capped(&agent, "n1>n2", RATE).await?
        );
        // The same fault again replaces its caps.
        agent.throttle(FAULT, links("n3>n2"), RATE).await?;
        ensure!(
            !is_capped(&agent, "n1>n2", RATE).await? && is_capped(&agent, "n3>n2", RATE).await?
        );
        // The end of its input takes them back.
        let healed = agent.stop().await?;
        assert_eq!(healed.left, Vec::<String>::new());
        assert_eq!(outside(&scratch)?, before);
        Ok(())
    });
}

#[test]
fn shaping_by_others_stays_and_is_never_replaced() {
    with_scratch("cap-foreign", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let node = &scratch.nodes[0];
        let add = ["qdisc", "add", "dev", "eth0", "root", "handle", "77:", "htb"];
        within(node.pid, || {
            ensure!(Command::new("tc").args(add).status()?.success());
            Ok(())
        })?;
        let (host, own) = (outside(&scratch)?, inside(node)?);
        let error =
            agent.throttle(FAULT, links("n1>clients"), RATE).await.err().context("taken")?;
        ensure!(error.to_string().contains("shaped by another already (htb 77:)"), "{error:#}");
        // Together with a link that could be capped: neither is.
        ensure!(agent.throttle(FAULT, links("n1>clients n2>n1"), RATE).await.is_err());
        assert_eq!((outside(&scratch)?, inside(node)?), (host.clone(), own.clone()));
        // Its other interface's end is free, and a sweep takes only what is ours.
        agent.throttle(FAULT, links("n2>n1"), RATE).await?;
        assert_eq!(agent.heal().await?.left, Vec::<String>::new());
        assert_eq!((outside(&scratch)?, inside(node)?), (host, own));
        for rate in [0, 999, 200_000_000] {
            let error = agent.throttle(FAULT, links("n2>n1"), rate).await.err().context("rate")?;
            ensure!(error.to_string().contains("expected 1000 to 100000000"), "{error:#}");
        }
        agent.stop().await?;
        Ok(())
    });
}

#[test]
fn the_next_agent_sweeps_what_a_killed_one_left() {
    with_scratch("cap-killed", |scratch| async move {
        let before = outside(&scratch)?;
        let victim = scratch.agent(&scratch.plan("a")).await?;
        victim.throttle(FAULT, links("n1>n2 n2>clients"), RATE).await?;
        let options = KillContainerOptionsBuilder::default().signal("KILL").build();
        scratch.docker.kill_container(victim.container(), Some(options)).await?;
        let next = scratch.agent(&scratch.plan("b")).await?;
        until("the victim is dead", async || Ok(victim.counters().await.is_err())).await?;
        ensure!(is_capped(&next, "n1>n2", RATE).await?, "the kernel keeps it");
        assert_eq!(next.heal().await?.left, Vec::<String>::new());
        for link in ["n1>n2", "n2>clients"] {
            ensure!(!is_capped(&next, link, RATE).await?, "{link} is still slowed");
        }
        assert_eq!(outside(&scratch)?, before);
        next.stop().await?;
        Ok(())
    });
}
