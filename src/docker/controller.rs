//! How a kvrocks controller is configured in a container, real or reference.
//!
//! The path is that of the official image. A controller is reached under the address that it puts into
//! its leader znode, so it is its node's.

use std::net::SocketAddr;

use crate::cluster::{Node, Role, fill_yaml};
use crate::docker::archive::Archive;
use crate::docker::images::Context;
use crate::docker::outfit::{Outfit, Setting};

const CONFIGURATION: &str = "/var/lib/kvctl/config.yaml";

/// The template in the image's folder.
const TEMPLATE: &str = "config.yaml";

pub(super) fn outfit(setting: &Setting<'_>) -> Result<Outfit, String> {
    let context = Context::load("controller").map_err(|error| error.to_string())?;
    let mut settings = setting.config.clone();
    let servers = setting.topology.with_role(Role::Zookeeper).map(|node| quoted(address(node)));
    let servers: Vec<String> = servers.collect();
    if servers.is_empty() {
        return Err(
            "controllers keep their topology in ZooKeeper, and there is none; expected one \
                    or more nodes of the service `zookeeper`"
                .to_owned(),
        );
    }
    settings.insert("addr".to_owned(), quoted(address(setting.node)));
    settings.insert("zookeeper.addrs".to_owned(), format!("[{}]", servers.join(", ")));
    let configuration = fill_yaml(&context.text(TEMPLATE)?, &settings)?;
    let mut archive = Archive::new();
    archive.add(CONFIGURATION.trim_start_matches('/'), 0o644, configuration.as_bytes());
    let reference = ["controller", "--config", CONFIGURATION, "--variant", setting.variant];
    let reference = reference.map(str::to_owned).to_vec();
    Ok(Outfit { files: archive.into_bytes(), environment: Vec::new(), reference })
}

/// Where a node takes its clients.
fn address(node: &Node) -> SocketAddr {
    (node.address, node.role.client_port().0).into()
}

fn quoted(address: SocketAddr) -> String {
    format!("\"{address}\"")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::docker::outfit::tests::{files, outfit};

    #[test]
    fn a_controller_knows_its_own_address_and_zookeepers() {
        let slow = ("controller.failover.ping_interval_seconds", "4");
        let made = outfit("controller2", &[slow]).expect("made");
        expect![[r#"
            addr: 10.0.0.13:9379
            storage_type: zookeeper
            zookeeper:
              addrs:
              - 10.0.0.11:2181
            controller:
              failover:
                ping_interval_seconds: 4
                max_ping_count: 3
        "#]]
        .assert_eq(&files(&made)["var/lib/kvctl/config.yaml"]);
        assert_eq!(
            made.reference.join(" "),
            "controller --config /var/lib/kvctl/config.yaml --variant as-shipped"
        );
    }
}
