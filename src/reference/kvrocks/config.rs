//! A node's configuration: kvrocks.conf's keys, of which this node heeds some and knows the rest.

mod keys;
#[cfg(test)]
mod tests;

use std::time::Duration;

use indexmap::IndexMap;

use super::log::SyncPolicy;
use crate::reference::NodeVariant;

/// Why a configuration is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("kvrocks.conf has no key `{0}`; see its documentation for the keys it has")]
    UnknownKey(String),
    #[error("{key} `{value}`: expected {expected}")]
    BadValue { key: String, value: String, expected: String },
    #[error("line {line}: `{key}` has no value; expected `key value`")]
    NoValue { line: usize, key: String },
    #[error("{0} cannot be changed while the node runs")]
    Fixed(String),
}

/// How the data of a slot travel to its new owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrateType {
    /// As commands, a pipeline of them at a time.
    RedisCommand,
    /// As entries of the store, in batches.
    RawKeyValue,
}

impl MigrateType {
    /// As the log says it.
    pub fn words(self) -> &'static str {
        match self {
            MigrateType::RedisCommand => "redis command",
            MigrateType::RawKeyValue => "raw key value",
        }
    }
}

/// What a node is told before it starts; the migration's part may change while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub variant: NodeVariant,
    pub port: u16,
    pub is_cluster: bool,
    /// The topology is written to `nodes.conf` and read from there at start.
    pub keeps_topology: bool,
    /// When writes go to the disk itself.
    pub sync: SyncPolicy,
    pub serves_stale_data: bool,
    pub max_clients: u32,
    pub migrate_type: MigrateType,
    /// Keys a second; `None` is as fast as it goes.
    pub migrate_speed: Option<u32>,
    pub migrate_pipeline_size: u32,
    /// With at most so many records behind, the slot's writes are forbidden and the rest is sent.
    pub migrate_sequence_gap: u64,
    pub migrate_batch_size: u64,
    /// Bytes a second; `None` is as fast as it goes.
    pub migrate_batch_rate: Option<u64>,
    /// How long after it last heard a controller a master of the variant `lease` takes writes.
    pub lease: Duration,
    /// All that was given, by key, for `CONFIG GET`.
    given: IndexMap<String, String>,
}

impl Config {
    /// What the shipped kvrocks.conf says, but for a cluster.
    pub fn new(variant: NodeVariant) -> Config {
        Config {
            variant,
            port: 6666,
            is_cluster: true,
            keeps_topology: true,
            sync: SyncPolicy::Never,
            serves_stale_data: true,
            max_clients: 10_000,
            migrate_type: MigrateType::RedisCommand,
            migrate_speed: Some(4096),
            migrate_pipeline_size: 16,
            migrate_sequence_gap: 10_000,
            migrate_batch_size: 16 << 10,
            migrate_batch_rate: Some(16 << 20),
            lease: Duration::from_millis(2500),
            given: IndexMap::new(),
        }
    }

    /// Takes keys of kvrocks.conf. Those that the real program has and that mean nothing here are kept
    /// for `CONFIG GET`.
    pub fn from_pairs(
        variant: NodeVariant,
        pairs: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Config, ConfigError> {
        let mut config = Config::new(variant);
        for (key, value) in pairs {
            config.put(&key, &value)?;
        }
        Ok(config)
    }

    /// Reads a kvrocks.conf: `key value` a line, `#` before a comment.
    pub fn parse(variant: NodeVariant, text: &str) -> Result<Config, ConfigError> {
        let mut config = Config::new(variant);
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some((key, value)) = line.split_once(char::is_whitespace) else {
                return Err(ConfigError::NoValue { line: index + 1, key: line.to_owned() });
            };
            config.put(key, unquoted(value.trim()))?;
        }
        Ok(config)
    }

    /// Sets a key before the start.
    pub fn put(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        let key = key.to_ascii_lowercase();
        keys::apply(self, &key, value)?;
        self.given.insert(key, value.to_owned());
        Ok(())
    }

    /// Sets a key while the node runs.
    pub fn change(&mut self, key: &str, value: &str) -> Result<(), ConfigError> {
        let key = key.to_ascii_lowercase();
        if keys::is_fixed(&key) {
            return Err(ConfigError::Fixed(key));
        }
        self.put(&key, value)
    }

    /// What `CONFIG GET` answers to this key, `*` for all.
    pub fn get(&self, key: &str) -> Vec<(String, String)> {
        let key = key.to_ascii_lowercase();
        let mut all: IndexMap<String, String> =
            keys::shown(self).map(|(key, value)| (key.to_owned(), value)).collect();
        for (key, value) in &self.given {
            all.entry(key.clone()).or_insert_with(|| value.clone());
        }
        match key == "*" {
            true => all.into_iter().collect(),
            false => all.swap_remove(&key).map(|value| (key, value)).into_iter().collect(),
        }
    }
}

fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}
