//! Shards of a cluster and their nodes.

use super::super::document::{Cluster, SLAVE, Shard, nodes};
use super::super::failure::Failure;
use super::super::store::Key;
use super::answer::{self, one};
use super::body::Body;
use super::clusters::nodes_and_password;
use super::route::{Answered, Asked};
use crate::reference::host::Host;

const NODE_ID_LENGTH: usize = 40;

/// Everything below `…/clusters/<cluster>/shards`.
pub async fn route<H: Host>(
    asked: &Asked<'_, H>,
    method: &str,
    key: Key,
    parts: &[&str],
) -> Answered {
    let cluster = asked.shared.store.cluster(&key).await?;
    let (index, rest) = match parts {
        [] if method == "GET" => return Ok(answer::ok(one("shards", &cluster.shards))),
        [] => return create(asked, key, cluster).await,
        [index, rest @ ..] => (number(index)?, rest),
    };
    cluster.shard(index)?;
    let place = Place { asked, key, cluster, index };
    match (method, rest) {
        ("GET", []) => Ok(answer::ok(one("shard", place.shard()?))),
        ("DELETE", []) => place.remove().await,
        ("POST", ["failover"]) => place.fail_over().await,
        ("GET", ["nodes"]) => Ok(answer::ok(one("nodes", &place.shard()?.nodes))),
        ("POST", ["nodes"]) => place.add_node().await,
        ("DELETE", ["nodes", id]) => place.remove_node(id).await,
        _ => Err(Failure::not_found()),
    }
}

fn number(text: &str) -> Result<i64, Failure> {
    text.parse().map_err(|_| {
        Failure::bad_request(format!("strconv.Atoi: parsing {text:?}: invalid syntax"))
    })
}

async fn create<H: Host>(asked: &Asked<'_, H>, key: Key, mut cluster: Cluster) -> Answered {
    let (addrs, password) = match nodes_and_password(asked.body) {
        Ok(wanted) => wanted,
        Err(message) => return Ok(answer::unreadable(message)),
    };
    if addrs.is_empty() {
        return Err(Failure::bad_request("nodes should NOT be empty"));
    }
    let node = |addr: &str, role: &str| asked.shared.new_node(addr, role, &password);
    let shard = Shard { nodes: nodes(&addrs, node), ..Shard::default() };
    cluster.shards.push(shard.clone());
    asked.shared.store.update_cluster(&key, &mut cluster).await?;
    Ok(answer::created(one("shard", shard)))
}

/// One shard that there is.
struct Place<'a, 'b, H: Host> {
    asked: &'a Asked<'b, H>,
    key: Key,
    cluster: Cluster,
    index: i64,
}

impl<H: Host> Place<'_, '_, H> {
    fn shard(&self) -> Result<&Shard, Failure> {
        self.cluster.shard(self.index)
    }

    async fn update(&mut self) -> Result<(), Failure> {
        self.asked.shared.store.update_cluster(&self.key, &mut self.cluster).await
    }

    async fn remove(mut self) -> Answered {
        if self.shard()?.is_servicing() {
            return Err(Failure::bad_request("shard is servicing"));
        }
        if let Ok(index) = usize::try_from(self.index) {
            self.cluster.shards.remove(index);
        }
        self.update().await?;
        Ok(answer::no_content())
    }

    async fn fail_over(mut self) -> Answered {
        let body = Body::read("", self.asked.body);
        let preferred = body.and_then(|body| body.text("preferred_node_id"));
        let preferred = preferred.map_err(Failure::bad_request)?;
        if !preferred.is_empty() && preferred.len() != NODE_ID_LENGTH {
            return Err(Failure::bad_request(format!("invalid node id: {preferred}")));
        }
        let preferred = Some(preferred.as_str()).filter(|id| !id.is_empty());
        let shared = self.asked.shared;
        let new = shared.promote(&mut self.cluster, self.index, None, preferred).await?;
        self.update().await?;
        Ok(answer::ok(one("new_master_id", new)))
    }

    async fn add_node(mut self) -> Answered {
        let wanted = Body::read("", self.asked.body)
            .and_then(|body| Ok((body.text("addr")?, body.text("role")?, body.text("password")?)));
        let (addr, mut role, password) = wanted.map_err(Failure::bad_request)?;
        if addr.is_empty() {
            let message =
                "Key: 'Addr' Error:Field validation for 'Addr' failed on the 'required' tag";
            return Err(Failure::bad_request(message));
        }
        if role.is_empty() {
            role = SLAVE.to_owned();
        }
        let node = self.asked.shared.new_node(&addr, &role, &password);
        if role != SLAVE && !node.is_master() {
            return Err(Failure::bad_request("invalid argument: role"));
        }
        let shard = self.cluster.shard_mut(self.index)?;
        if shard.nodes.iter().any(|one| one.addr == addr) {
            return Err(Failure::already_exists());
        }
        if node.is_master() && !shard.nodes.is_empty() {
            return Err(Failure::new(409, "master node already exists"));
        }
        shard.nodes.push(node.clone());
        self.update().await?;
        Ok(answer::created(node.id))
    }

    async fn remove_node(mut self, id: &str) -> Answered {
        let shard = self.cluster.shard_mut(self.index)?;
        let Some(at) = shard.nodes.iter().position(|node| node.id == id) else {
            return Err(Failure::not_found());
        };
        if shard.nodes[at].is_master() {
            return Err(Failure::bad_request("cannot remove master node: invalid argument"));
        }
        shard.nodes.remove(at);
        self.update().await?;
        Ok(answer::no_content())
    }
}
