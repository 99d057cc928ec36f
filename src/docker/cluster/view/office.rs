//! Who of the controllers holds the leader znode: read over a session of our own with ZooKeeper, which is
//! kept for the next look.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::timeout;

use crate::client::zookeeper::WireSession;
use crate::cluster::{Coordination, CoordinationError, SessionEvent};

const SESSION: Duration = Duration::from_secs(10);

/// A server that takes longer to answer is left for the next one.
const PATIENCE: Duration = Duration::from_millis(300);

/// The leader znode as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::docker) struct Holder {
    /// Under which address the leader is reached: `10.0.0.21:9379`.
    pub address: String,
    /// Numbers the election: the transaction that made the znode.
    pub election: u64,
    /// Its session.
    pub owner: i64,
}

/// What is known of the leader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::docker) enum Office {
    Held(Holder),
    Vacant,
    /// No server of ZooKeeper answers.
    Unknown,
}

/// The eye on the leader znode.
pub(in crate::docker) struct Lookout {
    path: String,
    session: RefCell<Option<WireSession>>,
    /// The server that is asked first.
    next: Cell<usize>,
}

impl Lookout {
    pub fn new(path: String) -> Lookout {
        Lookout { path, session: RefCell::new(None), next: Cell::new(0) }
    }

    /// The id of its session, which is none of the clients'.
    pub fn session(&self) -> Option<i64> {
        self.session.borrow().as_ref().map(WireSession::id)
    }

    /// Asks the servers one after another until one answers.
    pub async fn look(&self, servers: &[SocketAddr]) -> Office {
        for _ in servers {
            // While it is in use nobody else has it; one that was given up is not put back.
            let kept = self.session.take().filter(|one| one.state() == SessionEvent::Connected);
            let server = servers[self.next.get() % servers.len()];
            match timeout(PATIENCE, self.read(kept, server)).await {
                Ok(Some(office)) => return office,
                _ => self.next.set((self.next.get() + 1) % servers.len()),
            }
        }
        Office::Unknown
    }

    async fn read(&self, kept: Option<WireSession>, server: SocketAddr) -> Option<Office> {
        let session = match kept {
            Some(session) => session,
            None => WireSession::connect(server, SESSION).await.ok()?,
        };
        let office = match session.get(&self.path).await {
            Ok((data, stat)) => {
                let election = stat.czxid as u64;
                let holder = |address| Holder { address, election, owner: stat.ephemeral_owner };
                address(&data).map_or(Office::Vacant, |address| Office::Held(holder(address)))
            }
            Err(CoordinationError::NoNode) => Office::Vacant,
            Err(_) => return None,
        };
        *self.session.borrow_mut() = Some(session);
        Some(office)
    }
}

/// `3DAu7pFe/10.0.0.21:9379`: a name for this life of the leader, and its address.
fn address(data: &[u8]) -> Option<String> {
    let (_, address) = std::str::from_utf8(data).ok()?.split_once('/')?;
    Some(address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leader_is_named_by_its_address() {
        assert_eq!(address(b"3DAu7pFe/10.0.0.22:9379").as_deref(), Some("10.0.0.22:9379"));
        assert_eq!(address(b"10.0.0.22:9379"), None);
        assert_eq!(address(b"\xff/x"), None);
    }

    #[tokio::test]
    async fn without_a_server_that_answers_nothing_is_known_and_little_time_lost() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = |listener: &std::net::TcpListener| listener.local_addr().expect("bound");
        let servers = [address(&silent), address(&closed)];
        drop(closed);
        let lookout = Lookout::new("/leader".to_owned());
        assert_eq!(lookout.look(&servers).await, Office::Unknown);
        assert_eq!(lookout.look(&[]).await, Office::Unknown);
        assert_eq!(lookout.session(), None);
    }
}
