//! A naive model of some commands: no records, no order, everything copied.

use std::collections::{BTreeMap, HashMap};

use super::*;

#[derive(Clone, PartialEq)]
enum Held {
    Text(String),
    List(Vec<String>),
    Map(BTreeMap<String, String>),
}

/// Keys with what they hold and when they end.
#[derive(Default)]
pub struct Model(HashMap<String, (Held, Option<i64>)>);

fn bulk(text: Option<&String>) -> Value {
    text.map_or(Value::Null, |text| Value::bulk(text.clone()))
}

fn array<'a>(texts: impl IntoIterator<Item = &'a String>) -> Value {
    Value::Array(texts.into_iter().map(|text| bulk(Some(text))).collect())
}

impl Model {
    /// The reply; `None` for an error, whose text the model does not know.
    pub fn execute(&mut self, line: &[&str], now: i64) -> Option<Value> {
        self.0.retain(|_, (_, end)| end.is_none_or(|end| end >= now));
        let key = line.get(1).copied().unwrap_or_default().to_owned();
        let there = self.0.contains_key(&key);
        Some(match *line {
            ["GET", _] => bulk(self.text(&key)?.as_ref()),
            ["SET", _, value] => self.put(key, Held::Text(value.into()), None),
            ["SET", _, _, "NX"] if there => Value::Null,
            ["SET", _, _, "XX"] if !there => Value::Null,
            ["SET", _, value, _] => self.put(key, Held::Text(value.into()), None),
            ["SET", _, value, "PX", ms] => {
                self.put(key, Held::Text(value.into()), Some(now + ms.parse::<i64>().ok()?))
            }
            ["CAS", _, old, new] => match self.text(&key)? {
                None => Value::Int(-1),
                Some(value) if value == old => {
                    self.put(key, Held::Text(new.into()), None);
                    Value::Int(1)
                }
                Some(_) => Value::Int(0),
            },
            ["INCR", _] => {
                let sum = self.text(&key)?.map_or(Some(0), |text| text.parse::<i64>().ok())? + 1;
                self.change(key, Held::Text(sum.to_string()));
                Value::Int(sum)
            }
            ["APPEND", _, more] => {
                let text = self.text(&key)?.unwrap_or_default() + more;
                let length = text.len() as i64;
                self.change(key, Held::Text(text));
                Value::Int(length)
            }
            ["DEL", _] => Value::Int(self.0.remove(&key).is_some().into()),
            ["EXISTS", _] => Value::Int(there.into()),
            ["PEXPIRE", _, ms] => {
                let end = now + ms.parse::<i64>().ok()?;
                self.0.get_mut(&key).into_iter().for_each(|(_, at)| *at = Some(end));
                Value::Int(there.into())
            }
            ["PTTL", _] => Value::Int(match self.0.get(&key) {
                None => -2,
                Some((_, None)) => -1,
                Some((_, Some(end))) => end - now,
            }),
            ["RENAME", _, to] => {
                let held = self.0.remove(&key)?;
                self.0.insert(to.to_owned(), held);
                Value::ok()
            }
            ["RPUSH", _, a, b] => self.push(key, |list| list.extend([a.into(), b.into()]))?,
            ["LPUSH", _, a] => self.push(key, |list| list.insert(0, a.into()))?,
            ["LPOP", _] => self.pop(key, |list| list.remove(0))?,
            ["RPOP", _] => self.pop(key, |list| list.pop().unwrap_or_default())?,
            ["LREM", _, "0", value] => {
                let mut list = self.list(&key)?;
                let before = list.len();
                list.retain(|element| element != value);
                let removed = before - list.len();
                self.change(key, Held::List(list));
                Value::Int(removed as i64)
            }
            ["LRANGE", ..] => array(&self.list(&key)?),
            ["HSET", _, field, value] => {
                let mut map = self.map(&key)?;
                let new = map.insert(field.into(), value.into()).is_none();
                self.change(key, Held::Map(map));
                Value::Int(new.into())
            }
            ["HDEL", _, field] => {
                let mut map = self.map(&key)?;
                let removed = map.remove(field).is_some();
                self.change(key, Held::Map(map));
                Value::Int(removed.into())
            }
            ["HGETALL", _] => {
                array(self.map(&key)?.iter().flat_map(|(field, value)| [field, value]))
            }
            _ => panic!("the model knows no {line:?}"),
        })
    }

    fn put(&mut self, key: String, held: Held, end: Option<i64>) -> Value {
        self.0.insert(key, (held, end));
        Value::ok()
    }

    /// The end stays; what is empty goes.
    fn change(&mut self, key: String, held: Held) {
        let end = self.0.get(&key).and_then(|(_, end)| *end);
        let empty = held == Held::List(vec![]) || held == Held::Map(BTreeMap::new());
        match empty {
            true => drop(self.0.remove(&key)),
            false => drop(self.0.insert(key, (held, end))),
        }
    }

    fn text(&self, key: &str) -> Option<Option<String>> {
        match self.0.get(key) {
            None => Some(None),
            Some((Held::Text(text), _)) => Some(Some(text.clone())),
            Some(_) => None,
        }
    }

    fn list(&self, key: &str) -> Option<Vec<String>> {
        match self.0.get(key) {
            None => Some(Vec::new()),
            Some((Held::List(list), _)) => Some(list.clone()),
            Some(_) => None,
        }
    }

    fn map(&self, key: &str) -> Option<BTreeMap<String, String>> {
        match self.0.get(key) {
            None => Some(BTreeMap::new()),
            Some((Held::Map(map), _)) => Some(map.clone()),
            Some(_) => None,
        }
    }

    fn push(&mut self, key: String, push: impl FnOnce(&mut Vec<String>)) -> Option<Value> {
        let mut list = self.list(&key)?;
        push(&mut list);
        let length = list.len() as i64;
        self.change(key, Held::List(list));
        Some(Value::Int(length))
    }

    fn pop(&mut self, key: String, pop: impl FnOnce(&mut Vec<String>) -> String) -> Option<Value> {
        let mut list = self.list(&key)?;
        if list.is_empty() {
            return Some(Value::Null);
        }
        let element = pop(&mut list);
        self.change(key, Held::List(list));
        Some(bulk(Some(&element)))
    }
}
