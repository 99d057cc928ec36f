//! The versions of the topology that two nodes went by. Views are samples: a version is told as certain
//! only if those before and after agree on it.

use crate::checker::kvrocks::evidence::Evidence;
use crate::checker::kvrocks::wording::seconds;
use crate::op::{Nanos, NodeName};

/// What one node went by in a stretch of time.
pub(super) struct Versions {
    node: NodeName,
    lowest: Option<u64>,
    highest: Option<u64>,
    /// The first higher version that it was seen with later, and when.
    next: Option<(u64, Nanos)>,
}

impl Versions {
    pub fn of(node: NodeName, (from, to): (Nanos, Nanos), evidence: &Evidence) -> Versions {
        let (lowest, highest) = evidence.views.versions_of(&node, from, to);
        let later = evidence.views.data.iter().filter(|seen| seen.node == node && seen.time > to);
        let next = later.filter_map(|seen| Some((seen.version?, seen.time)));
        let next = next.into_iter().find(|(version, _)| Some(*version) > lowest);
        Versions { node, lowest, highest, next }
    }

    fn certain(&self) -> Option<u64> {
        self.lowest.filter(|lowest| self.highest == Some(*lowest))
    }

    /// `version 19`, `version 19 or 20`.
    fn range(&self) -> String {
        match (self.lowest, self.highest) {
            (Some(low), Some(high)) if low == high => format!("version {low}"),
            (Some(low), Some(high)) if low + 1 == high => format!("version {low} or {high}"),
            (Some(low), Some(high)) => format!("a version from {low} to {high}"),
            (Some(low), None) => format!("version {low} or a later one"),
            (None, Some(high)) => format!("version {high} or an earlier one"),
            (None, None) => "an unknown version".to_owned(),
        }
    }
}

/// For the summary.
pub(super) fn both([one, other]: &[Versions; 2]) -> String {
    if let Some(version) = one.certain().filter(|version| other.certain() == Some(*version)) {
        return format!("both under topology version {version}");
    }
    let (ones, others) = (one.range(), other.range());
    format!("{} under {ones} of the topology, {} under {others}", one.node, other.node)
}

/// For the details.
pub(super) fn told(versions: &[Versions; 2]) -> String {
    let told = versions.iter().map(|versions| {
        let next = versions.next.map_or(String::new(), |(version, time)| {
            format!(", and was seen to go by version {version} at {}", seconds(time))
        });
        format!("{} went by {} of the topology{next}", versions.node, versions.range())
    });
    told.collect::<Vec<_>>().join("; ")
}
