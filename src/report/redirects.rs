//! The ways of operations through a cluster in figures: how many servers were asked, and what they said.

use std::collections::{BTreeMap, BTreeSet};

use super::digest::Digest;
use crate::nemesis::Spread;
use crate::op::{Kind, Nanos, NodeName};

/// Different words that are told; the rarest of more are summed up.
const WORDS_MAX: usize = 12;

/// What servers said: one word, and how often each node said it.
pub(super) struct Said {
    pub word: String,
    pub by: BTreeMap<NodeName, u64>,
}

impl Said {
    pub(super) fn total(&self) -> u64 {
        self.by.values().sum()
    }
}

#[derive(Default)]
pub(super) struct Redirects {
    /// Operations whose way is known.
    pub operations: u64,
    /// Operations by the number of servers asked, from 1; the last counts all that asked more.
    pub hops: [u64; 5],
    pub longest: usize,
    /// The time of operations that were `ok` at once, and of those that were sent on before.
    pub direct_ms: Option<Spread>,
    pub sent_on_ms: Option<Spread>,
    /// The most frequent first.
    pub said: Vec<Said>,
    pub nodes: BTreeSet<NodeName>,
}

impl Redirects {
    pub(super) fn of(digest: &Digest) -> Redirects {
        let mut redirects = Redirects::default();
        let (mut direct, mut sent_on): (Vec<Nanos>, Vec<Nanos>) = (Vec::new(), Vec::new());
        let mut said: BTreeMap<String, BTreeMap<NodeName, u64>> = BTreeMap::new();
        for operation in &digest.operations {
            let Some(completion) = operation.completion else { continue };
            let Some(route) = completion.route.as_ref().filter(|route| !route.hops.is_empty())
            else {
                continue;
            };
            let count = route.hops.len();
            redirects.operations += 1;
            redirects.longest = redirects.longest.max(count);
            redirects.hops[count.min(redirects.hops.len()) - 1] += 1;
            if completion.kind == Kind::Ok {
                let times = if count == 1 { &mut direct } else { &mut sent_on };
                times.push(operation.latency(digest.end));
            }
            for hop in &route.hops {
                redirects.nodes.insert(hop.node);
                *said.entry(word(&hop.said)).or_default().entry(hop.node).or_default() += 1;
            }
        }
        redirects.direct_ms = Spread::of(direct);
        redirects.sent_on_ms = Spread::of(sent_on);
        redirects.said = frequent(said);
        redirects
    }

    pub(super) fn sent_on(&self) -> u64 {
        self.hops[1..].iter().sum()
    }
}

/// What a server said without what it said it about: `MOVED`, `ok`, `no answer`.
fn word(said: &str) -> String {
    let first = said.split_whitespace().next().unwrap_or("nothing");
    // Servers put the kind of an error in capitals; what became of a connection is told in words.
    match first.chars().all(|c| c.is_ascii_uppercase()) && first != "ERR" {
        true => first.to_owned(),
        false => {
            said.split([':', ',', '(']).next().unwrap_or(said).trim().chars().take(60).collect()
        }
    }
}

fn frequent(said: BTreeMap<String, BTreeMap<NodeName, u64>>) -> Vec<Said> {
    let mut said: Vec<Said> = said.into_iter().map(|(word, by)| Said { word, by }).collect();
    said.sort_by_key(|said| std::cmp::Reverse(said.total()));
    if said.len() > WORDS_MAX {
        let rest = said.split_off(WORDS_MAX - 1);
        let mut by: BTreeMap<NodeName, u64> = BTreeMap::new();
        for (node, count) in rest.iter().flat_map(|said| &said.by) {
            *by.entry(*node).or_default() += count;
        }
        said.push(Said { word: format!("{} other things", rest.len()), by });
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::text::history;

    #[test]
    fn ways_are_counted_by_length_and_words_by_node() {
        let history = history(
            "
            1.000 0@kvrocks1 invoke read nil key=1
            1.002 0@kvrocks1 ok read 4 key=1 slot=130 via=kvrocks1:ok
            2.000 0@kvrocks1 invoke write 5 key=1
            2.006 0@kvrocks1 ok write 5 key=1 slot=130 via=kvrocks1:MOVED,kvrocks3:ok
            3.000 0@kvrocks1 invoke write 6 key=1
            3.001 0@kvrocks1 fail write 6 key=1 slot=130 via=kvrocks3:TRYAGAIN",
        );
        let digest = Digest::of(&history);
        let redirects = Redirects::of(&digest);
        assert_eq!((redirects.operations, redirects.hops), (3, [2, 1, 0, 0, 0]));
        assert_eq!((redirects.sent_on(), redirects.longest), (1, 2));
        assert_eq!(redirects.sent_on_ms.map(|spread| spread.max), Some(6.0));
        let said: Vec<(&str, u64)> =
            redirects.said.iter().map(|said| (said.word.as_str(), said.total())).collect();
        assert_eq!(said, [("ok", 2), ("MOVED", 1), ("TRYAGAIN", 1)]);
    }

    #[test]
    fn what_was_said_is_told_without_its_subject() {
        for (said, told) in [
            ("MOVED 130 10.0.0.3:6666", "MOVED"),
            ("ERR Invalid argument: value is not an integer", "ERR Invalid argument"),
            ("ok", "ok"),
            ("no answer in 1.5 s (connection kept)", "no answer in 1.5 s"),
            ("", "nothing"),
        ] {
            assert_eq!(word(said), if told == "nothing" { "" } else { told });
        }
    }

    #[test]
    fn rare_words_are_summed_up() {
        let said = (0..30u64).map(|number| (format!("w{number}"), [("n".into(), number)].into()));
        let said = frequent(said.collect());
        assert_eq!(said.len(), WORDS_MAX);
        assert_eq!(said.iter().map(Said::total).sum::<u64>(), (0..30).sum::<u64>());
        assert_eq!(said[WORDS_MAX - 1].word, "19 other things");
    }
}
