//! What a workload's YAML expects of a run: known-bad systems are asserted to be found bad.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::variant::WantedVariant;

/// The two worlds, as far as judging differs between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum World {
    Sim,
    Docker,
}

impl World {
    pub fn name(self) -> &'static str {
        match self {
            World::Sim => "sim",
            World::Docker => "docker",
        }
    }
}

/// One `expect` item: under these conditions, this anomaly. What is absent holds for every run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nemesis: Option<String>,
    /// `name` of a variant on any role, `role=name`, or `{ role: name, … }`; `as-shipped` alone is where
    /// no role has another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<WantedVariant>,
    /// `tag` of any image, or `image=tag`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<World>,
    /// An anomaly kind, or `none` to except these runs from the items that follow.
    pub anomaly: String,
}

/// What a run is, as far as expectations ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub world: World,
    pub nemeses: Vec<String>,
    /// Of our own servers, by role: `kvrocks`, `controller`, `zookeeper`.
    pub variants: BTreeMap<String, String>,
    /// By image name.
    pub images: BTreeMap<String, String>,
}

impl Expectation {
    fn matches(&self, run: &Identity) -> bool {
        self.nemesis.as_ref().is_none_or(|name| run.nemeses.contains(name))
            && self.variant.as_ref().is_none_or(|wanted| wanted.matches(&run.variants))
            && self.image.as_deref().is_none_or(|wanted| has(&run.images, wanted))
            && self.world.is_none_or(|world| world == run.world)
    }
}

fn has(chosen: &BTreeMap<String, String>, wanted: &str) -> bool {
    chosen.iter().any(|(name, value)| {
        value == wanted || wanted.split_once('=') == Some((name.as_str(), value.as_str()))
    })
}

/// The anomaly that the first matching item expects.
pub(super) fn first_match<'a>(items: &'a [Expectation], run: &Identity) -> Option<&'a str> {
    let item = items.iter().find(|item| item.matches(run))?;
    (item.anomaly != "none").then_some(item.anomaly.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(condition: &str, anomaly: &str) -> Expectation {
        serde_yaml::from_str(&format!("{{{condition} anomaly: {anomaly}}}")).expect(condition)
    }

    fn run() -> Identity {
        Identity {
            world: World::Sim,
            nemeses: vec!["kill".to_owned(), "pause".to_owned()],
            variants: [("kvrocks".to_owned(), "no-sync".to_owned())].into(),
            images: [("kvrocks".to_owned(), "2.11".to_owned())].into(),
        }
    }

    #[test]
    fn each_condition_matches_what_it_names_and_nothing_else() {
        for (condition, holds) in [
            ("", true),
            ("nemesis: pause,", true),
            ("nemesis: partition-halves,", false),
            ("variant: no-sync,", true),
            ("variant: node=no-sync,", true),
            ("variant: { kvrocks: no-sync },", true),
            ("variant: { kvrocks: no-sync, controller: cas },", false),
            ("variant: controller=no-sync,", false),
            ("image: kvrocks=2.11,", true),
            ("image: kvrocks=2.12,", false),
            ("world: sim,", true),
            ("world: docker,", false),
            ("nemesis: kill, world: docker,", false),
        ] {
            let items = [item(condition, "stale-read")];
            assert_eq!(first_match(&items, &run()).is_some(), holds, "{condition}");
        }
    }

    #[test]
    fn the_first_match_wins_and_none_is_an_exception() {
        let items =
            [item("nemesis: kill,", "none"), item("", "stale-read"), item("", "lost-write")];
        assert_eq!(first_match(&items, &run()), None);
        assert_eq!(first_match(&items[1..], &run()), Some("stale-read"));
        assert_eq!(first_match(&[], &run()), None);
    }

    #[test]
    fn an_unknown_field_is_refused() {
        let error = serde_yaml::from_str::<Expectation>("{nemeses: kill, anomaly: stale-read}");
        assert!(error.expect_err("a typo").to_string().contains("nemeses"));
    }
}
