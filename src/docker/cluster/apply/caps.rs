//! Bandwidth caps: read back from the kernel, and measured by bursts over the capped links.

use std::collections::BTreeSet;

use super::judged;
use crate::agent::protocol::Speed;
use crate::cluster::{Applied, Check, FaultId, Link};
use crate::docker::cluster::DockerCluster;
use crate::docker::cluster::pace::Pace;

/// A machine that is busy with something else delays a burst; it never speeds one up.
const MEASURED_AT_MOST: usize = 3;

pub(super) async fn throttle(
    cluster: &DockerCluster,
    fault: FaultId,
    links: &BTreeSet<Link>,
    bytes_per_second: u64,
) -> anyhow::Result<Applied> {
    if links.is_empty() {
        return Ok(Applied::Skipped { why: "there is no link to throttle".to_owned() });
    }
    let caps = cluster.agent.throttle(fault, links.clone(), bytes_per_second).await?;
    cluster.paces.borrow_mut().insert(fault, links, bytes_per_second);
    let mut checks: Vec<Check> = Vec::new();
    for link in links {
        let wanted = cluster.paces.borrow().pace(link).cap();
        let found = caps.iter().find(|cap| cap.link == *link);
        checks.push(Check {
            what: format!("class of {link}"),
            expected: wanted.map_or("none".to_owned(), |rate| format!("{rate} B/s")),
            seen: found.map_or("none".to_owned(), |cap| {
                format!("{} B/s at {}", cap.bytes_per_second, cap.interface)
            }),
            holds: found.map(|cap| cap.bytes_per_second) == wanted,
        });
    }
    checks.extend(measure(cluster, links, bytes_per_second).await?);
    Ok(judged(checks, None))
}

pub(super) async fn unthrottle(
    cluster: &DockerCluster,
    fault: FaultId,
    links: &BTreeSet<Link>,
    bytes_per_second: u64,
) -> anyhow::Result<Applied> {
    let packets = cluster.agent.unthrottle(fault).await?;
    cluster.paces.borrow_mut().remove(fault);
    let mut checks = vec![Check {
        what: format!("classes of {fault}"),
        expected: format!("in force until now on {} links", links.len()),
        seen: if packets.is_some() { "in force" } else { "gone already" }.to_owned(),
        holds: packets.is_some(),
    }];
    checks.extend(measure(cluster, links, bytes_per_second).await?);
    Ok(judged(checks, packets))
}

/// One check a link, of its last burst; again for those whose first came too late. A link that is cut
/// carries no burst and proves nothing, so it is not measured.
async fn measure(
    cluster: &DockerCluster,
    links: &BTreeSet<Link>,
    bytes_per_second: u64,
) -> anyhow::Result<Vec<Check>> {
    let cut = |link: &&Link| cluster.cuts.borrow().is_cut(link);
    let mut left: BTreeSet<Link> = links.iter().filter(|link| !cut(link)).cloned().collect();
    let mut checks = Vec::new();
    for attempt in 1..=MEASURED_AT_MOST {
        let by_pace = cluster.paces.borrow().by_rate(&left, bytes_per_second);
        for (rate, links) in by_pace {
            let speeds = cluster.agent.measure(links, rate).await?;
            for speed in speeds {
                let pace = cluster.paces.borrow().pace(&speed.link);
                if pace.is_met(&speed, rate) || attempt == MEASURED_AT_MOST {
                    left.remove(&speed.link);
                    checks.push(check(pace, &speed, rate));
                }
            }
        }
        if left.is_empty() {
            break;
        }
    }
    Ok(checks)
}

fn check(pace: Pace, speed: &Speed, rate: u64) -> Check {
    Check {
        what: format!("speed of {}", speed.link),
        expected: pace.expected(rate),
        seen: format!(
            "{} B/s ({} of {} bytes in {:.1} ms)",
            pace.seen(speed),
            speed.bytes_arrived,
            speed.bytes_sent,
            speed.took_us as f64 / 1_000.0
        ),
        holds: pace.is_met(speed, rate),
    }
}
