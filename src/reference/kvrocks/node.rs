//! What a node is: its place, its configuration, its data.

use std::cell::RefCell;
use std::collections::BTreeMap;

use bytes::Bytes;

use super::Config;
use crate::reference::host::Host;

pub struct Node<H> {
    pub host: H,
    pub config: RefCell<Config>,
    pub values: RefCell<BTreeMap<Bytes, Bytes>>,
}

impl<H: Host> Node<H> {
    pub fn new(host: H, config: Config) -> Node<H> {
        Node { host, config: RefCell::new(config), values: RefCell::default() }
    }
}
