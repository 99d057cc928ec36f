//! Services' configuration files, made from a template with values put in their places. Text in, text
//! out.

use std::collections::BTreeMap;

use serde_yaml::{Mapping, Value};

use crate::cluster::Role;

/// Values by key; in YAML a key is a path such as `zookeeper.addrs`.
pub type Settings = BTreeMap<String, String>;

/// Keys on which it depends that nodes are found where they are looked for: no scenario sets them.
fn fixed_settings(role: Role) -> &'static [&'static str] {
    match role {
        Role::Zookeeper => &["clientPort", "dataDir", "dataLogDir", "4lw.commands.whitelist"],
        Role::Controller => {
            &["addr", "storage_type", "zookeeper", "zookeeper.addrs", "zookeeper.elect_path"]
        }
        Role::Kvrocks => &["bind", "port", "dir", "daemonize", "log-dir", "cluster-enabled"],
    }
}

/// An error where one of these settings is fixed.
pub fn check_settings(role: Role, settings: &Settings) -> Result<(), String> {
    let fixed = fixed_settings(role);
    match settings.keys().find(|key| fixed.contains(&key.as_str())) {
        Some(key) => Err(format!(
            "{key} is set by the cluster itself; expected any key but {}",
            fixed.join(", ")
        )),
        None => Ok(()),
    }
}

/// Fills a template of lines such as `key value`: values replace the template's, new keys come after.
pub fn fill_lines(template: &str, separator: char, settings: &Settings) -> Result<String, String> {
    let mut left: BTreeMap<&str, &str> = BTreeMap::new();
    for (key, value) in settings {
        check(key, value)?;
        left.insert(key, value);
    }
    let mut text = String::new();
    for line in template.lines() {
        let key = line.split(separator).next().unwrap_or_default();
        match left.remove(key) {
            Some(value) => text.push_str(&format!("{key}{separator}{value}\n")),
            None => text.push_str(&format!("{line}\n")),
        }
    }
    text.extend(left.into_iter().map(|(key, value)| format!("{key}{separator}{value}\n")));
    Ok(text)
}

/// One line of the file must stay one line.
fn check(key: &str, value: &str) -> Result<(), String> {
    let fits = |text: &str| !text.contains(['\n', '\r']);
    if key.is_empty() || key.contains([' ', '=', '#']) || !fits(key) {
        return Err(format!("`{key}` is no key: expected a word such as migrate-speed"));
    }
    if !fits(value) {
        return Err(format!("{key}: expected a value of one line"));
    }
    Ok(())
}

/// Fills a template in YAML: each value, itself in YAML, replaces what is at its path or is added there.
pub fn fill_yaml(template: &str, settings: &Settings) -> Result<String, String> {
    let mut document: Value =
        serde_yaml::from_str(template).map_err(|error| format!("the template: {error}"))?;
    for (path, text) in settings {
        let value: Value =
            serde_yaml::from_str(text).map_err(|error| format!("{path}: {error}"))?;
        put(&mut document, path, value)?;
    }
    serde_yaml::to_string(&document).map_err(|error| error.to_string())
}

fn put(document: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let mut place = document;
    for key in path.split('.') {
        if place.is_null() {
            *place = Value::Mapping(Mapping::new());
        }
        let Value::Mapping(mapping) = place else {
            return Err(format!("{path}: `{key}` would be below a value, expected a section"));
        };
        place = mapping.entry(Value::String(key.to_owned())).or_insert(Value::Null);
    }
    *place = value;
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn lines_are_replaced_in_place_and_new_ones_come_last() {
        let template = "# about\nmigrate-speed 4096\nmigrate-type redis-command\n";
        let wanted = settings(&[("migrate-type", "raw-key-value"), ("migrate", "x")]);
        let filled = fill_lines(template, ' ', &wanted).expect("filled");
        assert_eq!(filled, "# about\nmigrate-speed 4096\nmigrate-type raw-key-value\nmigrate x\n");
    }

    #[test]
    fn what_would_not_stay_one_line_is_refused() {
        for (key, value) in [("a", "1\nport 7"), ("a b", "1"), ("", "1"), ("#a", "1")] {
            assert!(fill_lines("", ' ', &settings(&[(key, value)])).is_err(), "{key:?}");
        }
    }

    #[test]
    fn yaml_is_set_by_path() {
        let template = "# about\naddr: x\nzookeeper:\n  addrs: []\n";
        let wanted = settings(&[
            ("addr", "\"10.0.0.21:9379\""),
            ("controller.failover.max_ping_count", "5"),
            ("zookeeper.addrs", r#"["10.0.0.11:2181", "10.0.0.12:2181"]"#),
        ]);
        expect![[r#"
            addr: 10.0.0.21:9379
            zookeeper:
              addrs:
              - 10.0.0.11:2181
              - 10.0.0.12:2181
            controller:
              failover:
                max_ping_count: 5
        "#]]
        .assert_eq(&fill_yaml(template, &wanted).expect("filled"));
    }

    #[test]
    fn paths_and_values_that_do_not_fit_are_named() {
        let error = |pair| fill_yaml("addr: x\n", &settings(&[pair])).expect_err("unfit");
        assert!(error(("addr.port", "1")).contains("`port` would be below a value"));
        assert!(error(("log", "{")).starts_with("log: "));
    }
}
