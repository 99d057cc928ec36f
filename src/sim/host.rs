//! What a program sees of the simulated world: its own node, and nothing that is not over it.
//!
//! Everything happens at the world's present moment, in exact virtual nanoseconds. Clocks are the node's,
//! so that they may be wrong; readings are counted.

use std::future::Future;
use std::io;
use std::net::SocketAddrV4;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::stream::{SimListener, SimStream};
use super::world::{Handle, Home};
use super::zookeeper::{CLIENT_PORT, ModelSession};
use crate::cluster::CoordinationError;
use crate::op::Nanos;
use crate::reference::host::{Disk, Host};
use crate::rng::Rng;

/// How long a host is looked for that is not there, until its neighbours say so.
const NO_ROUTE_AFTER: Duration = Duration::from_secs(3);

/// The place of one process of one node.
#[derive(Clone)]
pub struct SimHost {
    world: Handle,
    home: Home,
}

impl SimHost {
    pub(super) fn new(world: Handle, home: Home) -> SimHost {
        SimHost { world, home }
    }
}

impl Host for SimHost {
    type Stream = SimStream;
    type Listener = SimListener;
    type Session = ModelSession;

    async fn listen(&self, port: u16) -> io::Result<SimListener> {
        SimListener::open(&self.world, self.home, port)
    }

    fn connect(&self, to: SocketAddrV4) -> impl Future<Output = io::Result<SimStream>> + 'static {
        let host = self.clone();
        async move {
            let Some(node) = host.world.with(|world| world.node_at(*to.ip())) else {
                host.sleep(NO_ROUTE_AFTER).await;
                return Err(io::ErrorKind::HostUnreachable.into());
            };
            let from = host.home.node;
            let socket = host.world.with(|world| world.open_socket(from, (node, to.port())));
            SimStream::new(&host.world, socket).opened().await
        }
    }

    fn coordinate(
        &self,
        server: SocketAddrV4,
        session_timeout: Duration,
    ) -> impl Future<Output = Result<ModelSession, CoordinationError>> + 'static {
        let host = self.clone();
        async move {
            let found = host.world.with(|world| {
                let node = world.node_at(*server.ip());
                node.filter(|node| world.is_server(*node) && server.port() == CLIENT_PORT)
            });
            let Some(node) = found else {
                host.sleep(NO_ROUTE_AFTER).await;
                let why = format!("no ZooKeeper server is reached at {server}");
                return Err(CoordinationError::NotConnected(why));
            };
            ModelSession::open(&host.world, Some(host.home), node, session_timeout).await
        }
    }

    fn run(&self, task: impl Future<Output = ()> + 'static) {
        self.world.run_task(self.home, Box::pin(task));
    }

    fn wall_ms(&self) -> i64 {
        self.world.with(|world| world.read_wall_ms(self.home.node))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_nanos(self.world.with(|world| world.read_monotonic(self.home.node)))
    }

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + 'static {
        let time = Nanos::try_from(time.as_nanos()).unwrap_or(Nanos::MAX);
        let number = self.world.with(|world| world.fall_asleep(self.home, time));
        Sleep { world: self.world.clone(), number }
    }

    fn disk(&self) -> Rc<dyn Disk> {
        self.world.with(|world| world.disk(self.home.node))
    }

    fn log(&self, line: &str) {
        self.world.with(|world| world.log(self.home.node, line));
    }

    fn chance(&self, purpose: &str) -> Rng {
        self.world.with(|world| world.chance(self.home.node, purpose))
    }
}

/// Ends after some time of its node's clock.
struct Sleep {
    world: Handle,
    number: u64,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.world.with(|world| world.poll_sleep(self.number, context))
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.world.with(|world| world.forget_sleep(self.number));
    }
}
