//! How many client processes there are: a number, or a multiple of the nodes.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};

const MOST: u32 = 100_000;

/// `30`, or `3n` for three times the number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Concurrency {
    count: u32,
    per_node: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a number of client processes from 1 to {MOST} such as `30`, \
     or a multiple of the nodes such as `3n`, found `{0}`"
)]
pub struct ConcurrencyError(String);

impl Concurrency {
    /// As many as this, whatever the number of nodes.
    pub fn fixed(count: u32) -> Result<Concurrency, ConcurrencyError> {
        if (1..=MOST).contains(&count) {
            Ok(Concurrency { count, per_node: false })
        } else {
            Err(ConcurrencyError(count.to_string()))
        }
    }

    /// The number of client threads in a cluster of this many nodes.
    pub fn threads(self, nodes: usize) -> usize {
        let count = self.count as usize;
        if self.per_node { count * nodes } else { count }
    }
}

impl FromStr for Concurrency {
    type Err = ConcurrencyError;

    fn from_str(text: &str) -> Result<Concurrency, ConcurrencyError> {
        let wrong = || ConcurrencyError(text.into());
        let (digits, per_node) = match text.strip_suffix('n') {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        // `u32::from_str` also takes a plus sign.
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        let count = digits.parse().map_err(|_| wrong())?;
        let fixed = Concurrency::fixed(count).map_err(|_| wrong())?;
        Ok(Concurrency { per_node, ..fixed })
    }
}

impl fmt::Display for Concurrency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.count, if self.per_node { "n" } else { "" })
    }
}

impl Serialize for Concurrency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Concurrency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Concurrency, D::Error> {
        deserializer.deserialize_any(ConcurrencyVisitor)
    }
}

/// YAML writes `30` as a number and `3n` as text; both are meant.
struct ConcurrencyVisitor;

impl Visitor<'_> for ConcurrencyVisitor {
    type Value = Concurrency;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number such as `30`, or a multiple of the nodes such as `3n`")
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<Concurrency, E> {
        self.visit_str(&count.to_string())
    }

    fn visit_i64<E: Error>(self, count: i64) -> Result<Concurrency, E> {
        self.visit_str(&count.to_string())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Concurrency, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_and_written() {
        for (text, nodes, threads) in [("30", 5, 30), ("3n", 5, 15), ("1n", 3, 3), ("1", 3, 1)] {
            let concurrency: Concurrency = text.parse().expect(text);
            assert_eq!(concurrency.threads(nodes), threads, "{text} on {nodes} nodes");
            assert_eq!(concurrency.to_string(), text);
            let yaml = serde_yaml::to_string(&concurrency).expect("plain data");
            assert_eq!(serde_yaml::from_str::<Concurrency>(&yaml).expect(text), concurrency);
        }
        assert_eq!(serde_yaml::from_str::<Concurrency>("30").expect("a number").threads(9), 30);
    }

    #[test]
    fn anything_else_is_named() {
        for bad in
            ["", "n", "0", "0n", "-3", "3.5", "+3", "3m", "3 n", "n3", "100001", "99999999999"]
        {
            let error = bad.parse::<Concurrency>().unwrap_err().to_string();
            assert!(error.ends_with(&format!("found `{bad}`")), "{error}");
        }
        let error = serde_yaml::from_str::<Concurrency>("[1]").unwrap_err().to_string();
        assert!(error.contains("a number such as `30`"), "{error}");
        assert!(serde_yaml::from_str::<Concurrency>("-3").is_err());
    }
}
