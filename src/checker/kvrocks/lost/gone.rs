//! Which acknowledged writes reads prove gone, the final ones above all.

mod counter;
mod elements;
mod orphan;
mod register;

use crate::checker::kvrocks::KvrocksObject;
use crate::checker::kvrocks::answers::{Answer, Pair};
use crate::checker::kvrocks::evidence::Evidence;
use crate::op::Key;

/// A write that was acknowledged and is not there any more.
#[derive(Clone, Debug)]
pub(in crate::checker::kvrocks) struct Gone<'a> {
    pub key: Key,
    pub write: Answer<'a>,
    /// What is lost, for people: `write 18`, `33`.
    pub what: String,
    /// The read that lacks it.
    pub proof: Answer<'a>,
}

/// What is gone for certain, and of what one only knows how many are.
#[derive(Default)]
pub(super) struct Search<'a> {
    certain: Vec<Gone<'a>>,
    /// Of each of these groups all but one are gone.
    all_but_one: Vec<Vec<Gone<'a>>>,
    /// Writes, and a read of another node that saw them.
    pub survived: Vec<(Answer<'a>, Answer<'a>)>,
    /// Acknowledged writes and keys that are judged.
    pub acknowledged: usize,
    pub keys: usize,
    pub unjudged: usize,
}

/// `None` if the run never came to its final reads.
pub(super) fn search<'a>(
    pairs: &[Pair<'a>],
    evidence: &Evidence,
    object: &KvrocksObject,
) -> Option<Search<'a>> {
    let drain = evidence.drain()?;
    let mut search = Search::default();
    match object {
        KvrocksObject::Register(_) => register::search(pairs, drain, evidence, &mut search),
        KvrocksObject::List => {
            elements::search(super::super::elements::lists(pairs), drain, &mut search);
        }
        KvrocksObject::Set => {
            elements::search(super::super::elements::sets(pairs), drain, &mut search);
        }
        KvrocksObject::Counter => counter::search(pairs, drain, &mut search),
        // A lock is meant to be lost in time.
        KvrocksObject::Lock { .. } => {}
    }
    Some(search)
}

impl<'a> Search<'a> {
    /// Everything that is gone. Where one of several is not, it is the one without excuse that the
    /// last node has.
    pub fn gone(&self, is_excused: impl Fn(&Gone<'a>) -> bool) -> Vec<Gone<'a>> {
        let mut gone = self.certain.clone();
        for group in &self.all_but_one {
            let kept = group
                .iter()
                .enumerate()
                .min_by_key(|(_, one)| (is_excused(one), one.write.node != one.proof.node));
            let kept = kept.map(|(position, _)| position);
            let lost = group.iter().enumerate().filter(|(position, _)| Some(*position) != kept);
            gone.extend(lost.map(|(_, one)| one.clone()));
        }
        gone.sort_by_key(|gone| (gone.write.end, gone.write.invocation.index));
        gone
    }
}
