//! Reads the run's tables back from the kernel: what is in force, whatever was acknowledged.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use anyhow::Context;

use super::attribute::{self, Attributes, dig, find, take};
use super::netlink::Socket;
use super::nftables::{
    Family, GET_CHAIN, GET_RULE, GET_SET_ELEMENTS, GET_TABLE, TABLE_OWNED, hook_number,
};
use super::protocol::Hook;

/// (source, destination).
pub type AddressPair = (Ipv4Addr, Ipv4Addr);

/// The tables whose names begin so, and whether the kernel ties each to its owner's socket.
pub fn tables(
    socket: &mut Socket,
    family: Family,
    prefix: &str,
) -> anyhow::Result<BTreeMap<String, bool>> {
    let found = socket.dump(GET_TABLE, family as u8, &Attributes::new())?;
    let named = found.iter().filter_map(|table| {
        let name = attribute::text(find(table, 1)?);
        let flags = find(table, 2).and_then(attribute::number).unwrap_or(0);
        Some((name, flags & TABLE_OWNED != 0))
    });
    Ok(named.filter(|(name, _)| name.starts_with(prefix)).collect())
}

/// The hooks through which packets reach a table.
pub fn hooks(socket: &mut Socket, family: Family, table: &str) -> anyhow::Result<BTreeSet<Hook>> {
    let found = socket.dump(GET_CHAIN, family as u8, &Attributes::new().text(1, table))?;
    let numbers: BTreeSet<u32> = found
        .iter()
        .filter(|chain| is_in(chain, table))
        .filter_map(|chain| attribute::number(dig(chain, &[4, 1])?))
        .collect();
    Ok(Hook::ALL.into_iter().filter(|hook| numbers.contains(&hook_number(family, *hook))).collect())
}

/// The pairs in a set of a table.
pub fn address_pairs(
    socket: &mut Socket,
    family: Family,
    table: &str,
    set: &str,
) -> anyhow::Result<BTreeSet<AddressPair>> {
    let request = Attributes::new().text(1, table).text(2, set);
    let found = socket.dump(GET_SET_ELEMENTS, family as u8, &request)?;
    let lists = found.iter().filter_map(|part| find(part, 3));
    let keys = lists.flat_map(attribute::decode).filter_map(|(_, element)| dig(element, &[1, 1]));
    keys.map(|key| address_pair(key).context("nftables gave a set element of an odd size"))
        .collect()
}

/// The packets that each rule of a chain counted, in the chain's order; absent where none counts.
pub fn rule_packets(
    socket: &mut Socket,
    family: Family,
    table: &str,
    chain: &str,
) -> anyhow::Result<Vec<Option<u64>>> {
    let rules = rules(socket, family, table, chain)?;
    Ok(rules.iter().map(|rule| counted_packets(rule)).collect())
}

/// What each rule of a chain asks and does, in the chain's order.
pub fn outlines(
    socket: &mut Socket,
    family: Family,
    table: &str,
    chain: &str,
) -> anyhow::Result<Vec<Outline>> {
    let rules = rules(socket, family, table, chain)?;
    Ok(rules.iter().map(|rule| outline(find(rule, 4).unwrap_or_default())).collect())
}

/// A rule's expressions by name, each with what it compares with.
pub type Outline = Vec<(String, Vec<u8>)>;

pub fn outline(expressions: &[u8]) -> Outline {
    let expressions = attribute::decode(expressions);
    let outlined = expressions.filter_map(|(_, expression)| {
        let name = attribute::text(find(expression, 1)?);
        let compared = dig(expression, &[2, 3, 1]).filter(|_| name == "cmp").unwrap_or_default();
        Some((name, compared.to_vec()))
    });
    outlined.collect()
}

fn rules(
    socket: &mut Socket,
    family: Family,
    table: &str,
    chain: &str,
) -> anyhow::Result<Vec<Vec<u8>>> {
    let request = Attributes::new().text(1, table).text(2, chain);
    let mut found = socket.dump(GET_RULE, family as u8, &request)?;
    found.retain(|rule| {
        is_in(rule, table) && find(rule, 2).map(attribute::text).as_deref() == Some(chain)
    });
    Ok(found)
}

/// Kernels differ in which filters of a dump they honour.
fn is_in(object: &[u8], table: &str) -> bool {
    find(object, 1).map(attribute::text).as_deref() == Some(table)
}

fn counted_packets(rule: &[u8]) -> Option<u64> {
    let mut expressions = attribute::decode(find(rule, 4)?).map(|(_, expression)| expression);
    let counter = expressions
        .find(|expression| find(expression, 1).map(attribute::text).as_deref() == Some("counter"));
    attribute::long_number(dig(counter?, &[2, 2])?)
}

fn address_pair(key: &[u8]) -> Option<AddressPair> {
    let from = Ipv4Addr::from(take::<4>(key, 0)?);
    let to = Ipv4Addr::from(take::<4>(key, 4)?);
    (key.len() == 8).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rules_packets_are_its_counters() {
        let other = Attributes::new().text(1, "meta").nested(2, Attributes::new().number(2, 1));
        let data = Attributes::new().bytes(1, &900u64.to_be_bytes()).bytes(2, &12u64.to_be_bytes());
        let counter = Attributes::new().text(1, "counter").nested(2, data);
        let counting = Attributes::new().nested(1, other.clone()).nested(1, counter);
        let rule = Attributes::new().text(1, "sg_a_f1").nested(4, counting);
        assert_eq!(counted_packets(rule.as_bytes()), Some(12));
        let rule = Attributes::new().nested(4, Attributes::new().nested(1, other));
        assert_eq!(counted_packets(rule.as_bytes()), None);
    }

    #[test]
    fn a_pair_is_eight_bytes() {
        let pair = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        assert_eq!(address_pair(&[10, 0, 0, 1, 10, 0, 0, 2]), Some(pair));
        assert_eq!(address_pair(&[10, 0, 0, 1, 10, 0, 0]), None);
        assert_eq!(address_pair(&[10, 0, 0, 1, 10, 0, 0, 2, 0]), None);
    }
}
