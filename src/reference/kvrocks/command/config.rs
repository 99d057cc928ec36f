//! `CONFIG GET` and `SET`.

use bytes::Bytes;

use super::lower;
use crate::reference::host::Host;
use crate::reference::kvrocks::dispatch::error;
use crate::reference::kvrocks::node::Node;
use crate::resp::Value;

pub fn config<H: Host>(node: &Node<H>, words: &[Bytes]) -> Value {
    match (lower(&words[1]).as_str(), &words[2..]) {
        ("get", [key]) => {
            let pairs = node.config(|config| config.get(&String::from_utf8_lossy(key)));
            let words = pairs.into_iter().flat_map(|(key, value)| [key, value]);
            Value::Array(words.map(Value::bulk).collect())
        }
        ("set", pairs) if !pairs.is_empty() && pairs.len() % 2 == 0 => set(node, pairs),
        ("rewrite" | "resetstat", []) => Value::ok(),
        _ => error("ERR CONFIG subcommand must be one of GET, SET, REWRITE"),
    }
}

fn set<H: Host>(node: &Node<H>, pairs: &[Bytes]) -> Value {
    let changed = node.reconfigure(|config| {
        pairs.chunks(2).try_for_each(|pair| {
            let [key, value] = [0, 1].map(|part| String::from_utf8_lossy(&pair[part]));
            config.change(&key, &value)
        })
    });
    changed.map_or_else(|wrong| error(format!("ERR {wrong}")), |()| Value::ok())
}
