//! Questions to services. A silent one must not hold up the requests behind it, so each is put on a
//! thread of its own.

use std::sync::Arc;

use anyhow::Context;

use super::Worker;
use super::cuts::within_limits;
use crate::agent::ask::{Line, Question};
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
}
