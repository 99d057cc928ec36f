//! What is known of one set or list over time: who wanted to add what, who saw what, and from when on an
//! element was surely there, term by term.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::deeds::Deed;
use super::within::KeyTerms;
use crate::checker::kvrocks::answers::Answer;
use crate::checker::kvrocks::evidence::Evidence;
use crate::op::{Key, Nanos};

/// What a master showed.
pub(super) struct Sight<'d, 'a> {
    pub answer: &'d Answer<'a>,
    pub values: &'d [i64],
    /// Its term, if it can only be one.
    pub term: Option<usize>,
}

/// The elements of one term, each with the first answer that proves it there.
pub(super) type Known<'d, 'a> = FxHashMap<i64, &'d Answer<'a>>;

pub(super) struct Line<'d, 'a> {
    pub key: &'d Key,
    /// Who wanted to add each element.
    pub added: FxHashMap<i64, &'d Deed<'a>>,
    /// Those that were acknowledged in one term.
    pub acknowledged: FxHashMap<i64, (usize, &'d Answer<'a>)>,
    pub sights: Vec<Sight<'d, 'a>>,
    pub known: BTreeMap<usize, Known<'d, 'a>>,
}

pub(super) fn lines<'d, 'a>(deeds: &'d [Deed<'a>], evidence: &Evidence) -> Vec<Line<'d, 'a>> {
    let mut keys: BTreeMap<&Key, Vec<&Deed>> = BTreeMap::new();
    for deed in deeds.iter().filter(|deed| !deed.is_stale) {
        let mut own: Vec<&Key> = deed.parts.iter().map(|part| part.key()).collect();
        own.sort_unstable();
        own.dedup();
        for key in own {
            keys.entry(key).or_default().push(deed);
        }
    }
    keys.into_iter().map(|(key, deeds)| Line::of(key, &deeds, evidence)).collect()
}

impl<'d, 'a> Line<'d, 'a> {
    fn of(key: &'d Key, deeds: &[&'d Deed<'a>], evidence: &Evidence) -> Line<'d, 'a> {
        let answers = deeds.iter().filter_map(|deed| deed.answer.as_ref());
        let terms = KeyTerms::of(evidence, answers);
        let mut line = Line {
            key,
            added: FxHashMap::default(),
            acknowledged: FxHashMap::default(),
            sights: Vec::new(),
            known: BTreeMap::new(),
        };
        for deed in deeds {
            let term = deed.answer.as_ref().and_then(|answer| terms.single(answer));
            for (_, value) in deed.puts().filter(|(of, _)| *of == key) {
                line.added.insert(value, deed);
                if let Some((term, answer)) = term.zip(deed.answer.as_ref()) {
                    line.acknowledged.insert(value, (term, answer));
                    line.note(term, value, answer);
                }
            }
            for (answer, _, values) in deed.sights().filter(|(_, of, _)| *of == key) {
                if let Some(term) = term {
                    values.iter().for_each(|value| line.note(term, *value, answer));
                }
                line.sights.push(Sight { answer, values, term });
            }
        }
        line
    }

    fn note(&mut self, term: usize, value: i64, answer: &'d Answer<'a>) {
        let first = self.known.entry(term).or_default().entry(value).or_insert(answer);
        if answer.end < first.end {
            *first = answer;
        }
    }

    /// An element did not come before that; 0 where nobody asked for it.
    pub fn asked(&self, value: i64) -> Nanos {
        self.added.get(&value).map_or(0, |deed| deed.invocation.time)
    }

    /// The sights of each term.
    pub fn by_term(&self) -> BTreeMap<usize, Vec<&Sight<'d, 'a>>> {
        let mut terms: BTreeMap<usize, Vec<&Sight>> = BTreeMap::new();
        for sight in &self.sights {
            if let Some(term) = sight.term {
                terms.entry(term).or_default().push(sight);
            }
        }
        terms
    }
}
