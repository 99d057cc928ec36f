//! Whose records a log holds: each term of a master has a name, and the name of the term before is known
//! with the sequence number that it went to.
//!
//! A slave's place is in a master's history if both have the same records up to it. This is so in the
//! present term up to its last record, and in the term before up to its end; whatever a deposed master
//! wrote behind that end is in nobody's history.

use std::fmt;

use anyhow::{Context, bail};

use crate::reference::host::Host;
use crate::reference::kvrocks::node::HISTORY;

/// The names of the last two terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    term: String,
    /// The term before, and its last sequence number.
    before: Option<(String, u64)>,
}

/// A name that no term has.
pub const NO_TERM: &str = "?";

impl History {
    pub fn open(host: &impl Host) -> anyhow::Result<History> {
        let bytes = host.disk().read(HISTORY)?.unwrap_or_default();
        let text = String::from_utf8(bytes).context("expected text")?;
        History::read(&text)
    }

    fn read(text: &str) -> anyhow::Result<History> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            [] => Ok(History { term: NO_TERM.to_owned(), before: None }),
            ["term", term] => Ok(History { term: term.to_owned(), before: None }),
            ["term", term, "before", before, last] => {
                let last = last.parse().context("expected a sequence number")?;
                Ok(History { term: term.to_owned(), before: Some((before.to_owned(), last)) })
            }
            _ => bail!("expected `term NAME` and `before NAME N`, found `{}`", text.escape_debug()),
        }
    }

    pub fn term(&self) -> &str {
        &self.term
    }

    /// True if a slave with this term's records up to this one may go on from there.
    pub fn holds(&self, term: &str, sequence: u64, last: u64) -> bool {
        if term == NO_TERM {
            return false;
        }
        let ended = self.before.as_ref().filter(|(before, _)| before == term);
        (term == self.term && sequence <= last) || ended.is_some_and(|(_, end)| sequence <= *end)
    }

    /// Begins a term of this node's own behind this sequence number.
    pub fn begin_term(&mut self, host: &impl Host, last: u64) -> anyhow::Result<()> {
        // A process that starts again has the same chance again.
        let purpose = format!("term after {} at {}", self.term, host.wall_ms());
        let mut chance = host.chance(&purpose);
        let name = format!("{:016x}{:016x}", chance.below(u64::MAX), chance.below(u64::MAX));
        self.enter(host, &name, last)
    }

    /// Records of this term follow behind this sequence number.
    pub fn enter(&mut self, host: &impl Host, term: &str, last: u64) -> anyhow::Result<()> {
        if term == self.term {
            return Ok(());
        }
        let before = Some((self.term.clone(), last)).filter(|(term, _)| term != NO_TERM);
        self.replace(host, History { term: term.to_owned(), before })
    }

    /// All data are those of this term's master.
    pub fn adopt(&mut self, host: &impl Host, term: &str) -> anyhow::Result<()> {
        self.replace(host, History { term: term.to_owned(), before: None })
    }

    fn replace(&mut self, host: &impl Host, with: History) -> anyhow::Result<()> {
        host.disk().replace(HISTORY, with.to_string().as_bytes())?;
        *self = with;
        Ok(())
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "term {}", self.term)?;
        if let Some((before, last)) = &self.before {
            write!(f, " before {before} {last}")?;
        }
        f.write_str("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_held_where_both_have_the_same_records() {
        let history = History::read("term b before a 10\n").expect("sound");
        for (term, sequence, holds) in [
            ("b", 12, true),
            ("b", 13, false),
            ("a", 10, true),
            // What the deposed master wrote on its own.
            ("a", 11, false),
            ("c", 0, false),
            (NO_TERM, 0, false),
        ] {
            assert_eq!(history.holds(term, sequence, 12), holds, "{term} {sequence}");
        }
    }

    #[test]
    fn it_comes_back_from_the_file_and_nonsense_is_refused() {
        for text in ["term a\n", "term b before a 10\n"] {
            assert_eq!(History::read(text).expect("sound").to_string(), text);
        }
        assert_eq!(History::read("").expect("a first start").term(), NO_TERM);
        for text in ["term", "term a before", "term a before b x", "foo"] {
            assert!(History::read(text).is_err(), "{text}");
        }
    }
}
