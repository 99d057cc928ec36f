//! Settings of the services' own configuration: how a file writes them, and whether they fit, told before
//! anything is started.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

use super::{REFERENCE, ScenarioError, WorkloadSpec};
use crate::checker::World;
use crate::cluster::{Role, Settings, check_settings, fill_lines, fill_yaml};
use crate::reference::{ControllerVariant, NodeVariant, controller, kvrocks};

/// What will read the settings.
pub(super) struct Served<'a> {
    pub world: World,
    pub images: &'a BTreeMap<String, String>,
}

impl Served<'_> {
    /// It will be a server of our own, whose keys are known. What images take is theirs to say.
    fn is_ours(&self, role: Role) -> bool {
        self.world == World::Sim
            || self.images.get(role.name()).is_some_and(|image| image == REFERENCE)
    }
}

/// Refuses settings that no server of the role would take.
pub(super) fn check(
    workload: &str,
    spec: &WorkloadSpec,
    served: &Served,
) -> Result<(), ScenarioError> {
    for (role, settings) in &spec.config {
        let one_by_one = settings.iter().map(|(key, value)| (Some(key), alone(key, value)));
        let all = std::iter::once((None, settings.clone()));
        for (key, some) in one_by_one.chain(all) {
            fits(*role, &some, served).map_err(|message| {
                let key = key.map_or(String::new(), |key| format!(".{key}"));
                let (workload, field) = (workload.to_owned(), format!("config.{role}{key}"));
                ScenarioError::Settings { workload, field, message }
            })?;
        }
    }
    Ok(())
}

fn alone(key: &str, value: &str) -> Settings {
    [(key.to_owned(), value.to_owned())].into()
}

fn fits(role: Role, settings: &Settings, served: &Served) -> Result<(), String> {
    check_settings(role, settings)?;
    let is_ours = served.is_ours(role);
    match role {
        Role::Zookeeper => {
            fill_lines("", '=', settings)?;
            match settings.keys().next().filter(|_| served.world == World::Sim) {
                Some(_) => Err("simulated ZooKeeper servers have no settings; leave it out, or \
                                add --world docker"
                    .to_owned()),
                None => Ok(()),
            }
        }
        Role::Controller => {
            let text = fill_yaml(CONTROLLER_YAML, settings)?;
            let parsed = controller::Config::parse(ControllerVariant::default(), &text);
            parsed.map(drop).or_else(|error| if is_ours { Err(error.to_string()) } else { Ok(()) })
        }
        Role::Kvrocks => {
            let text = fill_lines("", ' ', settings)?;
            let parsed = kvrocks::Config::parse(NodeVariant::default(), &text);
            parsed.map(drop).or_else(|error| if is_ours { Err(error.to_string()) } else { Ok(()) })
        }
    }
}

/// What the cluster itself fills in of a controller's configuration; where does not matter here.
const CONTROLLER_YAML: &str = "
addr: 10.0.0.21:9379
storage_type: zookeeper
zookeeper: { addrs: [\"10.0.0.11:2181\"] }
";

/// By role; values may be written as text, numbers or yes and no.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<Role, Settings>, D::Error> {
    let written = BTreeMap::<Role, BTreeMap<String, Scalar>>::deserialize(deserializer)?;
    let plain = |settings: BTreeMap<String, Scalar>| {
        settings.into_iter().map(|(key, Scalar(value))| (key, value)).collect()
    };
    Ok(written.into_iter().map(|(role, settings)| (role, plain(settings))).collect())
}

/// A value as the service's configuration will have it.
struct Scalar(String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scalar, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("one value, such as 1, raw-key-value or \"a text\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar(text.to_owned()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }

    fn visit_bool<E: Error>(self, is_so: bool) -> Result<Scalar, E> {
        Ok(Scalar(if is_so { "yes" } else { "no" }.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::scenario::{Overrides, Scenario};

    fn loaded(world: World, set: &str) -> String {
        let set = vec![format!("config.{set}")];
        let images = match world {
            World::Sim => BTreeMap::new(),
            World::Docker => [("kvrocks".to_owned(), "apache/kvrocks:2.10.1".to_owned())].into(),
        };
        let overrides = Overrides { set, images, ..Overrides::default() };
        let loaded = Scenario::load("kvrocks/migration", "none", world, 1, &overrides);
        match loaded {
            Ok(scenario) => format!("{:?}", scenario.workload.config),
            Err(error) => error.to_string(),
        }
    }

    fn check(world: World, set: &str, expected: Expect) {
        expected.assert_eq(&loaded(world, set));
    }

    #[test]
    fn what_no_server_takes_is_refused_with_its_field() {
        let refused = [
            "kvrocks.port=nonsense",
            "kvrocks.nosuch=1",
            "kvrocks.migrate-type=teleport",
            "kvrocks.migrate-speed=fast",
            "controller.storage_type=etcd",
            "controller.controller.failover.max_ping_count=1",
            "zookeeper.tickTime=500",
            "kvrocks=3",
            "kvrocks.workers=[1,2]",
            "node.workers=1",
        ];
        let told = refused.map(|set| loaded(World::Sim, set)).join("\n");
        expect![[r#"
            workload kvrocks/migration: field `config.kvrocks.port`: port is set by the cluster itself; expected any key but bind, port, dir, daemonize, log-dir, cluster-enabled
            workload kvrocks/migration: field `config.kvrocks.nosuch`: kvrocks.conf has no key `nosuch`; see its documentation for the keys it has
            workload kvrocks/migration: field `config.kvrocks.migrate-type`: migrate-type `teleport`: expected redis-command or raw-key-value
            workload kvrocks/migration: field `config.kvrocks.migrate-speed`: migrate-speed `fast`: expected a number from 0 to 2147483647
            workload kvrocks/migration: field `config.controller.storage_type`: storage_type is set by the cluster itself; expected any key but addr, storage_type, zookeeper, zookeeper.addrs, zookeeper.elect_path
            workload kvrocks/migration: field `config.controller.controller.failover.max_ping_count`: config.yaml: controller.failover.max_ping_count: expected at least 3, found `1`
            workload kvrocks/migration: field `config.zookeeper.tickTime`: simulated ZooKeeper servers have no settings; leave it out, or add --world docker
            workloads/kvrocks/migration.yaml with --set config.kvrocks=3: config.kvrocks: invalid type: integer `3`, expected a map; correct it, `stormglass describe kvrocks/register` shows a sound workload
            workloads/kvrocks/migration.yaml with --set config.kvrocks.workers=[1,2]: config.kvrocks.workers: invalid type: sequence, expected one value, such as 1, raw-key-value or "a text"; correct it, `stormglass describe kvrocks/register` shows a sound workload
            workloads/kvrocks/migration.yaml with --set config.node.workers=1: config: unknown choice `node`, expected one of `zookeeper`, `controller`, `kvrocks`; correct it, `stormglass describe kvrocks/register` shows a sound workload"#]].assert_eq(&told);
    }

    #[test]
    fn what_a_server_takes_is_kept_as_its_file_will_have_it() {
        check(
            World::Sim,
            "controller.controller.failover.max_ping_count=7",
            expect![[
                r#"{Controller: {"controller.failover.max_ping_count": "7"}, Kvrocks: {"migrate-batch-rate-limit-mb": "1", "migrate-type": "raw-key-value"}}"#
            ]],
        );
        check(
            World::Sim,
            "kvrocks.slave-read-only=true",
            expect![[
                r#"{Kvrocks: {"migrate-batch-rate-limit-mb": "1", "migrate-type": "raw-key-value", "slave-read-only": "yes"}}"#
            ]],
        );
    }

    #[test]
    fn what_keys_an_image_knows_is_left_to_it() {
        check(
            World::Docker,
            "kvrocks.nosuch=1",
            expect![[
                r#"{Kvrocks: {"migrate-batch-rate-limit-mb": "1", "migrate-type": "raw-key-value", "nosuch": "1"}}"#
            ]],
        );
        check(
            World::Docker,
            "kvrocks.port=7",
            expect![
                "workload kvrocks/migration: field `config.kvrocks.port`: port is set by the cluster itself; expected any key but bind, port, dir, daemonize, log-dir, cluster-enabled"
            ],
        );
        check(
            World::Docker,
            "zookeeper.tickTime=500",
            expect![[
                r#"{Zookeeper: {"tickTime": "500"}, Kvrocks: {"migrate-batch-rate-limit-mb": "1", "migrate-type": "raw-key-value"}}"#
            ]],
        );
    }
}
