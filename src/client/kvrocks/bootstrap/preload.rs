//! Data that is there before the first operation: something in every shard, since an empty one never fails
//! over, and enough in the slots of the keys for a migration to take its time.

use std::future::Future;
use std::io;
use std::time::Duration;

use futures::io::{AsyncRead, AsyncWrite};

use super::{BootstrapError, Wanted};
use crate::client::kvrocks::command::{first_error, request};
use crate::client::kvrocks::connection::{Connection, Request, Trouble};
use crate::key_space::KeySpace;
use crate::op::{ClusterTopology, NodeName, ranges};

/// Length of each value of other data.
const FILLER_BYTES: usize = 1024;

/// So many keys are set by one exchange.
const BATCH: usize = 64;

/// How long one exchange may take.
const LIMIT: Duration = Duration::from_secs(10);

pub async fn preload<S, F, Dialing>(
    dial: &F,
    topology: &ClusterTopology,
    wanted: &Wanted<'_>,
) -> Result<(), BootstrapError>
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Fn(NodeName) -> Dialing,
    Dialing: Future<Output = io::Result<S>>,
{
    for (index, shard) in topology.shards.iter().enumerate() {
        let Some(node) = shard.master else { continue };
        let mut sets = Vec::new();
        if let Some((slot, _)) = ranges(&shard.slots).next() {
            sets.push(request(&["SET", &KeySpace::of_slots([slot]).part(0, "first"), "1"]));
        }
        for slot in wanted.keys.slots().filter(|slot| topology.owner(*slot) == Some(index)) {
            sets.extend(fillers(wanted, slot));
        }
        put(dial, node, &sets).await.map_err(|said| BootstrapError::Preload { node, said })?;
    }
    Ok(())
}

fn fillers<'a>(wanted: &'a Wanted<'_>, slot: u16) -> impl Iterator<Item = Request> + 'a {
    let value = "f".repeat(FILLER_BYTES);
    (0..wanted.filler_kib).filter_map(move |number| {
        Some(request(&["SET", &wanted.keys.filler(slot, number)?, &value]))
    })
}

async fn put<S, F, Dialing>(dial: &F, node: NodeName, sets: &[Request]) -> Result<(), String>
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Fn(NodeName) -> Dialing,
    Dialing: Future<Output = io::Result<S>>,
{
    let why = |trouble: Trouble| match trouble {
        Trouble::NotSent { why } | Trouble::Sent { why, .. } => why,
    };
    let mut connection = Connection::open(dial(node), LIMIT).await.map_err(why)?;
    for batch in sets.chunks(BATCH) {
        let replies = connection.ask(batch, LIMIT).await.map_err(why)?;
        if let Some(error) = first_error(&replies) {
            return Err(error.to_owned());
        }
    }
    Ok(())
}
