//! The controller's `config.yaml`, with the real one's keys, defaults and limits.

use std::net::SocketAddrV4;
use std::time::Duration;

use serde::Deserialize;

use crate::reference::ControllerVariant;

/// How one controller is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub variant: ControllerVariant,
    /// Where it is reached: what redirects name. It listens on this port of all addresses.
    pub addr: SocketAddrV4,
    /// ZooKeeper servers, tried in turn.
    pub zookeeper: Vec<SocketAddrV4>,
    /// The znode whose owner leads.
    pub elect_path: String,
    pub ping_interval: Duration,
    /// So many failed probes in a row make a failover.
    pub max_ping_count: u64,
}

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("config.yaml: {0}")]
    Yaml(String),
    #[error("config.yaml: the key {key} is missing or empty: expected {expected}")]
    Missing { key: &'static str, expected: &'static str },
    #[error("config.yaml: {key}: expected {expected}, found `{found}`")]
    Value { key: &'static str, expected: &'static str, found: String },
}

/// The file as it is written. Keys that mean nothing here are passed over, as the real one does.
#[derive(Deserialize)]
#[serde(default)]
struct File {
    addr: String,
    /// The real one takes etcd where it is missing.
    storage_type: Option<String>,
    zookeeper: Zookeeper,
    controller: Controller,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Zookeeper {
    addrs: Vec<String>,
    elect_path: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Controller {
    failover: Failover,
}

#[derive(Deserialize)]
#[serde(default)]
struct Failover {
    ping_interval_seconds: u64,
    max_ping_count: u64,
}

impl Default for File {
    fn default() -> File {
        File {
            addr: "127.0.0.1:9379".to_owned(),
            storage_type: None,
            zookeeper: Zookeeper::default(),
            controller: Controller::default(),
        }
    }
}

impl Default for Failover {
    fn default() -> Failover {
        Failover { ping_interval_seconds: 3, max_ping_count: 5 }
    }
}

impl Config {
    pub const ELECT_PATH: &str = "/kvrocks/controller/leader";

    /// Reads a `config.yaml`.
    pub fn parse(variant: ControllerVariant, yaml: &str) -> Result<Config, ConfigError> {
        let file: Option<File> =
            serde_yaml::from_str(yaml).map_err(|error| ConfigError::Yaml(error.to_string()))?;
        let file = file.unwrap_or_default();
        match file.storage_type.as_deref() {
            Some("zookeeper") => {}
            Some(other) => {
                return wrong("storage_type", "zookeeper, the only one served here", other);
            }
            None => {
                let expected = "`storage_type: zookeeper`, the only one served here";
                return Err(ConfigError::Missing { key: "storage_type", expected });
            }
        }
        let addr = address("addr", &file.addr)?;
        let servers = file.zookeeper.addrs.iter();
        let zookeeper: Vec<_> =
            servers.map(|server| address("zookeeper.addrs", server)).collect::<Result<_, _>>()?;
        if zookeeper.is_empty() {
            let expected = "at least one server, such as [\"10.0.0.11:2181\"]";
            return Err(ConfigError::Missing { key: "zookeeper.addrs", expected });
        }
        let elect_path = match file.zookeeper.elect_path {
            Some(path) if !path.is_empty() => path,
            _ => Config::ELECT_PATH.to_owned(),
        };
        if !elect_path.starts_with('/') || elect_path.ends_with('/') {
            return wrong("zookeeper.elect_path", "an absolute path of a znode", elect_path);
        }
        let Failover { ping_interval_seconds, max_ping_count } = file.controller.failover;
        if ping_interval_seconds < 1 {
            let key = "controller.failover.ping_interval_seconds";
            return wrong(key, "at least 1", ping_interval_seconds.to_string());
        }
        if max_ping_count < 3 {
            let key = "controller.failover.max_ping_count";
            return wrong(key, "at least 3", max_ping_count.to_string());
        }
        let ping_interval = Duration::from_secs(ping_interval_seconds);
        Ok(Config { variant, addr, zookeeper, elect_path, ping_interval, max_ping_count })
    }
}

fn address(key: &'static str, text: &str) -> Result<SocketAddrV4, ConfigError> {
    match text.parse() {
        Ok(address) => Ok(address),
        Err(_) => wrong(key, "an IPv4 address with a port, such as 10.0.0.21:9379", text),
    }
}

fn wrong<T>(
    key: &'static str,
    expected: &'static str,
    found: impl Into<String>,
) -> Result<T, ConfigError> {
    Err(ConfigError::Value { key, expected, found: found.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"
addr: "10.0.0.21:9379"
storage_type: zookeeper
zookeeper: {addrs: ["10.0.0.10:2181", "10.0.0.11:2181"], scheme: , auth: , elect_path: }
controller: {failover: {ping_interval_seconds: 1, max_ping_count: 3}}
log: {level: info, filename: /dev/null, max_backups: 3}
"#;

    fn parse(yaml: &str) -> Result<Config, String> {
        Config::parse(ControllerVariant::Cas, yaml).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_of_the_real_one_is_read() {
        let config = parse(FULL).expect("sound");
        assert_eq!(config.variant, ControllerVariant::Cas);
        assert_eq!(config.addr.to_string(), "10.0.0.21:9379");
        assert_eq!(config.zookeeper.len(), 2);
        assert_eq!(config.elect_path, "/kvrocks/controller/leader");
        assert_eq!((config.ping_interval.as_secs(), config.max_ping_count), (1, 3));
    }

    #[test]
    fn what_is_left_out_is_as_in_the_real_one() {
        let yaml =
            "storage_type: zookeeper\nzookeeper: {addrs: ['10.0.0.10:2181'], elect_path: /a/b}";
        let config = parse(yaml).expect("sound");
        assert_eq!(config.addr.to_string(), "127.0.0.1:9379");
        assert_eq!(config.elect_path, "/a/b");
        assert_eq!((config.ping_interval.as_secs(), config.max_ping_count), (3, 5));
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_was_expected() {
        for (from, to, expected) in [
            ("storage_type: zookeeper", "", "the key storage_type is missing"),
            ("\"10.0.0.10:2181\"", "\"zoo:2181\"", "an IPv4 address with a port"),
            ("\"10.0.0.10:2181\", \"10.0.0.11:2181\"", "", "at least one server"),
            ("10.0.0.21:9379", "10.0.0.21", "addr: expected an IPv4 address"),
            ("elect_path: ", "elect_path: leader", "an absolute path"),
            ("seconds: 1", "seconds: 0", "at least 1"),
            ("count: 3", "count: 2", "at least 3"),
            ("seconds: 1", "seconds: soon", "config.yaml: "),
            ("addr:", "addr: [", "config.yaml: "),
        ] {
            let error = parse(&FULL.replace(from, to)).expect_err(to);
            assert!(error.contains(expected), "{error}");
        }
        assert!(parse("").expect_err("nothing").contains("storage_type"));
    }
}
