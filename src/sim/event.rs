//! What stands in the agenda of a world.

use super::network::NetworkEvent;
use super::zookeeper::{ClientTimer, Timer};

#[derive(Clone, Copy, Debug)]
pub enum Event {
    Network(NetworkEvent),
    /// A timer of a ZooKeeper server.
    Server {
        node: u8,
        pid: u32,
        timer: Timer,
    },
    /// A timer of a ZooKeeper client, wherever it is.
    Client {
        client: u32,
        timer: ClientTimer,
    },
    /// A program has been loaded and begins.
    Boot {
        node: u8,
        pid: u32,
    },
    /// A sleep of a program is over.
    Sleep {
        node: u8,
        pid: u32,
        sleep: u64,
    },
}

impl From<NetworkEvent> for Event {
    fn from(event: NetworkEvent) -> Event {
        Event::Network(event)
    }
}
