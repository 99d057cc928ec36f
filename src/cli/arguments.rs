//! Argument types shared by subcommands: what was typed, parsed into what it means.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::cluster::Role;
use crate::docker::Subnet;
use crate::duration::Span;

/// `NAME=VALUE`, as in `--image zookeeper=zookeeper:3.9`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub name: String,
    pub value: String,
}

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Pair, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                Ok(Pair { name: name.to_owned(), value: value.to_owned() })
            }
            _ => Err(format!("expected name=value, found `{text}`")),
        }
    }
}

/// `SERVICE=IMAGE`, as in `--image kvrocks=apache/kvrocks:2.10.1`.
pub fn image(text: &str) -> Result<Pair, String> {
    let pair: Pair = text.parse()?;
    super::image_reference::check(&pair.value).map(|()| pair)
}

pub fn map(pairs: &[Pair]) -> BTreeMap<String, String> {
    pairs.iter().map(|pair| (pair.name.clone(), pair.value.clone())).collect()
}

/// `ROLE=COUNT`, as in `--nodes zookeeper=5`.
pub fn node_count(text: &str) -> Result<(Role, usize), String> {
    let pair: Pair = text.parse()?;
    let role = role(&pair.name)?;
    let most = role.most_nodes();
    match pair.value.parse() {
        Ok(count) if (1..=most).contains(&count) => Ok((role, count)),
        _ => Err(format!("expected 1 to {most} nodes of {role}, found `{}`", pair.value)),
    }
}

/// A seed as it was printed.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// A length of time above zero.
pub fn time(text: &str) -> Result<Span, String> {
    match text.parse()? {
        Span(std::time::Duration::ZERO) => Err("expected more than 0s".to_owned()),
        span => Ok(span),
    }
}

/// Cores of a container.
pub fn cores(text: &str) -> Result<f64, String> {
    let cores = text.parse().ok().filter(|cores| (0.01..=1024.0).contains(cores));
    cores.ok_or_else(|| "expected a number of cores from 0.01 to 1024".to_owned())
}

pub fn subnet(text: &str) -> Result<Subnet, String> {
    text.parse()
}

fn role(name: &str) -> Result<Role, String> {
    Role::ALL.into_iter().find(|role| role.name() == name).ok_or_else(|| {
        let names = Role::ALL.map(Role::name).join(", ");
        format!("there is no service `{name}`; there is {names}")
    })
}

/// A number of bytes: `4096`, `512m`, `4g`.
pub fn bytes(text: &str) -> Result<usize, String> {
    let expected = || format!("expected bytes such as 512m or 4g, found `{text}`");
    let lower = text.to_ascii_lowercase();
    let (digits, shift) = match lower.strip_suffix(['k', 'm', 'g']) {
        Some(digits) if lower.ends_with('k') => (digits, 10),
        Some(digits) if lower.ends_with('m') => (digits, 20),
        Some(digits) => (digits, 30),
        None => (lower.as_str(), 0),
    };
    let count: usize = digits.parse().map_err(|_| expected())?;
    count
        .checked_shl(shift)
        .filter(|bytes| bytes >> shift == count && count > 0)
        .ok_or_else(expected)
}
