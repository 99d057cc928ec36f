//! The ownership terms of a kvrocks cluster's slots, as the registers' operations fall into them.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::operation::{Pair, Register};
use super::parts::{self, Part};
use crate::checker::RegisterModel;
use crate::checker::kvrocks::{Answer, Evidence, KvrocksChecks, KvrocksObject, Terms, lost_writes};
use crate::history::History;
use crate::op::{Event, NodeName};

/// What a history tells of its terms.
pub(super) struct Divided {
    evidence: Evidence,
    /// The invocations of acknowledged writes that are lost, as the checker of lost writes finds them.
    pub lost: BTreeSet<u64>,
}

/// Operators' work, and what replicas answered on purpose, is no register's.
pub(super) fn is_of_a_register(invocation: &Event) -> bool {
    matches!(&*invocation.f, "read" | "write" | "cas")
}

impl Divided {
    /// `pairs` are all operations of the history.
    pub fn of(
        history: &History,
        pairs: &[Pair],
        shards: &[Vec<NodeName>],
        model: &RegisterModel,
    ) -> Divided {
        let evidence = Evidence::of(history, pairs, shards);
        let object = Some(KvrocksObject::Register(model.clone()));
        let checks = KvrocksChecks { shards: shards.to_vec(), object, ..KvrocksChecks::default() };
        Divided { lost: lost_writes(pairs, &evidence, &checks), evidence }
    }

    fn terms(&self, pairs: &[Pair], members: &[u32]) -> Terms<'_> {
        let routes = members.iter().filter_map(|member| pairs[*member as usize].1?.route.as_ref());
        let slot = routes.into_iter().find_map(|route| route.slot);
        Terms::of(&self.evidence, slot)
    }

    pub fn parts(&self, pairs: &[Pair], members: &[u32], register: Register) -> (Vec<Part>, usize) {
        let terms = self.terms(pairs, members);
        let anywhere = || 0..=terms.count() - 1;
        parts::divide(register, terms.count(), |operation| -> RangeInclusive<usize> {
            let answer = Answer::given(&pairs[operation.origin as usize]);
            answer.map_or_else(anywhere, |a| terms.range(&a.node, a.start, a.end))
        })
    }

    pub fn beginning(&self, pairs: &[Pair], members: &[u32], term: usize) -> String {
        self.terms(pairs, members).beginning(term)
    }
}
