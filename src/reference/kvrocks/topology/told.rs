//! A topology in the words of `CLUSTER INFO`, `NODES`, `SLOTS` and `REPLICAS`.

use super::{Member, Topology};
use crate::resp::Value;

impl Topology {
    /// `CLUSTER INFO`, without what it adds about migrations.
    pub fn told_info(&self) -> String {
        let (assigned, version) = (self.assigned(), self.version);
        [
            ("cluster_state", "ok".to_owned()),
            ("cluster_slots_assigned", assigned.to_string()),
            ("cluster_slots_ok", assigned.to_string()),
            ("cluster_slots_pfail", "0".to_owned()),
            ("cluster_slots_fail", "0".to_owned()),
            ("cluster_known_nodes", self.members.len().to_string()),
            ("cluster_size", self.size().to_string()),
            ("cluster_current_epoch", version.to_string()),
            ("cluster_my_epoch", version.to_string()),
        ]
        .iter()
        .map(|(key, value)| format!("{key}:{value}\r\n"))
        .collect()
    }

    /// `CLUSTER NODES`; `moving` stands behind this node's own slots while a migration runs.
    pub fn told_nodes(&self, myself: &str, moving: &str, now_ms: i64) -> String {
        // The real one's order, as long as nodes are few: the reverse of what it was told.
        let lines = self.members.iter().rev();
        lines.map(|member| self.told_member(member, myself, moving, now_ms)).collect()
    }

    /// `CLUSTER REPLICAS` of a master.
    pub fn told_replicas(&self, of: &str, myself: &str, now_ms: i64) -> String {
        self.replicas(of).map(|member| self.told_member(member, myself, "", now_ms)).collect()
    }

    fn told_member(&self, member: &Member, myself: &str, moving: &str, now_ms: i64) -> String {
        let is_myself = member.id == myself;
        let role = match &member.master {
            None => "master -".to_owned(),
            Some(master) => format!("slave {master}"),
        };
        let mut line = format!(
            "{} {}@{} {}{role} {} {now_ms} {} connected",
            member.id,
            member.address(),
            u32::from(member.port) + 10_000,
            if is_myself { "myself," } else { "" },
            now_ms - 1,
            self.version,
        );
        self.slots_of(&member.id).for_each(|slots| line.push_str(&format!(" {slots}")));
        if is_myself {
            line.push_str(moving);
        }
        line.push('\n');
        line
    }

    /// `CLUSTER SLOTS`.
    pub fn told_slots(&self) -> Value {
        let run = |(slots, owner): (super::SlotRange, &Member)| {
            let mut parts = vec![Value::Int(slots.first().into()), Value::Int(slots.last().into())];
            parts.push(told_place(owner));
            parts.extend(self.replicas(&owner.id).map(told_place));
            Value::Array(parts)
        };
        Value::Array(self.runs().into_iter().map(run).collect())
    }
}

fn told_place(member: &Member) -> Value {
    Value::Array(vec![
        Value::bulk(member.host.clone()),
        Value::Int(member.port.into()),
        Value::bulk(member.id.clone()),
    ])
}
