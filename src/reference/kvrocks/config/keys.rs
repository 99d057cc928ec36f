//! The keys of kvrocks.conf: what each may be, and where its value goes.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use super::{Config, ConfigError, MigrateType};
use crate::reference::kvrocks::log::SyncPolicy;

/// Keys that the real program has and this node does not heed, with those of whole families.
const UNHEEDED: &str = "bind unixsocket unixsocketperm workers daemonize supervised pidfile dir backup-dir \
    log-dir log-level log-retention-days timeout tcp-backlog requirepass masterauth slaveof db-name \
    max-backup-to-keep max-backup-keep-hours slave-empty-db-before-fullsync slave-read-only slave-priority \
    slave-announce-ip slave-announce-port replication-connect-timeout-ms replication-recv-timeout-ms \
    replication-group-sync replication-no-slowdown master-use-repl-port use-rsid-psync max-db-size \
    max-replication-mb max-io-mb max-bitmap-to-string-mb compact-cron bgsave-cron dbsize-scan-cron \
    compaction-checker-range compaction-checker-cron fullsync-recv-file-delay redis-cursor-compatible \
    resp3-enabled repl-namespace-enabled proto-max-bulk-len json-max-nesting-depth json-storage-format \
    txn-context-enabled histogram-bucket-boundaries skip-block-cache-deallocation-on-close \
    lua-strict-key-accessing auto-resize-block-and-sst rename-command tls-port socket-fd sync-migrate-timeout";
const UNHEEDED_FAMILIES: &[&str] =
    &["rocksdb.", "tls-", "namespace.", "profiling-", "slowlog-", "compaction-checker-"];

/// Keys that are read at the start only.
const FIXED: &str = "bind port workers daemonize supervised pidfile dir tcp-backlog cluster-enabled \
    unixsocket unixsocketperm slave-read-only db-name rename-command lease-ms rocksdb.write_options.sync";

pub fn is_fixed(key: &str) -> bool {
    FIXED.split_whitespace().any(|fixed| fixed == key)
}

fn is_unheeded(key: &str) -> bool {
    UNHEEDED.split_whitespace().any(|known| known == key)
        || UNHEEDED_FAMILIES.iter().any(|family| key.starts_with(family))
}

/// Puts a value where it belongs.
pub fn apply(config: &mut Config, key: &str, value: &str) -> Result<(), ConfigError> {
    let given = Given { key, value };
    match key {
        "port" => config.port = given.number(1..=u16::MAX)?,
        "cluster-enabled" => config.is_cluster = given.yes_or_no()?,
        "persist-cluster-nodes-enabled" => config.keeps_topology = given.yes_or_no()?,
        SyncPolicy::KEY => config.sync = given.sync_policy()?,
        "slave-serve-stale-data" => config.serves_stale_data = given.yes_or_no()?,
        "maxclients" => config.max_clients = given.number(1..=1_000_000)?,
        "migrate-type" => config.migrate_type = given.migrate_type()?,
        "migrate-speed" => config.migrate_speed = unless_0(given.number(0..=i32::MAX as u32)?),
        "migrate-pipeline-size" => {
            config.migrate_pipeline_size = given.number(1..=i32::MAX as u32)?;
        }
        "migrate-sequence-gap" => {
            config.migrate_sequence_gap = given.number(1..=i32::MAX as u64)?
        }
        "migrate-batch-size-kb" => {
            config.migrate_batch_size = given.number(1..=i32::MAX as u64)? << 10;
        }
        "migrate-batch-rate-limit-mb" => {
            config.migrate_batch_rate =
                unless_0(given.number(0..=i32::MAX as u64)?).map(|rate| rate << 20);
        }
        "lease-ms" => config.lease = Duration::from_millis(given.number(1..=3_600_000)?),
        _ if is_unheeded(key) => {}
        _ => return Err(ConfigError::UnknownKey(key.to_owned())),
    }
    Ok(())
}

/// The keys that this node heeds, with their values.
pub fn shown(config: &Config) -> impl Iterator<Item = (&'static str, String)> {
    let yes_or_no = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let migrate_type = match config.migrate_type {
        MigrateType::RedisCommand => "redis-command",
        MigrateType::RawKeyValue => "raw-key-value",
    };
    [
        ("port", config.port.to_string()),
        ("cluster-enabled", yes_or_no(config.is_cluster)),
        ("persist-cluster-nodes-enabled", yes_or_no(config.keeps_topology)),
        (SyncPolicy::KEY, config.sync.to_string()),
        ("slave-serve-stale-data", yes_or_no(config.serves_stale_data)),
        ("maxclients", config.max_clients.to_string()),
        ("migrate-type", migrate_type.to_owned()),
        ("migrate-speed", config.migrate_speed.unwrap_or(0).to_string()),
        ("migrate-pipeline-size", config.migrate_pipeline_size.to_string()),
        ("migrate-sequence-gap", config.migrate_sequence_gap.to_string()),
        ("migrate-batch-size-kb", (config.migrate_batch_size >> 10).to_string()),
        ("migrate-batch-rate-limit-mb", (config.migrate_batch_rate.unwrap_or(0) >> 20).to_string()),
        ("lease-ms", config.lease.as_millis().to_string()),
    ]
    .into_iter()
}

fn unless_0<T: Default + PartialEq>(number: T) -> Option<T> {
    (number != T::default()).then_some(number)
}

struct Given<'a> {
    key: &'a str,
    value: &'a str,
}

impl Given<'_> {
    fn refuse(&self, expected: impl Display) -> ConfigError {
        ConfigError::BadValue {
            key: self.key.to_owned(),
            value: self.value.to_owned(),
            expected: expected.to_string(),
        }
    }

    fn yes_or_no(&self) -> Result<bool, ConfigError> {
        match self.value.to_ascii_lowercase().as_str() {
            "yes" => Ok(true),
            "no" => Ok(false),
            _ => Err(self.refuse("yes or no")),
        }
    }

    fn number<T>(&self, range: RangeInclusive<T>) -> Result<T, ConfigError>
    where
        T: FromStr + PartialOrd + Display,
    {
        let number = self.value.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            self.refuse(format_args!("a number from {} to {}", range.start(), range.end()))
        })
    }

    fn sync_policy(&self) -> Result<SyncPolicy, ConfigError> {
        self.value.parse().map_err(|_| self.refuse("yes, everysec or no"))
    }

    fn migrate_type(&self) -> Result<MigrateType, ConfigError> {
        match self.value {
            "redis-command" => Ok(MigrateType::RedisCommand),
            "raw-key-value" => Ok(MigrateType::RawKeyValue),
            _ => Err(self.refuse("redis-command or raw-key-value")),
        }
    }
}
