//! The programs that nodes run which are no ZooKeeper servers, with the configuration that they are given.
//!
//! This is the one place that knows which they are.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use anyhow::{Context, anyhow, bail};

use super::cluster::Variants;
use super::host::SimHost;
use crate::cluster::{Node, Role, Settings, Topology, check_settings, fill_lines, fill_yaml};
use crate::reference::{controller, kvrocks};

/// A program running; it ends when its process does.
pub type Running = Pin<Box<dyn Future<Output = anyhow::Result<()>>>>;

/// What a node runs, begun anew with each process.
pub type Program = Rc<dyn Fn(SimHost) -> Running>;

/// The same that containers are given.
const KVROCKS_CONF: &str = include_str!("../../images/kvrocks/kvrocks.conf");
const CONTROLLER_YAML: &str = include_str!("../../images/controller/config.yaml");

/// What this node runs; `None` for a ZooKeeper server, which is a model of its own.
pub fn program(
    node: &Node,
    topology: &Topology,
    settings: &Settings,
    variants: &Variants,
) -> anyhow::Result<Option<Program>> {
    let about = || format!("settings of {}", node.role);
    check_settings(node.role, settings).map_err(|error| anyhow!(error)).with_context(about)?;
    match node.role {
        Role::Zookeeper => match settings.keys().next() {
            Some(key) => bail!("simulated ZooKeeper servers have no settings; found `{key}`"),
            None => Ok(None),
        },
        Role::Controller => {
            let text = controller_yaml(node, topology, settings);
            let text = text.map_err(|error| anyhow!(error)).with_context(about)?;
            let config = controller::Config::parse(variants.controller, &text);
            let config = config.with_context(about)?;
            Ok(Some(Rc::new(move |host| Box::pin(controller::serve(host, config.clone())))))
        }
        Role::Kvrocks => {
            let text = fill_lines(KVROCKS_CONF, ' ', settings);
            let text = text.map_err(|error| anyhow!(error)).with_context(about)?;
            let config = kvrocks::Config::parse(variants.kvrocks, &text).with_context(about)?;
            Ok(Some(Rc::new(move |host| Box::pin(kvrocks::serve(host, config.clone())))))
        }
    }
}

fn controller_yaml(
    node: &Node,
    topology: &Topology,
    settings: &Settings,
) -> Result<String, String> {
    let servers = topology.with_role(Role::Zookeeper);
    let servers: Vec<String> = servers.map(|node| format!("\"{}:2181\"", node.address)).collect();
    let mut settings = settings.clone();
    let (port, _) = node.role.client_port();
    settings.insert("addr".to_owned(), format!("\"{}:{port}\"", node.address));
    settings.insert("zookeeper.addrs".to_owned(), format!("[{}]", servers.join(", ")));
    fill_yaml(CONTROLLER_YAML, &settings)
}
