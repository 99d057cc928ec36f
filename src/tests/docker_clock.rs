//! Clocks of containers, moved by an agent in a container: one container's and no other's, as it says
//! itself, and healed however the orchestrator ends.

mod clocked;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, ensure};
use bollard::query_parameters::KillContainerOptionsBuilder;
use stormglass::agent::protocol::{Cause, ClockReport, Offsets, Shown};
use stormglass::docker::agent::Agent;

use crate::docker_agent::scratch::{Scratch, with_scratch};
use crate::docker_agent::{next_heal, until};
use clocked::{Clocked, Line, build};

const HOUR_NS: i64 = 3_600_000_000_000;
/// Longer than any line is on its way, much shorter than any bump.
const SLACK_NS: i64 = 20_000_000_000;

const TRUE: Offsets = Offsets { wall_ns: 0, monotonic_ns: 0 };
const HOUR_AHEAD: Offsets = Offsets { wall_ns: HOUR_NS, monotonic_ns: 0 };

/// How far its wall clock is off, as its own lines say.
async fn wall_offset(clocked: &Clocked<'_>) -> anyhow::Result<i64> {
    let Line { wall_ns, wrong } = clocked.line().await?;
    assert_eq!(wrong, 0);
    Ok(wall_ns - SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as i64)
}

async fn until_wall_is_off_by(clocked: &Clocked<'_>, offset_ns: i64) -> anyhow::Result<()> {
    let near = async || Ok((wall_offset(clocked).await? - offset_ns).abs() < SLACK_NS);
    until(&format!("wall clock off by {offset_ns} ns"), near).await
}

/// Starts a container and waits for its first words.
async fn clocked(scratch: &Scratch) -> anyhow::Result<Clocked<'_>> {
    let clocked = Clocked::start(scratch, &build()?).await?;
    until("it says something", async || Ok(clocked.line().await.is_ok())).await?;
    Ok(clocked)
}

fn assert_untouched(report: &ClockReport) {
    assert!(report.shows(TRUE), "{report:?}");
    let untouched = report.processes.iter().all(|process| !process.detoured);
    assert!(untouched, "{report:?}");
}

/// The program itself has read its shifted wall clock.
async fn until_felt(agent: &Agent, pid: u32) -> anyhow::Result<()> {
    until("the program reads its shifted clock", async || {
        Ok(agent.read_clock(pid).await?.processes.iter().any(|process| process.wall_calls > 0))
    })
    .await
}

#[test]
fn one_containers_wall_clock_is_moved_read_and_put_right() {
    with_scratch("clock", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        println!("{:?}", agent.try_clocks().await?);
        let (node, other) = (clocked(&scratch).await?, clocked(&scratch).await?);
        let (pid, other_pid) = (node.pid().await?, other.pid().await?);
        assert_untouched(&agent.read_clock(pid).await?);

        let skewed = agent.skew_clock(pid, HOUR_AHEAD).await?;
        println!("first: {} us, {:?}", skewed.took_us, skewed.processes);
        assert!(skewed.shows(HOUR_AHEAD), "{skewed:?}");
        until_wall_is_off_by(&node, HOUR_NS).await?;
        until_felt(&agent, pid).await?;
        assert_untouched(&agent.read_clock(other_pid).await?);
        assert!(wall_offset(&other).await?.abs() < SLACK_NS);
        for hold in &scratch.nodes {
            assert_untouched(&agent.read_clock(hold.pid).await?);
        }

        let back = Offsets { wall_ns: -HOUR_NS, monotonic_ns: 0 };
        let skewed = agent.skew_clock(pid, back).await?;
        println!("then: {} us", skewed.took_us);
        assert!(skewed.shows(back), "{skewed:?}");
        until_wall_is_off_by(&node, -HOUR_NS).await?;

        let healed = agent.heal_clock(pid).await?;
        println!("healed: {} us", healed.took_us);
        assert_untouched(&healed);
        until_wall_is_off_by(&node, 0).await?;
        assert_eq!(agent.stop().await?.clocks, []);
        Ok(())
    });
}

#[test]
fn a_restart_gives_true_clocks_which_are_skewed_again() {
    with_scratch("anew", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let node = clocked(&scratch).await?;
        let ahead = Offsets { wall_ns: HOUR_NS, monotonic_ns: HOUR_NS };
        let skewed = agent.skew_clock(node.pid().await?, ahead).await?;
        assert!(skewed.shows(ahead), "{skewed:?}");
        let healed = agent.heal_clock(node.pid().await?).await?;
        let kept = Offsets { wall_ns: 0, monotonic_ns: HOUR_NS };
        assert!(healed.shows(kept), "a monotonic clock never goes back: {healed:?}");
        assert!(healed.processes.iter().all(|process| process.ordered == kept), "{healed:?}");

        node.restart().await?;
        assert_untouched(&agent.read_clock(node.pid().await?).await?);
        until_wall_is_off_by(&node, 0).await?;
        for _ in 0..2 {
            let skewed = agent.skew_clock(node.pid().await?, HOUR_AHEAD).await?;
            assert!(skewed.shows(HOUR_AHEAD), "{skewed:?}");
        }
        until_wall_is_off_by(&node, HOUR_NS).await?;
        let healed = agent.stop().await?;
        assert_eq!((healed.because, healed.clocks.len()), (Cause::EndOfInput, 1), "{healed}");
        assert!(healed.left.is_empty() && !healed.clocks[0].detoured, "{healed:?}");
        until_wall_is_off_by(&node, 0).await
    });
}

#[test]
fn an_orchestrator_that_goes_or_falls_silent_leaves_true_clocks() {
    with_scratch("gone", |scratch| async move {
        let witness = scratch.agent(&scratch.plan("w")).await?;
        let node = clocked(&scratch).await?;
        let pid = node.pid().await?;
        let mut plan = scratch.plan("a");
        plan.lease = Duration::from_millis(1500);
        plan.heartbeat = Duration::from_secs(3600);
        let starved = scratch.agent(&plan).await?;
        starved.skew_clock(pid, HOUR_AHEAD).await?;
        let healed = next_heal(&starved).await?;
        assert_eq!((healed.because, healed.clocks.len()), (Cause::LeaseExpired, 1), "{healed}");
        assert_untouched(&witness.read_clock(pid).await?);

        starved.skew_clock(pid, HOUR_AHEAD).await?;
        assert!(witness.read_clock(pid).await?.shows(HOUR_AHEAD), "seen by another agent");
        let gone = Instant::now();
        drop(starved);
        until("healed", async || Ok(witness.read_clock(pid).await?.shows(TRUE))).await?;
        println!("end of input to true clocks: {:?}", gone.elapsed());
        until_wall_is_off_by(&node, 0).await?;
        witness.stop().await?;
        Ok(())
    });
}

#[test]
fn what_a_killed_agent_did_is_undone_by_the_next() {
    with_scratch("heir", |scratch| async move {
        let victim = scratch.agent(&scratch.plan("a")).await?;
        let node = clocked(&scratch).await?;
        let pid = node.pid().await?;
        victim.skew_clock(pid, HOUR_AHEAD).await?;
        let options = KillContainerOptionsBuilder::default().signal("KILL").build();
        scratch.docker.kill_container(victim.container(), Some(options)).await?;
        let heir = scratch.agent(&scratch.plan("b")).await?;
        assert!(heir.read_clock(pid).await?.shows(HOUR_AHEAD));
        assert_untouched(&heir.heal_clock(pid).await?);
        until_wall_is_off_by(&node, 0).await?;
        heir.stop().await?;
        Ok(())
    });
}

#[test]
fn a_paused_container_is_not_begun_with_but_is_put_right() {
    with_scratch("frost", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let node = clocked(&scratch).await?;
        let pid = node.pid().await?;
        scratch.docker.pause_container(&node.container).await?;
        let error = agent.skew_clock(pid, HOUR_AHEAD).await.expect_err("paused");
        ensure!(error.to_string().contains("is paused"), "{error:#}");
        scratch.docker.unpause_container(&node.container).await?;
        agent.skew_clock(pid, HOUR_AHEAD).await?;
        scratch.docker.pause_container(&node.container).await?;
        let healed = agent.heal_clock(pid).await?;
        let [process] = &healed.processes[..] else { anyhow::bail!("one process: {healed:?}") };
        assert_eq!((process.ordered, process.detoured), (TRUE, true));
        ensure!(matches!(process.shown, Shown::Unread { .. }), "{process:?}");
        scratch.docker.unpause_container(&node.container).await?;
        assert_untouched(&agent.heal_clock(pid).await?);
        until_wall_is_off_by(&node, 0).await?;
        agent.stop().await?;
        Ok(())
    });
}

#[test]
fn processes_that_are_no_containers_are_refused() {
    with_scratch("alien", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let error = agent.skew_clock(std::process::id(), HOUR_AHEAD).await.expect_err("the host's");
        ensure!(error.to_string().contains("one of the host's own"), "{error:#}");
        let error = agent.read_clock(u32::MAX).await.expect_err("nobody");
        ensure!(error.to_string().contains("/proc/4294967295/ns/pid"), "{error:#}");
        let back = Offsets { wall_ns: 0, monotonic_ns: -1 };
        let error = agent.skew_clock(scratch.nodes[0].pid, back).await.expect_err("backwards");
        ensure!(error.to_string().contains("it never goes back"), "{error:#}");
        let healed = agent.heal_clock(scratch.nodes[0].pid).await.context("nothing to heal")?;
        assert_untouched(&healed);
        agent.stop().await?;
        Ok(())
    });
}
