//! Links between targets.

use std::fmt;
use std::str::FromStr;

use super::Target;

/// A link between targets, `follower->leader`, resolved when the fault fires. `clients` is a place, too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedLink {
    pub from: Target,
    pub to: Target,
    /// Both directions: `a<->b`.
    pub both_ways: bool,
}

impl NamedLink {
    pub fn ends(&self) -> [&Target; 2] {
        [&self.from, &self.to]
    }
}

impl FromStr for NamedLink {
    type Err = String;

    fn from_str(text: &str) -> Result<NamedLink, String> {
        let (ends, both_ways) = match text.split_once("<->") {
            Some(ends) => (Some(ends), true),
            None => (text.split_once("->"), false),
        };
        let (from, to) = ends.ok_or_else(|| {
            format!("expected a link such as follower->leader or clients<->leader, found `{text}`")
        })?;
        Ok(NamedLink { from: from.trim().parse()?, to: to.trim().parse()?, both_ways })
    }
}

impl fmt::Display for NamedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrow = if self.both_ways { "<->" } else { "->" };
        write!(f, "{}{arrow}{}", self.from, self.to)
    }
}

crate::text_form!(NamedLink, "a link such as follower->leader or clients<->leader");
