//! Interposers on links between nodes, with both ends in our hands: what is tapped and what is not,
//! and that nothing of an interposer outlives its agent.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::time::Duration;

use anyhow::{Context, ensure};
use bollard::query_parameters::KillContainerOptionsBuilder;
use stormglass::agent::protocol::{Cause, Passed, TableSupport};
use stormglass::cluster::{Concerning, Effect, FaultId, Form, MessageRule, Side, Tap};
use stormglass::docker::agent::Agent;

use crate::docker_agent::scratch::{Node, Scratch, with_scratch};
use crate::docker_agent::traffic::Conversation;

const FAULT: Concerning = Concerning::Fault(FaultId(1));
const BOUND: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(20);
const PORT: u16 = 7100;
const SET: &[u8] = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";

/// From n1 to n2.
fn outbound() -> Tap {
    let peers = BTreeSet::from(["n2".into()]);
    Tap { node: "n1".into(), side: Side::Outbound, port: PORT, peers }
}

/// From n1 to n3.
fn inbound() -> Tap {
    let peers = BTreeSet::from(["n1".into()]);
    Tap { node: "n3".into(), side: Side::Inbound, port: PORT, peers }
}

fn close(pattern: &str) -> Effect {
    let pattern = pattern.parse().expect("a pattern");
    Effect::Message(MessageRule { pattern, form: Form::Close, nth: 1, times: None, delay: None })
}

async fn tapped(agent: &Agent, taps: &[Tap]) -> anyhow::Result<()> {
    let states = agent.tap(taps.iter().cloned().collect()).await?;
    ensure!(states.iter().all(|state| state.is_in_force()), "{states:?}");
    let owned = agent.greeting().tables == TableSupport::Owned;
    ensure!(states.iter().all(|state| state.owned == owned), "{states:?}");
    Ok(())
}

fn nodes(scratch: &Scratch) -> [&Node; 3] {
    [&scratch.nodes[0], &scratch.nodes[1], &scratch.nodes[2]]
}

#[test]
fn taps_on_both_sides_act_on_the_links_they_name() {
    with_scratch("tap", |scratch| async move {
        let [n1, n2, n3] = nodes(&scratch);
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let mut before = Conversation::open(n1, n2)?;
        tapped(&agent, &[outbound()]).await?;
        tapped(&agent, &[inbound(), outbound()]).await?;
        for (tap, with) in [(outbound(), "n2"), (inbound(), "n1")] {
            let probe = agent.probe_tap(tap, with.into(), BOUND).await?;
            ensure!(probe.passed == Passed::Refused, "nothing listens there: {probe:?}");
        }
        let probe = agent.probe_tap(inbound(), "n2".into(), BOUND).await?;
        ensure!(!probe.passed.is_tapped(), "n2 is no peer of that tap: {probe:?}");

        let mut out = Conversation::open(n1, n2)?;
        let mut into = Conversation::open(n1, n3)?;
        ensure!(!out.is_direct()? && !into.is_direct()?);
        assert_eq!(out.speaker_address()?, n1.address, "an outbound tap keeps the address");
        assert_eq!(into.speaker_address()?, n3.address, "an inbound one shows the node's own");
        ensure!(Conversation::open(n2, n3)?.is_direct()?, "another peer");
        ensure!(Conversation::open(n3, n2)?.is_direct()?, "another node");

        let both = BTreeSet::from([outbound(), inbound()]);
        agent.arm(FAULT, both, close("resp SET a")).await?;
        for conversation in [&mut out, &mut into] {
            assert_eq!(conversation.round_trip(b"PING\r\n")?, b"PING\r\n");
            conversation.reply(b"+PONG\r\n")?;
            assert_eq!(conversation.hear_back(7)?, b"+PONG\r\n");
            assert_eq!(conversation.round_trip(SET)?, SET, "the request arrives");
            conversation.reply(b"+OK\r\n")?;
            assert_eq!(conversation.rest()?, (vec![], None), "its reply does not");
            let seen = tokio::time::timeout(PATIENCE, agent.sighting()).await?;
            assert_eq!(seen.message.context("a message")?.reply.as_deref(), Some("OK"));
        }
        assert_eq!(before.round_trip(SET)?, SET);
        before.reply(b"+OK\r\n")?;
        assert_eq!(before.hear_back(5)?, b"+OK\r\n", "open before it was tapped");
        let spent = agent.disarm(FAULT).await?.context("it was armed")?;
        assert_eq!((spent.matches, spent.hits), (2, 2), "of both nodes");
        agent.stop().await?;
        Ok(())
    });
}

#[test]
fn http_through_a_tap() {
    with_scratch("taphttp", |scratch| async move {
        let [n1, n2, _] = nodes(&scratch);
        let agent = scratch.agent(&scratch.plan("a")).await?;
        tapped(&agent, &[outbound()]).await?;
        let taps = BTreeSet::from([outbound()]);
        agent.arm(FAULT, taps, close("http POST /api/*")).await?;
        let mut talk = Conversation::open(n1, n2)?;
        let get = b"GET /api/x HTTP/1.1\r\nHost: n2\r\n\r\n";
        assert_eq!(talk.round_trip(get)?, get);
        let found = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        talk.reply(found)?;
        assert_eq!(talk.hear_back(found.len())?, found);
        let post = b"POST /api/x HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(talk.round_trip(post)?, post);
        talk.reply(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")?;
        assert_eq!(talk.rest()?, (vec![], None));
        let seen = tokio::time::timeout(PATIENCE, agent.sighting()).await?.message;
        let seen = seen.context("a message")?;
        assert_eq!((&*seen.request, seen.reply.as_deref()), ("POST /api/x", Some("201 Created")));
        ensure!(seen.applied);
        agent.stop().await?;
        Ok(())
    });
}

#[test]
fn an_agent_that_ends_takes_its_interposers_with_it() {
    with_scratch("tapend", |scratch| async move {
        let [n1, n2, _] = nodes(&scratch);
        let agent = scratch.agent(&scratch.plan("a")).await?;
        tapped(&agent, &[outbound()]).await?;
        agent.arm(FAULT, BTreeSet::from([outbound()]), close("resp SET a")).await?;
        let mut hit = Conversation::open(n1, n2)?;
        hit.round_trip(SET)?;
        hit.reply(b"+OK\r\n")?;
        hit.rest()?;
        let mut idle = Conversation::open(n1, n2)?;
        ensure!(!idle.is_direct()?);
        let healed = agent.stop().await?;
        assert_eq!((healed.because, &healed.left[..]), (Cause::EndOfInput, &[][..]));
        let packets: Vec<u64> = healed.tallies.iter().map(|tally| tally.packets).collect();
        assert_eq!(packets, [1], "{healed}");
        assert_eq!(idle.rest()?, (vec![], Some(ErrorKind::ConnectionReset)));
        ensure!(Conversation::open(n1, n2)?.is_direct()?, "no rule redirects any more");

        let agent = scratch.agent(&scratch.plan("b")).await?;
        tapped(&agent, &[outbound()]).await?;
        let mut idle = Conversation::open(n1, n2)?;
        ensure!(!idle.is_direct()?);
        let kill = KillContainerOptionsBuilder::new().signal("SIGKILL").build();
        scratch.docker.kill_container(agent.container(), Some(kill)).await?;
        idle.rest()?;
        let owned = agent.greeting().tables == TableSupport::Owned;
        ensure!(agent.stop().await.is_err(), "a dead agent says nothing");
        if owned {
            ensure!(Conversation::open(n1, n2)?.is_direct()?, "the kernel took the rules away");
        }
        Ok(())
    });
}
