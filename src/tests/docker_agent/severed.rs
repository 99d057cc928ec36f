//! Live connections closed: exactly those that are meant, and both ends learn it.

use std::io::ErrorKind;

use anyhow::{Context, ensure};

use super::scratch::with_scratch;
use super::traffic::Conversation;
use super::{DROP, FAULT, links};

#[test]
fn connections_of_a_link_are_closed_and_no_others() {
    with_scratch("sever", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let [n1, n2, n3] = &scratch.nodes[..] else { anyhow::bail!("three nodes") };
        let mut meant = Conversation::open(n1, n2)?;
        let mut back = Conversation::open_at(n2, n1, 7200)?;
        let mut beside = Conversation::open(n2, n3)?;

        let severed = agent.sever(links("n1>n2"), Some(7200)).await?;
        assert_eq!((severed.connections, severed.closed, severed.left), (1, 1, vec![]));
        assert_eq!(meant.round_trip(b"another port")?, b"another port");
        let (speaker, listener) = back.errors()?;
        ensure!(is_reset(speaker) && is_reset(listener), "{speaker} and {listener}");

        let severed = agent.sever(links("n2>n1"), None).await?;
        assert_eq!((severed.connections, severed.closed, severed.left), (1, 1, vec![]));
        let (speaker, listener) = meant.errors()?;
        ensure!(is_reset(speaker) && is_reset(listener), "{speaker} and {listener}");
        assert_eq!(beside.round_trip(b"as ever")?, b"as ever");

        let severed = agent.sever(links("n2>n1"), None).await?;
        assert_eq!((severed.connections, severed.closed), (0, 0));
        // Nothing stays in force: a new connection is made at once.
        assert_eq!(Conversation::open(n1, n2)?.round_trip(b"again")?, b"again");
        agent.stop().await?;
        Ok(())
    });
}

fn is_reset(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted)
}

#[test]
fn both_ends_learn_it_even_where_the_link_is_cut() {
    with_scratch("sever-cut", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let [n1, n2, _] = &scratch.nodes[..] else { anyhow::bail!("three nodes") };
        let mut meant = Conversation::open(n1, n2)?;
        agent.cut(FAULT, links("n1>n2 n2>n1"), DROP).await?;
        let severed = agent.sever(links("n1>n2"), None).await?;
        assert_eq!((severed.closed, severed.left), (1, vec![]));
        let (speaker, listener) = meant.errors()?;
        ensure!(is_reset(speaker) && is_reset(listener), "{speaker} and {listener}");
        agent.stop().await?;
        Ok(())
    });
}

#[test]
fn a_clients_connection_is_closed_from_the_nodes_end() {
    with_scratch("sever-client", |scratch| async move {
        let agent = scratch.agent(&scratch.plan("a")).await?;
        let node = &scratch.nodes[0];
        let mut conversation = Conversation::from_host(node)?;
        assert_eq!(conversation.round_trip(b"before")?, b"before");
        let severed = agent.sever(links("clients>n1"), None).await?;
        assert_eq!((severed.connections, severed.closed, severed.left), (1, 1, vec![]));
        let (speaker, listener) = conversation.errors()?;
        ensure!(is_reset(speaker) && is_reset(listener), "{speaker} and {listener}");
        let error = agent.sever(links("n1>n9"), None).await.err().context("no such node")?;
        ensure!(error.to_string().contains("n9 is not enrolled"), "{error}");
        agent.stop().await?;
        Ok(())
    });
}
