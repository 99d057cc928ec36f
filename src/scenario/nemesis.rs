//! Nemesis names to faults: a name of the catalogue, aimed elsewhere by a suffix.
//!
//! `kill-leader` is `kill` aimed at the leader, `pause:zookeeper2` is `pause` aimed at that node,
//! `kill-one:kvrocks` and `kill:one:kvrocks` are `kill` aimed at one node of that role:
//! fault and target are composed here, not written out in one file for each pair.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::catalog::{Catalog, CatalogError, nearest};
use crate::nemesis::{Fault, FaultKind, NemesisSpec, Pick, Target, Turns};
use crate::scenario::overrides::{Overrides, ScenarioError, Source};
use crate::scenario::yaml::YamlError;

/// A fault with the name of the nemesis that it came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedFault {
    pub nemesis: String,
    pub fault: Fault,
}

/// The faults of all nemeses that a run names, and how those of one take turns.
#[derive(Default)]
pub struct Loaded {
    pub faults: Vec<NamedFault>,
    pub turns: BTreeMap<String, Turns>,
}

/// Loads nemeses named with commas between them; `none` adds nothing.
pub fn load(names: &str, overrides: &Overrides) -> Result<Loaded, ScenarioError> {
    let mut loaded = Loaded::default();
    for name in names.split(',').map(str::trim) {
        if name.is_empty() {
            let message = "expected names with commas between, found an empty one; `none` is the \
                           nemesis that does nothing";
            return Err(ScenarioError::Aim {
                nemesis: format!("'{names}'"),
                message: message.into(),
            });
        }
        let spec = load_one(name, overrides)?;
        if let Some(turns) = spec.turns() {
            loaded.turns.insert(name.to_owned(), turns);
        }
        // Faults that take turns are one; of others each must act, and is judged by itself.
        let are_judged_apart = spec.faults.len() > 1 && spec.turns().is_none();
        let named = |(position, fault)| NamedFault {
            nemesis: match are_judged_apart {
                true => format!("{name}.{}", position + 1),
                false => name.to_owned(),
            },
            fault,
        };
        loaded.faults.extend(spec.faults.into_iter().enumerate().map(named));
    }
    Ok(loaded)
}

/// A nemesis as it is after its name's aim and the command line's changes.
pub fn load_one(name: &str, overrides: &Overrides) -> Result<NemesisSpec, ScenarioError> {
    if let Some((base, target)) = name.split_once(':') {
        let wrong = |message| ScenarioError::Aim { nemesis: name.into(), message };
        let (base, target) = aim_of(base, target).map_err(wrong)?;
        return aim(load_named(base, overrides)?, name, target);
    }
    match load_named(name, overrides) {
        Err(ScenarioError::Catalog(unknown @ CatalogError::Unknown { .. })) => {
            match keyword_suffix(name) {
                Some((base, target)) if Catalog::Nemeses.load(base).is_ok() => {
                    aim(load_named(base, overrides)?, name, target)
                }
                _ => Err(suggested(unknown).into()),
            }
        }
        other => other,
    }
}

/// What a name ends with that aims it: `kill-leader`, `kill-master`.
fn keyword_suffix(name: &str) -> Option<(&str, Target)> {
    let (base, last) = name.rsplit_once('-')?;
    let (_, target) = Target::keywords().find(|(keyword, _)| *keyword == last)?;
    Some((base, target))
}

/// What stands before and behind a colon: a role behind a name that ends with an aim narrows that
/// (`kill-leader:controller`, `partition-one:kvrocks`), anything else is an aim of its own.
fn aim_of<'a>(name: &'a str, aim: &str) -> Result<(&'a str, Target), String> {
    let target: Target = aim.parse()?;
    let Some((_, aimed)) = keyword_suffix(name) else { return Ok((name, target)) };
    let narrowed = match target {
        Target::Of(Pick::All, Some(role)) => aimed.of_role(role),
        _ => None,
    };
    let base = base(name);
    match narrowed {
        Some(target) => Ok((base, target)),
        None if base == name => Ok((name, target)),
        None => Err(format!(
            "it is aimed twice, at `{aimed}` and at `{aim}`; expected one aim, or a role behind the \
             colon as in {base}-leader:controller"
        )),
    }
}

/// The name of the file that a name stands for, without its aim.
pub fn base(name: &str) -> &str {
    let name = name.split_once(':').map_or(name, |(before, _)| before);
    match Catalog::Nemeses.load(name) {
        Ok(_) => name,
        Err(_) => keyword_suffix(name).map_or(name, |(base, _)| base),
    }
}

/// Suggests aimed names as well: `kill-leader` is in no catalogue.
fn suggested(unknown: CatalogError) -> CatalogError {
    match unknown {
        CatalogError::Unknown { what, list, name, .. } => {
            let mut names = Catalog::Nemeses.names();
            let aimed = |base: &String| {
                let base = base.clone();
                Target::keywords().map(move |(keyword, _)| format!("{base}-{keyword}"))
            };
            let aimed: Vec<String> =
                names.iter().filter(|base| takes_an_aim(base)).flat_map(aimed).collect();
            names.extend(aimed);
            let near = nearest(&name, names.iter().map(String::as_str)).map(str::to_owned);
            CatalogError::Unknown { what, list, name, near }
        }
        other => other,
    }
}

fn takes_an_aim(name: &str) -> bool {
    let spec = load_named(name, &Overrides::default());
    spec.is_ok_and(|spec| aim(spec, name, Target::ONE).is_ok())
}

fn aim(mut spec: NemesisSpec, name: &str, target: Target) -> Result<NemesisSpec, ScenarioError> {
    // Who resigns is a leader, so only an aim at leaders concerns it.
    let resigns = |fault: &Fault| fault.fault == FaultKind::Resign && target.is_leader();
    let takes_one = |fault: &Fault| fault.target.is_some() || resigns(fault);
    let aimed: Vec<&mut Fault> = spec.faults.iter_mut().filter(|fault| takes_one(fault)).collect();
    if aimed.is_empty() {
        let message =
            "this nemesis picks its own nodes and cannot be aimed; leave the aim out".into();
        return Err(ScenarioError::Aim { nemesis: name.into(), message });
    }
    for fault in aimed {
        fault.target = Some(target.clone());
    }
    match spec.flaw() {
        Some((_, (_, message))) => Err(ScenarioError::Aim { nemesis: name.into(), message }),
        None => Ok(spec),
    }
}

fn load_named(name: &str, overrides: &Overrides) -> Result<NemesisSpec, ScenarioError> {
    let entry = Catalog::Nemeses.load(name)?;
    let source = overrides.nemesis_source(&entry)?;
    read(&source).map_err(|error| ScenarioError::Nemesis(source.blame(error)))
}

fn read(source: &Source) -> Result<NemesisSpec, YamlError> {
    let (origin, text) = (&source.origin, &source.text);
    let spec: NemesisSpec = super::yaml::parse(origin, text)?;
    // To the parser nothing is a list without items. Whoever means that writes it.
    if spec.faults.is_empty() && lists_nothing(origin, text)? {
        let message = "expected a list of faults, found nothing; `faults: []` is no fault at all";
        return Err(YamlError::field(origin, text, "faults", message));
    }
    match spec.flaw() {
        Some((Some(position), (field, message))) => {
            Err(YamlError::in_item(origin, text, ("fault", position), field, &message))
        }
        Some((None, (field, message))) => Err(YamlError::field(origin, text, field, &message)),
        None => Ok(spec),
    }
}

fn lists_nothing(origin: &str, text: &str) -> Result<bool, YamlError> {
    let tree: serde_yaml::Value = super::yaml::parse(origin, text)?;
    Ok(tree.get("faults").is_none_or(serde_yaml::Value::is_null))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aim_of_first(name: &str) -> Result<String, String> {
        let spec = load_one(name, &Overrides::default()).map_err(|error| error.to_string())?;
        Ok(spec.faults[0].aim())
    }

    #[test]
    fn aims_behind_a_name_and_behind_a_colon_are_composed() {
        for (name, aim, file) in [
            ("kill:one:kvrocks", "one:kvrocks", "kill"),
            ("kill-one:kvrocks", "one:kvrocks", "kill"),
            ("kill:kvrocks", "kvrocks", "kill"),
            ("kill-master", "master", "kill"),
            ("pause-replica", "replica", "pause"),
            ("kill-leader:controller", "leader:controller", "kill"),
            ("partition-leader:controller", "leader:controller", "partition-leader"),
            ("partition-one:kvrocks", "one:kvrocks", "partition-one"),
            ("partition-one:kvrocks2", "kvrocks2", "partition-one"),
            ("failover-loop:leader:controller", "leader:controller", "failover-loop"),
            ("resign:leader:controller", "leader:controller", "resign"),
            ("skew-bump:leader:kvrocks", "leader:kvrocks", "skew-bump"),
        ] {
            assert_eq!(aim_of_first(name), Ok(aim.to_owned()), "{name}");
            assert_eq!(base(name), file, "{name}");
        }
    }

    #[test]
    fn two_aims_and_aims_at_what_is_not_known_are_refused() {
        for (name, told) in [
            ("kill-leader:zookeeper2", "aimed twice, at `leader` and at `zookeeper2`"),
            ("kill-master:controller", "aimed twice, at `master` and at `controller`"),
            ("kill:one:redis", "expected a role behind `:`"),
            ("kill:sender", "is a node of an event"),
            ("failover-loop:leader:kvrocks", "leaders that are elected"),
        ] {
            let error = aim_of_first(name).expect_err(name);
            assert!(error.contains(told), "{name}: {error}");
        }
    }
}
