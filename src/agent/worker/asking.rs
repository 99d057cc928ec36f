//! Questions to services. A silent one must not hold up the requests behind it, so each is put on a
//! thread of its own.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;

use super::Worker;
use super::cuts::within_limits;
use crate::agent::ask::{Line, Question};
use crate::agent::live_socket;
use crate::agent::netlink::{Exchange, Subsystem};
use crate::agent::protocol::{Answer, Message};
use crate::op::NodeName;

impl Worker<'_> {
    /// The thread gives the answer, unless this fails.
    pub(super) fn ask(
        &self,
        id: u64,
        (node, port): (&NodeName, u16),
        question: Question,
        bound_ms: u64,
    ) -> anyhow::Result<()> {
        let bound = within_limits(bound_ms)?;
        let (address, _) = self.prober.address(node)?;
        let line = Line::open(self.prober.inside(node)?, address, port)?;
        let session = Arc::clone(self.session);
        let asking = move || {
            let heard = line.ask(&question, bound);
            session.say(&Message::Answer { id, answer: Answer::Ask { heard } });
        };
        let name = format!("ask-{node}");
        std::thread::Builder::new().name(name).spawn(asking).context("start a thread")?;
        Ok(())
    }

    pub(super) fn listening(&self, node: &NodeName) -> anyhow::Result<BTreeSet<SocketAddr>> {
        let inside = self.prober.inside(node)?;
        let mut exchange = inside.run(|| Exchange::open(Subsystem::SocketDiagnosis))?;
        let mut found = live_socket::listening(&mut exchange).context("list who listens")?;
        let ours = self.session.interposers().ports(node);
        found.retain(|listener| !ours.contains(&listener.port()));
        Ok(found)
    }
}
