//! The few nf_tables changes and expressions that our tables are made of, in the families that we use.
//!
//! It says what to change and sends nothing. Every number here is the kernel's
//! (`linux/netfilter/nf_tables.h`).

use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

use super::attribute::Attributes;
use super::frame::{APPEND, CREATE, Change};
use super::protocol::Hook;

/// Whose packets a table sees. A table's name is unique within its family and namespace only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4 of one namespace.
    Ip = 2,
    /// What the bridges of one namespace pass on.
    Bridge = 7,
}

pub const GET_TABLE: u16 = 1;
pub const GET_CHAIN: u16 = 4;
pub const GET_RULE: u16 = 7;
pub const GET_SET_ELEMENTS: u16 = 13;

const NEW_TABLE: u16 = 0;
const DELETE_TABLE: u16 = 2;
const NEW_CHAIN: u16 = 3;
const NEW_RULE: u16 = 6;
const NEW_SET: u16 = 9;
const NEW_SET_ELEMENTS: u16 = 12;

/// The kernel removes such a table when the socket that made it closes.
pub const TABLE_OWNED: u32 = 2;

/// Before the bridge family's own filter chains, before iptables sees bridged packets, and before what a
/// namespace redirects.
const FIRST_PRIORITY: i32 = -300;
const POLICY_ACCEPT: u32 = 1;
const TYPE_IPV4_ADDRESS: u32 = 7;
/// Two fields in one key; `nft list` aborts on any other type number.
const TYPE_ADDRESS_PAIR: u32 = TYPE_IPV4_ADDRESS << 6 | TYPE_IPV4_ADDRESS;
pub const ADDRESS_PAIR_LENGTH: usize = 8;
/// One attribute holds at most 64 KiB.
const ELEMENTS_PER_CHANGE: usize = 1000;

const META_PROTOCOL: u32 = 1;
const META_MARK: u32 = 3;
const META_TRANSPORT: u32 = 16;
const PAYLOAD_NETWORK: u32 = 1;
const PAYLOAD_TRANSPORT: u32 = 2;
/// Where a TCP or UDP header has its ports, and TCP its flags.
pub const FROM_PORT: u32 = 0;
pub const TO_PORT: u32 = 2;
const TCP_FLAGS: u32 = 13;
const TCP_RESET_FLAG: u8 = 0x04;
const REJECT_BY_RESET: u32 = 1;
const VERDICT_DROP: i32 = 0;
const VERDICT_JUMP: i32 = -3;
/// The first 16-byte register, and the first two 4-byte ones (the same memory).
const REGISTER: u32 = 1;
const REGISTER_FROM: u32 = 8;
const REGISTER_TO: u32 = 9;
const VERDICT_REGISTER: u32 = 0;

/// How a compared value must stand to the given one.
#[derive(Clone, Copy)]
pub enum Comparison {
    Equal = 0,
    Unequal = 1,
    AtMost = 3,
    AtLeast = 5,
}

/// Where a packet is looked at. The numbers are the same in all our families.
pub const PREROUTING: u32 = 0;
pub const INPUT: u32 = 1;
pub const FORWARD: u32 = 2;
pub const OUTPUT: u32 = 3;

/// What comes in is looked at by a bridge on its way to the host, and by a namespace before anything
/// redirects it.
pub fn hook_number(family: Family, hook: Hook) -> u32 {
    match (family, hook) {
        (Family::Bridge, Hook::Input) => INPUT,
        (_, Hook::Input) => PREROUTING,
        (_, Hook::Forward) => FORWARD,
        (_, Hook::Output) => OUTPUT,
    }
}

/// What a base chain may do with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainKind {
    Filter,
    /// It sees the first packet of each connection and decides for the whole connection.
    Nat,
}

impl ChainKind {
    fn name(self) -> &'static str {
        match self {
            ChainKind::Filter => "filter",
            ChainKind::Nat => "nat",
        }
    }
}

/// A chain through which the kernel sends what passes a hook; it lets pass what no rule takes.
#[derive(Clone, Copy, Debug)]
pub struct BaseChain<'a> {
    pub name: &'a str,
    pub kind: ChainKind,
    /// One of `PREROUTING`, `INPUT`, `FORWARD`, `OUTPUT`.
    pub hook: u32,
    /// Lower ones see the packet first.
    pub priority: i32,
}

impl BaseChain<'static> {
    /// The chain of a hook that lets no other see the packet before it, by the hook's name.
    pub fn first_at(family: Family, hook: Hook) -> BaseChain<'static> {
        BaseChain {
            name: hook.name(),
            kind: ChainKind::Filter,
            hook: hook_number(family, hook),
            priority: FIRST_PRIORITY,
        }
    }
}

/// Changes to one table, in order; one transaction.
pub struct TableChanges<'a> {
    family: Family,
    table: &'a str,
    changes: Vec<Change>,
}

impl<'a> TableChanges<'a> {
    pub fn new(family: Family, table: &'a str) -> TableChanges<'a> {
        TableChanges { family, table, changes: Vec::new() }
    }

    pub fn finish(self) -> Vec<Change> {
        self.changes
    }

    fn push(mut self, kind: u16, flags: u16, attributes: Attributes, what: &str) -> Self {
        let purpose = format!("{what} nftables table {}", self.table);
        let family = self.family as u8;
        self.changes.push(Change { kind, flags, family, attributes, purpose });
        self
    }

    fn named(&self) -> Attributes {
        Attributes::new().text(1, self.table)
    }

    /// Makes the table where it is missing.
    pub fn add_table(self, flags: u32) -> Self {
        let attributes = self.named().number(2, flags);
        self.push(NEW_TABLE, CREATE, attributes, "add")
    }

    pub fn delete_table(self) -> Self {
        let attributes = self.named();
        self.push(DELETE_TABLE, 0, attributes, "delete")
    }

    /// A chain that is only jumped to.
    pub fn add_chain(self, chain: &str) -> Self {
        let attributes = self.named().text(3, chain);
        self.push(NEW_CHAIN, CREATE, attributes, "add a chain to")
    }

    pub fn add_base_chain(self, chain: BaseChain<'_>) -> Self {
        let place = Attributes::new().number(1, chain.hook).number(2, chain.priority as u32);
        let attributes = self
            .named()
            .text(3, chain.name)
            .nested(4, place)
            .number(5, POLICY_ACCEPT)
            .text(7, chain.kind.name());
        self.push(NEW_CHAIN, CREATE, attributes, "add a hook to")
    }

    pub fn add_rule(self, chain: &str, expressions: Expressions) -> Self {
        let attributes = self.named().text(2, chain).nested(4, expressions.list);
        self.push(NEW_RULE, CREATE | APPEND, attributes, "add a rule to")
    }

    /// A set of (source, destination) pairs.
    pub fn add_address_pair_set(self, set: &str, pairs: &[[u8; ADDRESS_PAIR_LENGTH]]) -> Self {
        let set_id = 1;
        let attributes = self
            .named()
            .text(2, set)
            .number(3, 0)
            .number(4, TYPE_ADDRESS_PAIR)
            .number(5, ADDRESS_PAIR_LENGTH as u32)
            .number(10, set_id);
        let with_set = self.push(NEW_SET, CREATE, attributes, "add a set to");
        pairs.chunks(ELEMENTS_PER_CHANGE).fold(with_set, |changes, pairs| {
            let elements = pairs.iter().fold(Attributes::new(), |elements, pair| {
                let key = Attributes::new().bytes(1, pair);
                elements.nested(1, Attributes::new().nested(1, key))
            });
            let attributes = changes.named().text(2, set).number(4, set_id).nested(3, elements);
            changes.push(NEW_SET_ELEMENTS, CREATE, attributes, "fill a set of")
        })
    }
}

/// What a rule asks of a packet, and what it does with it, from left to right.
#[derive(Clone, Debug, Default)]
pub struct Expressions {
    list: Attributes,
}

impl Expressions {
    /// The encoded list, as it stands in a rule.
    pub fn as_bytes(&self) -> &[u8] {
        self.list.as_bytes()
    }

    pub fn new() -> Expressions {
        Expressions::default()
    }

    fn push(self, name: &str, data: Attributes) -> Expressions {
        let expression = Attributes::new().text(1, name).nested(2, data);
        Expressions { list: self.list.nested(1, expression) }
    }

    fn load_meta(self, key: u32) -> Expressions {
        self.push("meta", Attributes::new().number(2, key).number(1, REGISTER))
    }

    fn load_payload(self, base: u32, offset: u32, length: u32, register: u32) -> Expressions {
        let data = Attributes::new()
            .number(1, register)
            .number(2, base)
            .number(3, offset)
            .number(4, length);
        self.push("payload", data)
    }

    fn compare(self, comparison: Comparison, value: &[u8]) -> Expressions {
        let value = Attributes::new().bytes(1, value);
        let data =
            Attributes::new().number(1, REGISTER).number(2, comparison as u32).nested(3, value);
        self.push("cmp", data)
    }

    /// Only IPv4 (on a bridge anything may come by).
    pub fn ethertype_ipv4(self) -> Expressions {
        self.load_meta(META_PROTOCOL).compare(Comparison::Equal, &0x0800u16.to_be_bytes())
    }

    pub fn source_and_destination_in(self, set: &str) -> Expressions {
        let data = Attributes::new().text(1, set).number(2, REGISTER_FROM).number(4, 1);
        self.load_payload(PAYLOAD_NETWORK, 12, 4, REGISTER_FROM)
            .load_payload(PAYLOAD_NETWORK, 16, 4, REGISTER_TO)
            .push("lookup", data)
    }

    pub fn udp_to_ports(self, ports: RangeInclusive<u16>) -> Expressions {
        self.transport(Comparison::Equal, libc::IPPROTO_UDP).port_at(TO_PORT, ports)
    }

    /// Either end's port of TCP is one of these: `FROM_PORT` or `TO_PORT`.
    pub fn tcp_ports_at(self, offset: u32, ports: RangeInclusive<u16>) -> Expressions {
        self.transport(Comparison::Equal, libc::IPPROTO_TCP).port_at(offset, ports)
    }

    fn port_at(self, offset: u32, ports: RangeInclusive<u16>) -> Expressions {
        self.load_payload(PAYLOAD_TRANSPORT, offset, 2, REGISTER)
            .compare(Comparison::AtLeast, &ports.start().to_be_bytes())
            .compare(Comparison::AtMost, &ports.end().to_be_bytes())
    }

    fn transport(self, comparison: Comparison, protocol: i32) -> Expressions {
        self.load_meta(META_TRANSPORT).compare(comparison, &[protocol as u8])
    }

    pub fn not_tcp(self) -> Expressions {
        self.transport(Comparison::Unequal, libc::IPPROTO_TCP)
    }

    /// TCP that resets nothing: what answers a refusal must not be refused again.
    pub fn tcp_without_reset(self) -> Expressions {
        let value = |byte: u8| Attributes::new().bytes(1, &[byte]);
        let masked = Attributes::new()
            .number(1, REGISTER)
            .number(2, REGISTER)
            .number(3, 1)
            .nested(4, value(TCP_RESET_FLAG))
            .nested(5, value(0));
        self.transport(Comparison::Equal, libc::IPPROTO_TCP)
            .load_payload(PAYLOAD_TRANSPORT, TCP_FLAGS, 1, REGISTER)
            .push("bitwise", masked)
            .compare(Comparison::Equal, &[0])
    }

    pub fn tcp_to_port(self, port: u16) -> Expressions {
        self.load_meta(META_TRANSPORT)
            .compare(Comparison::Equal, &[libc::IPPROTO_TCP as u8])
            .load_payload(PAYLOAD_TRANSPORT, 2, 2, REGISTER)
            .compare(Comparison::Equal, &port.to_be_bytes())
    }

    pub fn with_source(self, address: Ipv4Addr) -> Expressions {
        self.load_payload(PAYLOAD_NETWORK, 12, 4, REGISTER)
            .compare(Comparison::Equal, &address.octets())
    }

    pub fn with_destination(self, address: Ipv4Addr) -> Expressions {
        self.load_payload(PAYLOAD_NETWORK, 16, 4, REGISTER)
            .compare(Comparison::Equal, &address.octets())
    }

    /// Only what sockets without this mark send.
    pub fn not_marked(self, mark: u32) -> Expressions {
        self.load_meta(META_MARK).compare(Comparison::Unequal, &mark.to_ne_bytes())
    }

    /// Sends the connection to this port of the namespace itself. In chains of kind `Nat` only.
    pub fn redirect(self, port: u16) -> Expressions {
        let value = Attributes::new().bytes(1, &port.to_be_bytes());
        let data = Attributes::new().number(1, REGISTER).nested(2, value);
        self.push("immediate", data).push("redir", Attributes::new().number(1, REGISTER))
    }

    pub fn count(self) -> Expressions {
        self.push("counter", Attributes::new())
    }

    /// Drops it and answers with RST. Not in the bridge family, where many kernels lack it.
    pub fn reset(self) -> Expressions {
        self.push("reject", Attributes::new().number(1, REJECT_BY_RESET))
    }

    pub fn drop(self) -> Expressions {
        self.verdict(Attributes::new().number(1, VERDICT_DROP as u32))
    }

    pub fn jump(self, chain: &str) -> Expressions {
        self.verdict(Attributes::new().number(1, VERDICT_JUMP as u32).text(2, chain))
    }

    fn verdict(self, verdict: Attributes) -> Expressions {
        let value = Attributes::new().nested(2, verdict);
        let data = Attributes::new().number(1, VERDICT_REGISTER).nested(2, value);
        self.push("immediate", data)
    }
}
