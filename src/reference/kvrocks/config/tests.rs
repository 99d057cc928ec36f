//! What a configuration may say, and what is refused with which words.

use super::*;

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(NodeVariant::AsShipped, text)
}

#[test]
fn a_file_as_people_write_it_is_read() {
    let config = parse(
        "# a node\nbind 0.0.0.0\n\nport 7000\n  MIGRATE-TYPE raw-key-value\nmigrate-speed 0\n\
         rocksdb.block_cache_size 64\nsave \"\"\n",
    );
    assert_eq!(config, Err(ConfigError::UnknownKey("save".into())));
    let config = parse("port 7000\nmigrate-type \"raw-key-value\"\nmigrate-speed 0\nworkers 2\n")
        .expect("a sound file");
    assert_eq!((config.port, config.migrate_type), (7000, MigrateType::RawKeyValue));
    assert_eq!(config.migrate_speed, None);
    assert_eq!(config.get("WORKERS"), [("workers".to_owned(), "2".to_owned())]);
    assert_eq!(config.get("migrate-*"), []);
    assert_eq!(config.get("migrate-speed"), [("migrate-speed".to_owned(), "0".to_owned())]);
    assert!(config.get("*").len() > 10);
}

#[test]
fn nonsense_is_refused_with_what_was_expected() {
    for (text, said) in [
        ("port 0", "port `0`: expected a number from 1 to 65535"),
        ("port", "line 1: `port` has no value; expected `key value`"),
        ("cluster-enabled maybe", "cluster-enabled `maybe`: expected yes or no"),
        ("migrate-type x", "migrate-type `x`: expected redis-command or raw-key-value"),
        ("migrate-speed -1", "migrate-speed `-1`: expected a number from 0 to 2147483647"),
        (
            "colour red",
            "kvrocks.conf has no key `colour`; see its documentation for the keys it has",
        ),
    ] {
        assert_eq!(parse(text).expect_err(text).to_string(), said);
    }
}

#[test]
fn the_migration_may_be_changed_while_the_node_runs_and_its_port_may_not() {
    let mut config = parse("").expect("nothing is enough");
    config.change("migrate-batch-rate-limit-mb", "1").expect("may change");
    assert_eq!(config.migrate_batch_rate, Some(1 << 20));
    assert_eq!(config.change("port", "1"), Err(ConfigError::Fixed("port".into())));
}
