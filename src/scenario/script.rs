//! Schedules as files: read and held against the topology, written after each run.

use std::path::Path;

use super::overrides::ScenarioError;
use super::yaml::{self, YamlError};
use crate::cluster::Topology;
use crate::nemesis::Script;

/// Reads a schedule and refuses what this topology cannot do.
pub fn load(path: &Path, topology: &Topology) -> Result<Script, ScenarioError> {
    let origin = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| ScenarioError::Schedule { path: origin.clone(), error })?;
    read(&origin, &text, topology).map_err(ScenarioError::Script)
}

fn read(origin: &str, text: &str, topology: &Topology) -> Result<Script, YamlError> {
    let script: Script = yaml::parse(origin, text)?;
    match script.flaw(topology) {
        Some((position, (field, message))) => {
            Err(YamlError::in_item(origin, text, ("nemesis", position), field, &message))
        }
        None => Ok(script),
    }
}

/// The nemeses of a schedule as a run names them.
pub fn nemesis(script: &Script) -> String {
    let names: Vec<String> = script.nemeses().into_iter().map(|(name, _)| name).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(",") }
}

/// A schedule as a file's text.
pub fn schedule_yaml(script: &Script) -> String {
    let yaml = serde_yaml::to_string(script).expect("a schedule is plain data");
    format!(
        "# What was done when; `stormglass run WORKLOAD --schedule FILE` does it again.\n{yaml}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Node, Role};
    use crate::rng::Rng;

    const SOUND: &str = "\
entries:
- nemesis: kill
  at: 8s
  until: 18s
  actions:
  - { action: kill, node: zookeeper2 }
- nemesis: mine
  at: 20s
  until: 25s
  targets: [zookeeper1]
  actions:
  - { action: cut, fault: 2, links: [{ from: zookeeper1, to: clients }], manner: { port: 2181 } }
  - action: interpose
    fault: 2
    taps: [{ node: zookeeper1, side: inbound, port: 2181 }]
    effect: { message: { pattern: zookeeper set /a, form: hold, nth: 1, times: null } }
  - { action: skew, node: zookeeper1, clock: wall, by_ns: -5 }
";

    fn topology() -> Topology {
        let node = |number: u8| Node {
            name: format!("zookeeper{number}").into(),
            role: Role::Zookeeper,
            address: [10, 0, 0, number].into(),
        };
        Topology { nodes: (1..=3).map(node).collect() }
    }

    #[test]
    fn a_sound_schedule_is_read_and_written_again() {
        let script = read("mine.yaml", SOUND, &topology()).expect("a sound schedule");
        assert_eq!(nemesis(&script), "kill,mine");
        assert_eq!(read("mine.yaml", &schedule_yaml(&script), &topology()), Ok(script));
        assert_eq!(nemesis(&Script::default()), "none");
    }

    #[test]
    fn any_text_is_read_or_refused() {
        let mut rng = Rng::from_seed(5);
        let mut refused = 0;
        for _ in 0..3_000 {
            let mut bytes = SOUND.as_bytes().to_vec();
            for _ in 0..rng.between(1, 4) {
                let at = rng.below(bytes.len() as u64) as usize;
                let with = *rng.pick(b"az09 -:{}[],!&*#'\n\t\x7f").expect("not empty");
                match rng.below(3) {
                    0 => bytes[at] = with,
                    1 => bytes.insert(at, with),
                    _ => drop(bytes.drain(at..(at + 9).min(bytes.len()))),
                }
            }
            let text = String::from_utf8(bytes).expect("ASCII only");
            if let Err(error) = read("mine.yaml", &text, &topology()) {
                refused += 1;
                assert!(error.to_string().starts_with("mine.yaml"), "{error}");
            }
        }
        assert!(refused > 1_000, "{refused}");
    }
}
