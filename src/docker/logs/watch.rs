//! Lines looked out for in the logs of a cluster. It reads no file: the streams bring it each line.

use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

use anyhow::{Context, ensure};
use jiff::Timestamp;
use regex::Regex;

use crate::cluster::{Concerning, Lookout, LookoutId, Observed, Sight};
use crate::docker::cluster::Sighter;
use crate::op::NodeName;

/// A compiled pattern may take this much memory: the default, said so that it is known.
const LARGEST_PATTERN_BYTES: usize = 10 << 20;

/// What is looked out for, and who is told. Nothing until it is set.
pub(in crate::docker) struct LogWatch {
    sighter: Sighter,
    wanted: RwLock<Vec<Wanted>>,
}

struct Wanted {
    id: LookoutId,
    nodes: BTreeSet<NodeName>,
    pattern: Regex,
    /// Older lines are none of its business.
    since: Timestamp,
}

impl LogWatch {
    pub fn new(sighter: Sighter) -> LogWatch {
        LogWatch { sighter, wanted: RwLock::default() }
    }

    /// Looks out for exactly these from now on; lookouts for other things than lines are left out.
    pub fn set(&self, lookouts: &[Lookout], nodes: &BTreeSet<NodeName>) -> anyhow::Result<()> {
        let now = Timestamp::now();
        let mut wanted = Vec::new();
        for lookout in lookouts {
            let Sight::Log { nodes: of, pattern } = &lookout.sight else { continue };
            let unknown: Vec<&str> = of.difference(nodes).map(|node| &**node).collect();
            ensure!(
                unknown.is_empty(),
                "a log line is looked out for on {}, expected nodes of {}",
                unknown.join(", "),
                nodes.iter().map(|node| &**node).collect::<Vec<_>>().join(", ")
            );
            let pattern = compile(pattern)?;
            wanted.push(Wanted { id: lookout.id, nodes: of.clone(), pattern, since: now });
        }
        *self.wanted.write().unwrap_or_else(PoisonError::into_inner) = wanted;
        Ok(())
    }

    /// Tells of a line to each lookout that it concerns. `time` is the engine's stamp, if it gave one.
    pub fn look(&self, node: NodeName, time: &str, line: &str) {
        let wanted = self.wanted.read().unwrap_or_else(PoisonError::into_inner);
        let line = line.trim_end_matches(['\n', '\r']);
        let mut matching = wanted
            .iter()
            .filter(|wanted| wanted.nodes.contains(&node) && wanted.pattern.is_match(line))
            .peekable();
        if matching.peek().is_none() {
            return;
        }
        let written = time.parse::<Timestamp>().ok();
        for wanted in matching.filter(|wanted| written.is_none_or(|time| time >= wanted.since)) {
            self.sighter.tell(Observed {
                concerning: Concerning::Lookout(wanted.id),
                node,
                what: line.to_owned(),
                message: None,
                age_us: written.map_or(0, age_us),
            });
        }
    }
}

fn compile(pattern: &str) -> anyhow::Result<Regex> {
    let compiled = regex::RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN_BYTES).build();
    compiled.with_context(|| format!("`{pattern}` is no regular expression for a log line"))
}

/// How long ago that was; the engine has the same clock as we do.
fn age_us(written: Timestamp) -> u64 {
    let age = Timestamp::now().as_microsecond() - written.as_microsecond();
    u64::try_from(age).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::docker::cluster::Sightings;

    const EARLIER: &str = "2001-01-01T00:00:00.000000001Z";

    fn lookout(id: u32, nodes: &[&str], pattern: &str) -> Lookout {
        let nodes = nodes.iter().map(|node| NodeName::from(*node)).collect();
        let pattern = pattern.to_owned();
        Lookout { id: LookoutId(id), sight: Sight::Log { nodes, pattern } }
    }

    fn nodes() -> BTreeSet<NodeName> {
        ["n1", "n2"].map(NodeName::from).into()
    }

    fn told(sightings: &Sightings) -> Vec<(LookoutId, String)> {
        let next = || sightings.next().now_or_never();
        let told = std::iter::from_fn(next);
        told.filter_map(|seen| match seen.concerning {
            Concerning::Lookout(id) => Some((id, format!("{}: {}", seen.node, seen.what))),
            Concerning::Fault(_) => None,
        })
        .collect()
    }

    #[test]
    fn a_line_is_told_to_each_lookout_on_its_node_that_matches() {
        let sightings = Sightings::new();
        let watch = LogWatch::new(sightings.sighter());
        let wanted = [lookout(1, &["n1"], "LEADING"), lookout(2, &["n1", "n2"], "^L.*G$")];
        watch.set(&wanted, &nodes()).expect("valid");
        let now = Timestamp::now().to_string();
        watch.look("n1".into(), &now, "LEADING\r\n");
        watch.look("n2".into(), &now, "LEADING\n");
        watch.look("n2".into(), &now, "FOLLOWING\n");
        watch.look("n1".into(), "", "it is LEADING");
        let seen = |id, what: &str| (LookoutId(id), what.to_owned());
        let expected = [
            seen(1, "n1: LEADING"),
            seen(2, "n1: LEADING"),
            seen(2, "n2: LEADING"),
            seen(1, "n1: it is LEADING"),
        ];
        assert_eq!(told(&sightings), expected);
    }

    #[test]
    fn lines_of_earlier_are_not_told() {
        let sightings = Sightings::new();
        let watch = LogWatch::new(sightings.sighter());
        watch.look("n1".into(), EARLIER, "LEADING");
        watch.set(&[lookout(1, &["n1"], "LEADING")], &nodes()).expect("valid");
        watch.look("n1".into(), EARLIER, "LEADING");
        assert_eq!(told(&sightings), []);
    }

    #[test]
    fn patterns_and_nodes_that_cannot_be_are_named() {
        let watch = LogWatch::new(Sightings::new().sighter());
        let text = |lookout| {
            format!("{:#}", watch.set(&[lookout], &nodes()).expect_err("cannot be looked out for"))
        };
        assert!(text(lookout(1, &["n1"], "(")).starts_with("`(` is no regular expression"));
        let unknown = text(lookout(1, &["n1", "n9"], "x"));
        assert!(unknown.contains("on n9, expected nodes of n1, n2"), "{unknown}");
        assert!(watch.set(&[lookout(1, &["n1"], "a{1000}{1000}")], &nodes()).is_err());
    }
}
