//! `COMMAND`: the table of commands, for clients that look up where keys are.

use bytes::Bytes;

use super::lower;
use super::table::{self, Own};
use crate::reference::kvrocks::dispatch::error;
use crate::reference::kvrocks::store::{self, Command, Keys};
use crate::resp::Value;

pub fn command(words: &[Bytes]) -> Value {
    let Some(subcommand) = words.get(1) else { return all() };
    match lower(subcommand).as_str() {
        "count" => Value::Int((store::commands().len() + table::TABLE.len()) as i64),
        "info" => Value::Array(words[2..].iter().map(one).collect()),
        "getkeys" => keys(&words[2..]),
        _ => error("ERR Unknown subcommand or wrong number of arguments"),
    }
}

fn all() -> Value {
    let on_keys = store::commands().iter().map(on_keys);
    Value::Array(on_keys.chain(table::TABLE.iter().map(own)).collect())
}

fn one(name: &Bytes) -> Value {
    let on_keys = store::lookup(name).map(on_keys);
    on_keys.or_else(|| table::lookup(name).map(own)).unwrap_or(Value::NullArray)
}

fn on_keys(command: &Command) -> Value {
    let (first, last, step) = match command.keys {
        Keys::None | Keys::Counted { .. } => (0, 0, 0),
        Keys::Range { first, last, step } => (first as i64, i64::from(last), step as i64),
    };
    told(command.name, command.arity, command.write, first, last, step)
}

fn own(own: &Own) -> Value {
    let keys = if own.has_keys { (1, -1, 1) } else { (0, 0, 0) };
    told(own.name, own.arity, own.writes, keys.0, keys.1, keys.2)
}

fn told(name: &str, arity: i32, writes: bool, first: i64, last: i64, step: i64) -> Value {
    let flag = if writes { "write" } else { "readonly" };
    Value::Array(vec![
        Value::bulk(name.to_owned()),
        Value::Int(arity.into()),
        Value::Array(vec![Value::bulk(flag)]),
        Value::Int(first),
        Value::Int(last),
        Value::Int(step),
    ])
}

fn keys(words: &[Bytes]) -> Value {
    let Some(name) = words.first() else { return error("ERR wrong number of arguments") };
    match store::lookup(name) {
        Some(command) if command.takes(words.len()) => {
            Value::Array(command.keys(words).into_iter().cloned().map(Value::Bulk).collect())
        }
        Some(_) => error("ERR Invalid number of arguments specified for command"),
        None => error("ERR Invalid command specified"),
    }
}
