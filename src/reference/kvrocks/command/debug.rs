//! `DEBUG SLEEP`: nobody is served meanwhile.

use std::time::Duration;

use bytes::Bytes;

use super::{lower, number};
use crate::reference::host::Host;
use crate::reference::kvrocks::dispatch::Reaction;
use crate::reference::kvrocks::node::Node;
use crate::resp::Value;

/// Longer than anybody waits.
const LONGEST: f64 = 3600.0;

pub fn debug<H: Host>(node: &Node<H>, words: &[Bytes]) -> Reaction {
    match (lower(&words[1]).as_str(), &words[2..]) {
        ("sleep", [seconds]) => {
            let seconds =
                number::<f64>(seconds).filter(|seconds| (0.0..=LONGEST).contains(seconds));
            let Some(seconds) = seconds else {
                return Reaction::error("ERR invalid debug sleep time");
            };
            let (shut, sleep) =
                (node.gate.shut(), node.host.sleep(Duration::from_secs_f64(seconds)));
            Reaction::Later(Box::pin(async move {
                sleep.await;
                drop(shut);
                Value::ok()
            }))
        }
        _ => Reaction::error("ERR Unknown subcommand, should be DEBUG SLEEP"),
    }
}
