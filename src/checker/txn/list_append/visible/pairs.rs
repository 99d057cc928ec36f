//! Who appended to two keys, or to one twice: whoever saw the one append and not the other saw half of a transaction.

use rustc_hash::FxHashMap;

use super::knot::{Append, Knot, Seen, UNSEEN};

/// Of all transactions whose first append to the one key is here or earlier, the two that reached furthest in
/// the other key.
#[derive(Clone, Copy, Debug)]
struct Both {
    first: u32,
    /// Where its last append to the other key is, and who it is.
    furthest: [(u32, u32); 2],
}

/// By a key that was seen and another.
pub struct Pairs {
    by_keys: FxHashMap<(u32, u32), Vec<Both>>,
}

/// Nobody, who appended nothing.
const NOBODY: (u32, u32) = (0, u32::MAX);

impl Pairs {
    /// None if they take more than the memory there is.
    pub fn of(knot: &Knot, memory: usize) -> Option<Pairs> {
        let mut by_member = knot.appends.clone();
        by_member.sort_unstable_by_key(|append| (append.member, append.key));
        let of_one = || by_member.chunk_by(|one, other| one.member == other.member);
        let count: usize = of_one().map(|appends| appends.len() * appends.len()).sum();
        if count.saturating_mul(size_of::<Both>() * 2) > memory {
            return None;
        }
        let mut by_keys: FxHashMap<(u32, u32), Vec<Both>> = FxHashMap::default();
        for appends in of_one() {
            for seen in appends.iter().filter(|append| append.first != UNSEEN) {
                let differs = |other: &&Append| other.key != seen.key || other.last != seen.first;
                for other in appends.iter().filter(differs) {
                    by_keys.entry((seen.key, other.key)).or_default().push(both(seen, other));
                }
            }
        }
        by_keys.values_mut().for_each(|all| accumulate(all));
        Some(Pairs { by_keys })
    }

    /// Who appended something that the reader saw, and something that its read did not see.
    pub fn torn(&self, reader: u32, reads: &[Seen], read: Seen) -> Option<u32> {
        reads.iter().find_map(|seen| {
            let all = self.by_keys.get(&(seen.key, read.key))?;
            let known = all.partition_point(|both| both.first < seen.count).checked_sub(1)?;
            let missed = |(last, member): &&(u32, u32)| {
                *member != reader && *member != NOBODY.1 && *last >= read.count
            };
            all[known].furthest.iter().find(missed).map(|(_, member)| *member)
        })
    }
}

fn both(seen: &Append, other: &Append) -> Both {
    Both { first: seen.first, furthest: [(other.last, other.member), NOBODY] }
}

fn accumulate(all: &mut [Both]) {
    all.sort_unstable_by_key(|both| both.first);
    for at in 1..all.len() {
        let (before, own) = (all[at - 1].furthest, all[at].furthest[0]);
        let mut three = [before[0], before[1], own];
        three.sort_by_key(|(last, member)| (*member == NOBODY.1, std::cmp::Reverse(*last)));
        all[at].furthest = [three[0], three[1]];
    }
}
