//! Planted bugs of the model, by name, so that the tool can prove what it finds.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How the ensemble model behaves. `AsShipped` is sound; every other one breaks one promise.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    #[default]
    AsShipped,
    LosesAckedWrite,
    StaleBarrier,
    AcksUnflushed,
    VotesById,
    CasRaces,
}

/// The name is none of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown variant `{name}` of the ZooKeeper model{}; known: {}", hint(.near), known())]
pub struct UnknownVariant {
    pub name: String,
    /// The known name that looks most like it, if one does.
    pub near: Option<&'static str>,
}

fn hint(near: &Option<&'static str>) -> String {
    near.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default()
}

fn known() -> String {
    Variant::ALL.map(Variant::name).join(", ")
}

impl Variant {
    pub const ALL: [Variant; 6] = [
        Variant::AsShipped,
        Variant::LosesAckedWrite,
        Variant::StaleBarrier,
        Variant::AcksUnflushed,
        Variant::VotesById,
        Variant::CasRaces,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Variant::AsShipped => "as-shipped",
            Variant::LosesAckedWrite => "loses-acked-write",
            Variant::StaleBarrier => "stale-barrier",
            Variant::AcksUnflushed => "acks-unflushed",
            Variant::VotesById => "votes-by-id",
            Variant::CasRaces => "cas-races",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Variant::AsShipped => "sound: keeps what ZooKeeper promises",
            Variant::LosesAckedWrite => {
                "the leader acknowledges before a quorum has logged the proposal, so an \
                 acknowledged write is lost when the leader crashes or is deposed"
            }
            Variant::StaleBarrier => {
                "a server answers a write before its own copy shows it, so a read that follows \
                 in the same session is stale"
            }
            Variant::AcksUnflushed => {
                "a server acknowledges proposals that are not on its disk yet, so the end of its log \
                 is gone after a crash, and with it a write if enough servers crash together"
            }
            Variant::VotesById => {
                "the election ignores who has the longest log, so a lagging server may lead and \
                 have committed writes thrown away"
            }
            Variant::CasRaces => {
                "the leader checks a write's version against what is committed, not against the \
                 proposals under way, so two compare-and-sets on one version both succeed"
            }
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Variant {
    type Err = UnknownVariant;

    fn from_str(name: &str) -> Result<Variant, UnknownVariant> {
        if let Some(variant) = Variant::ALL.into_iter().find(|variant| variant.name() == name) {
            return Ok(variant);
        }
        let near = Variant::ALL
            .map(Variant::name)
            .into_iter()
            .map(|known| (strsim::damerau_levenshtein(known, name), known))
            .min()
            .filter(|(distance, known)| *distance <= known.len() / 3)
            .map(|(_, known)| known);
        Err(UnknownVariant { name: name.to_owned(), near })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_to_its_variant() {
        for variant in Variant::ALL {
            assert_eq!(variant.name().parse(), Ok(variant));
            assert_eq!(
                serde_json::to_value(variant).unwrap(),
                serde_json::Value::from(variant.name())
            );
        }
    }

    #[test]
    fn a_typo_suggests_the_near_name() {
        let error = "loses-acked-writes".parse::<Variant>().unwrap_err();
        assert_eq!(error.near, Some("loses-acked-write"));
        assert!(error.to_string().contains("did you mean `loses-acked-write`?"), "{error}");
        let error = "quux".parse::<Variant>().unwrap_err();
        assert_eq!(error.near, None);
        assert!(error.to_string().ends_with("votes-by-id, cas-races"), "{error}");
    }
}
