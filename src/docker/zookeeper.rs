//! How a ZooKeeper server is configured in a container.
//!
//! The paths are those of the official image, so that any image laid out like it works.

use std::net::{Ipv4Addr, SocketAddr};

use crate::client::zookeeper::CLIENT_PORT;
use crate::cluster::{Role, fill_lines};
use crate::docker::archive::Archive;
use crate::docker::outfit::{Outfit, Setting};

/// A tick of the servers' clock. Half a second keeps elections near one second.
const TICK_MS: u32 = 500;

/// A deposed leader, or a follower cut off, goes on answering for so many ticks: two seconds.
const SYNC_LIMIT_TICKS: u32 = 4;

const INIT_LIMIT_TICKS: u32 = 10;

/// Flags that make a small JVM start fast: one compiler, one collector, a small heap.
const JVM_FLAGS: &str = "-Xms128m -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
                         -XX:-UsePerfData -Djava.net.preferIPv4Stack=true";

pub(super) fn outfit(setting: &Setting<'_>) -> Result<Outfit, String> {
    let number = setting.number;
    let ensemble = setting.topology.with_role(Role::Zookeeper).map(|node| node.address);
    let ensemble: Vec<Ipv4Addr> = ensemble.collect();
    let configuration = fill_lines(&configuration(&ensemble), '=', setting.config)?;
    let mut archive = Archive::new();
    archive.add("conf/zoo.cfg", 0o644, configuration.as_bytes());
    archive.add("data/myid", 0o644, format!("{number}\n").as_bytes());
    let environment = vec![
        format!("JVMFLAGS={JVM_FLAGS}"),
        "JMXDISABLE=true".to_owned(),
        format!("ZOO_MY_ID={number}"),
    ];
    Ok(Outfit { files: archive.into_bytes(), environment, reference: Vec::new() })
}

/// The address on which a server takes clients.
pub(super) fn client_address(address: Ipv4Addr) -> SocketAddr {
    (address, CLIENT_PORT).into()
}

fn configuration(ensemble: &[Ipv4Addr]) -> String {
    let mut text = format!(
        "tickTime={TICK_MS}\n\
         initLimit={INIT_LIMIT_TICKS}\n\
         syncLimit={SYNC_LIMIT_TICKS}\n\
         minSessionTimeout={}\n\
         maxSessionTimeout=60000\n\
         clientPort={CLIENT_PORT}\n\
         dataDir=/data\n\
         dataLogDir=/datalog\n\
         maxClientCnxns=0\n\
         admin.enableServer=false\n\
         4lw.commands.whitelist=srvr,mntr,stat,ruok,dump,cons\n\
         autopurge.snapRetainCount=3\n\
         autopurge.purgeInterval=1\n\
         preAllocSize=4096\n",
        2 * TICK_MS
    );
    if let [_, _, ..] = ensemble {
        text.push_str("standaloneEnabled=false\n");
        for (index, address) in ensemble.iter().enumerate() {
            text.push_str(&format!("server.{}={address}:2888:3888\n", index + 1));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn an_ensemble_lists_its_servers() {
        let ensemble = [Ipv4Addr::new(10, 0, 0, 11), Ipv4Addr::new(10, 0, 0, 12)];
        expect![[r#"
            tickTime=500
            initLimit=10
            syncLimit=4
            minSessionTimeout=1000
            maxSessionTimeout=60000
            clientPort=2181
            dataDir=/data
            dataLogDir=/datalog
            maxClientCnxns=0
            admin.enableServer=false
            4lw.commands.whitelist=srvr,mntr,stat,ruok,dump,cons
            autopurge.snapRetainCount=3
            autopurge.purgeInterval=1
            preAllocSize=4096
            standaloneEnabled=false
            server.1=10.0.0.11:2888:3888
            server.2=10.0.0.12:2888:3888
        "#]]
        .assert_eq(&configuration(&ensemble));
    }

    #[test]
    fn one_server_stands_alone() {
        assert!(!configuration(&[Ipv4Addr::LOCALHOST]).contains("server."));
    }
}
