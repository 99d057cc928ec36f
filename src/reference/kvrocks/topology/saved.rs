//! `nodes.conf`: a node's id and topology as it keeps them for its next start.

use super::{BadTopology, ID_LENGTH, Topology};

/// What a node keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    pub id: Option<String>,
    pub topology: Topology,
}

/// Why a file is no `nodes.conf`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSaved {
    #[error("line {line}: expected `version N`, `id X` or `node ...`, found `{found}`")]
    Line { line: usize, found: String },
    #[error("expected a line `version N`")]
    NoVersion,
    #[error(transparent)]
    Topology(#[from] BadTopology),
}

impl Saved {
    pub fn read(text: &str) -> Result<Saved, BadSaved> {
        let (mut version, mut id, mut nodes) = (None, None, String::new());
        for (index, line) in text.lines().enumerate() {
            let wrong = || BadSaved::Line { line: index + 1, found: line.to_owned() };
            match line.split_once(' ') {
                Some(("version", number)) => {
                    version = Some(number.parse().map_err(|_| wrong())?);
                }
                Some(("id", text)) if text.len() == ID_LENGTH => id = Some(text.to_owned()),
                Some(("node", node)) => {
                    nodes.push_str(node);
                    nodes.push('\n');
                }
                _ if line.is_empty() => {}
                _ => return Err(wrong()),
            }
        }
        let topology = Topology::read(&nodes, version.ok_or(BadSaved::NoVersion)?)?;
        Ok(Saved { id, topology })
    }

    pub fn write(&self) -> String {
        let mut text = format!("version {}\n", self.topology.version);
        if let Some(id) = &self.id {
            text.push_str(&format!("id {id}\n"));
        }
        for member in self.topology.members() {
            let (role, master) = match &member.master {
                None => ("master", "-"),
                Some(master) => ("slave", master.as_str()),
            };
            let (id, host, port) = (&member.id, &member.host, member.port);
            text.push_str(&format!("node {id} {host} {port} {role} {master}"));
            self.topology.slots_of(id).for_each(|slots| text.push_str(&format!(" {slots}")));
            text.push('\n');
        }
        text
    }
}
