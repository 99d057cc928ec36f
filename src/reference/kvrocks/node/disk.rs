//! The small files of a node beside its log.

use anyhow::{Context, anyhow, bail};

use super::Node;
use crate::reference::NodeVariant;
use crate::reference::host::{Disk, Host};
use crate::reference::kvrocks::Config;
use crate::reference::kvrocks::cluster::Frozen;
use crate::reference::kvrocks::topology::Saved;

/// The topology, as the real one keeps it.
pub const NODES: &str = "nodes.conf";
/// Which master's records the log holds.
pub const HISTORY: &str = "history.conf";
/// Slots that wait for a topology.
pub const FROZEN: &str = "frozen.conf";

/// All of a file that is text.
pub fn text(disk: &dyn Disk, file: &str) -> anyhow::Result<Option<String>> {
    let Some(bytes) = disk.read(file)? else { return Ok(None) };
    Ok(Some(String::from_utf8(bytes).context("expected text")?))
}

pub fn topology(disk: &dyn Disk, config: &Config) -> anyhow::Result<Option<Saved>> {
    match text(disk, NODES)? {
        Some(text) if config.keeps_topology && !text.is_empty() => Ok(Some(Saved::read(&text)?)),
        _ => Ok(None),
    }
}

pub fn frozen(disk: &dyn Disk, config: &Config) -> anyhow::Result<Option<Frozen>> {
    if config.variant != NodeVariant::FreezeUntilTopology {
        return Ok(None);
    }
    let text = text(disk, FROZEN)?.unwrap_or_default();
    Frozen::read(&text).map_err(|found| anyhow!("expected `slots id`, found `{found}`"))
}

impl<H: Host> Node<H> {
    /// Keeps the topology for the next start.
    pub fn keep_topology(&self) -> anyhow::Result<()> {
        if !self.config(|config| config.keeps_topology) {
            return Ok(());
        }
        let text = self.cluster.borrow().saved().map_or_else(String::new, |saved| saved.write());
        self.put(NODES, &text)
    }

    /// Keeps the freeze for the next start.
    pub fn keep_frozen(&self) -> anyhow::Result<()> {
        if self.variant() != NodeVariant::FreezeUntilTopology {
            return Ok(());
        }
        let text = Frozen::write(self.cluster.borrow().frozen());
        self.put(FROZEN, &text)
    }

    pub fn put(&self, file: &str, text: &str) -> anyhow::Result<()> {
        if let Err(error) = self.host.disk().replace(file, text.as_bytes()) {
            bail!("cannot write {file}: {error}");
        }
        Ok(())
    }
}
