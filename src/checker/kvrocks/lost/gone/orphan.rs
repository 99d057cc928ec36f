//! Registers: what the destination of a migration took and the slot's owner never got.
//!
//! The owner goes on from what it had. So a write that the topology never put in its hands is gone, and the
//! first read there of something older shows it, whatever is written later.

use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::evidence::{Custody, Evidence};
use crate::checker::kvrocks::registers::Register;

/// Each such write with its value, and the read that shows it.
pub(super) fn search<'a>(
    register: &Register<'a>,
    acknowledged: &[(i64, Answer<'a>)],
    evidence: &Evidence,
) -> Vec<(i64, Answer<'a>, Answer<'a>)> {
    let mut found = Vec::new();
    for (value, write) in acknowledged {
        let Custody::Nobody { owner } = evidence.custody_of(write) else { continue };
        let older = |(read, seen): &&(Answer<'a>, Option<i64>)| {
            let there = register.since(*seen);
            read.start > write.end
                && evidence.shards.of(&read.node) == Some(owner)
                && there.is_some_and(|there| there < write.start)
        };
        let Some((proof, _)) = register.reads.iter().find(older) else { continue };
        let seen_again = register
            .reads
            .iter()
            .any(|(read, seen)| *seen == Some(*value) && read.end >= proof.start);
        let replaced_later = register.written.values().any(|written| {
            let end = written.end();
            written.replaced == Some(*value) && end >= proof.start
        });
        if !seen_again && !replaced_later {
            found.push((*value, *write, *proof));
        }
    }
    found
}
