//! Live connections closed, proven by the kernel's own lists before and after.

use std::collections::BTreeSet;

use super::judged;
use crate::cluster::{Applied, Check, Link};
use crate::docker::cluster::DockerCluster;

pub(super) async fn sever(
    cluster: &DockerCluster,
    links: &BTreeSet<Link>,
    port: Option<u16>,
) -> anyhow::Result<Applied> {
    if links.is_empty() {
        return Ok(Applied::Skipped { why: "there is no link to sever".to_owned() });
    }
    let severed = cluster.agent.sever(links.clone(), port).await?;
    if severed.connections == 0 {
        let port = port.map_or(String::new(), |port| format!(" with port {port}"));
        return Ok(Applied::Skipped { why: format!("there was no live connection{port}") });
    }
    let closed = Check {
        what: "connections closed".to_owned(),
        expected: "one or more".to_owned(),
        seen: format!("{} of {}", severed.closed, severed.connections),
        holds: severed.closed > 0,
    };
    let left = Check {
        what: "ends still there".to_owned(),
        expected: "none".to_owned(),
        seen: if severed.left.is_empty() { "none".to_owned() } else { severed.left.join(", ") },
        holds: severed.left.is_empty(),
    };
    Ok(judged(vec![closed, left], None))
}
